"""Refusals: why a rewrite is not made, as a sentence for people."""

from __future__ import annotations

from msgspec import Struct


class Refusal(Struct, frozen=True):
    """There is no fix, and why. ``reason`` is one sentence without a final stop."""

    reason: str


ONLY_IN_DEAD_CODE = Refusal("only code that the target never reaches uses it: import it there")
"""Why an import stays that the target alone could do without."""


class Refused(Exception):
    """Raised in this package when a rewrite is impossible; becomes a ``Refusal``.

    ``distance`` says how far the row was from holding: the nearest of several gives the reason.
    """

    def __init__(self, reason: str, distance: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.distance = distance
