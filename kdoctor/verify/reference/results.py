"""What a check of the reference gave. Imports no framework: both processes know these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """The largest error that a check saw, and what is allowed."""

    error: float
    tolerance: float


@dataclass(frozen=True, slots=True)
class Result:
    """One check on one backend and device.

    ``error`` is None where the check could not be measured: ``why`` then says what it raised, or,
    with ``applies`` False, why there is nothing to check here.
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
        """Whether the error is within its tolerance; NaN is not."""
        if not self.applies:
            return True
        return (
            self.error is not None and self.tolerance is not None and self.error <= self.tolerance
        )
