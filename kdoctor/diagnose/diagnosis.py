"""Diagnosis: the result of ``explain``, as plain data."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from kdoctor.diagnose.frames import TracebackFrame
from kdoctor.diagnose.tracebacks import Raised
from kdoctor.target import Target


class Fault(enum.StrEnum):
    """Whose fault an error is."""

    YOUR_CODE = "your code"
    PACKAGE = "a package"  # an installed package other than Keras, ``Diagnosis.package``
    INSTALLATION = "the installation"
    NOT_KERAS = "not a Keras problem"
    UNKNOWN = "unknown"


class StepKind(enum.StrEnum):
    """The kind of one step of a remedy."""

    DIFF = "diff"  # a unified diff
    COMMAND = "command"  # for the shell
    ENVIRONMENT = "environment"  # ``NAME=value``
    CODE = "code"  # what to write in the place of what stands there
    ADVICE = "advice"  # a sentence


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a remedy. ``note`` says where it must stand or when it is right."""

    kind: StepKind
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The meaning of an error, whose fault it is, the evidence, and the remedy.

    ``error`` is the exception that is explained, None where the text has none. ``place`` is the
    frame whose line is to be changed or that met the error. ``only_if`` is a condition that the
    text could not show: where it is not "", the answer holds only under it. ``rule`` is the code of
    the rule to read. ``ruled_out`` says what it is not. ``source`` is where the knowledge is from.
    """

    fault: Fault
    meaning: str
    error: Raised | None = None
    place: TracebackFrame | None = None
    evidence: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    rule: str = ""
    only_if: str = ""
    ruled_out: tuple[str, ...] = ()
    source: str = ""
    package: str = ""
    target: Target | None = None

    @property
    def is_known(self) -> bool:
        """Whether the cause is known; "not a Keras problem" is an answer as well."""
        return self.fault is not Fault.UNKNOWN

    @property
    def concerns_keras(self) -> bool:
        """Whether it is about Keras or its installation, and its cause is known."""
        return self.fault not in {Fault.NOT_KERAS, Fault.UNKNOWN}
