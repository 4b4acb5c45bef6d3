"""A check of the reference: a name and a function that measures it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kdoctor.verify.reference.results import Measured


@dataclass(frozen=True)
class Check:
    """One line of the table: the module, what is checked, and against what."""

    module: str
    subject: str
    check: str
    measure: Callable[[], Measured]


class NotHere(Exception):
    """The check does not apply to this backend; the text says why."""
