"""Why a rewrite is not made: raised inside this package, a ``NoFix`` outside it."""

from __future__ import annotations

from kdoctor.model import NoFix

ONLY_IN_DEAD_CODE = NoFix("only code that the target never reaches uses it: import it there")
"""Why an import stays that the target alone could do without."""


class Refused(Exception):
    """Raised in this package when a rewrite is impossible; becomes a ``NoFix``.

    ``distance`` says how far the row was from holding: the nearest of several gives the reason.
    """

    def __init__(self, reason: str, distance: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.distance = distance
