"""Exceptions that kdoctor raises on purpose.

KdoctorError
├── UsageProblem        a path, option, rule or target that does not exist (exit code 2)
└── FileProblem         one file cannot be handled; the others go on
    └── SyntaxProblem   its Python cannot be parsed
"""

from __future__ import annotations

INTERNAL_ERROR = "internal error"  # how a crash that was caught is told of


class KdoctorError(Exception):
    """Base of all errors for users: shown as one clear sentence, never a traceback."""


class UsageProblem(KdoctorError):
    """The call cannot be done as asked: unknown path, option, rule or target."""


class FileProblem(KdoctorError):
    """One file cannot be handled; ``str()`` says where and why."""


class SyntaxProblem(FileProblem):
    """A unit's text is not Python that libcst can parse. Line and column start at 1."""

    def __init__(self, why: str, line: int, column: int) -> None:
        super().__init__(f"{why} (line {line}, column {column})")
        self.why = why
        self.line = line
        self.column = column
