"""Results of the reference's checks, shared by both processes; imports no framework."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """The largest error in a check, and the tolerance."""

    error: float
    tolerance: float


@dataclass(frozen=True, slots=True)
class Result:
    """One check on one backend and device.

    ``error`` is None if nothing was measured: ``why`` is then the error that the check raised or,
    if ``applies`` is False, the reason why there is nothing to check.
    """

    module: str
    subject: str
    check: str
    backend: str
    device: str
    error: float | None = None
    tolerance: float | None = None
    why: str = ""
    applies: bool = True

    @property
    def holds(self) -> bool:
        """Whether the error is within the tolerance; NaN is not."""
        if not self.applies:
            return True
        return (
            self.error is not None and self.tolerance is not None and self.error <= self.tolerance
        )
