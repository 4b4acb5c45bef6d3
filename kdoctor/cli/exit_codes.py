"""Exit codes, and the one sentence for an error that ends a command; never a traceback."""

from __future__ import annotations

import errno
import os
import sys

from kdoctor.errors import INTERNAL_ERROR, KdoctorError

INTERRUPTED = 130
_BROKEN_PIPE = 141  # as the shell says of a program that ended so


def report_error(error: BaseException) -> int | None:
    """Print why a command failed; return the exit code, None to re-raise the error."""
    match error:
        case KdoctorError():
            return _ended(f"kdoctor: {error}", 2)
        case KeyboardInterrupt():
            return interrupted(str(error))
        case BrokenPipeError():
            _forget_output()
            return _BROKEN_PIPE
        case OSError(errno=errno.ENOSPC):
            _forget_output()
            return _ended(f"kdoctor: {error.strerror}", 2)
        case PermissionError():
            return _ended(f"kdoctor: {error.filename}: {error.strerror}", 2)
        case FileNotFoundError(filename=None):  # of os.getcwd()
            return _ended("kdoctor: the working directory no longer exists; change to another", 2)
        case _ if is_interrupt(error):
            return interrupted()
        case _ if os.environ.get("KDOCTOR_DEBUG"):
            return None
        case _:
            what = f"{type(error).__name__}: {error}"
            where = "(KDOCTOR_DEBUG=1 shows where; please report)"
            return _ended(f"kdoctor: {INTERNAL_ERROR}: {what} {where}", 2)


def interrupted(what: str = "") -> int:
    """Report that ctrl-C ended the command; return the exit code."""
    print(f"kdoctor: {what or 'interrupted'}", file=sys.stderr)
    return INTERRUPTED


def is_interrupt(error: BaseException) -> bool:
    """Tell whether ctrl-C caused an error: inside a class body it surfaces as another one."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return isinstance(error, KeyboardInterrupt)


def _forget_output() -> None:
    """Discard what is still in the buffer, so that the interpreter's own flush succeeds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ended(text: str, code: int) -> int:
    from kdoctor.report.output import printable  # noqa: PLC0415 - where it ends in an error only

    sys.stdout.flush()
    # A name that was given or found must not steer the terminal.
    print("\n".join(map(printable, text.split("\n"))), file=sys.stderr)
    return code
