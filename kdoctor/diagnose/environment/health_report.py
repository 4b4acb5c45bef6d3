"""Health report of an environment: plain data."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from kdoctor.interpreters import Interpreter


class CheckState(enum.StrEnum):
    """The state of one part of the environment."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Remedy:
    """A remedy. ``command`` can be pasted into a shell; ``note`` is for people.

    Where no command can do it, ``command`` is "".
    """

    command: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its subject, its state, and the remedy.

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
    """Return a check that found a possible problem."""
    return Check(subject, CheckState.WARNING, message, remedy, evidence)


def broken(subject: str, message: str, remedy: Remedy | None = None, evidence: str = "") -> Check:
    """Return a check that found a problem."""
    return Check(subject, CheckState.BROKEN, message, remedy, evidence)
