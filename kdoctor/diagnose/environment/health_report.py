"""Health report of an environment: plain data."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from kdoctor.interpreters import Interpreter


class CheckState(enum.StrEnum):
    """How a part of the environment is."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What cures it. ``command`` is for the shell and works as it stands; ``note`` is for people.

    Where no command can do it, ``command`` is "".
    """

    command: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what it is about, how it is, and what cures it.

    ``subject`` is a package, a variable or a file. ``evidence`` is where that can be seen.
    """

    subject: str
    state: CheckState
    message: str
    remedy: Remedy | None = None
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class HealthReport:
    """All checks of one environment. ``deep``: it was also imported."""

    interpreter: Interpreter
    checks: tuple[Check, ...]
    deep: bool = False

    @property
    def healthy(self) -> bool:
        """Whether nothing is broken; a warning leaves an environment healthy."""
        return all(check.state is not CheckState.BROKEN for check in self.checks)


def ok(subject: str, message: str, evidence: str = "") -> Check:
    """Return a check that found nothing wrong."""
    return Check(subject, CheckState.OK, message, None, evidence)


def warning(subject: str, message: str, remedy: Remedy | None = None, evidence: str = "") -> Check:
    """Return a check that found what may do harm."""
    return Check(subject, CheckState.WARNING, message, remedy, evidence)


def broken(subject: str, message: str, remedy: Remedy | None = None, evidence: str = "") -> Check:
    """Return a check that found what does not work."""
    return Check(subject, CheckState.BROKEN, message, remedy, evidence)
