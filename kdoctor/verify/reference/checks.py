"""A check: a name, and what measures it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kdoctor.verify.reference.results import Measured


@dataclass(frozen=True)
class Check:
    """One line of the table: what of which module is checked, and against what."""

    module: str
    subject: str
    check: str
    measure: Callable[[], Measured]


class NotHere(Exception):
    """There is nothing to check on this backend; the text says why."""
