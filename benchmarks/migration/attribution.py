"""Which finding should have told of a test's first error.

A finding tells of an error when it stands at the line that raised inside the package (in the
source as released, or as fixed), or when the error names what the finding names, in a file that
the error went through. A finding at another line of the traceback is told apart: it may be of
something else.
"""

from __future__ import annotations

import difflib
import enum
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import msgspec

from benchmarks.migration.model import MISSING, Failure, Found, Frame, Repair

IN_QUOTES = re.compile(r"""['"`]([A-Za-z_][\w.]*)['"`]""")
DOTTED = re.compile(r"\b(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*\b")
CALLED = re.compile(r"\b([A-Za-z_]\w*)\(\)")
IDENTIFIER = re.compile(r"\bidentifier: ([A-Za-z_]\w*)")
FUNCTION = re.compile(r"<(?:function|class) ['\"]?(?:\w+\.)*([A-Za-z_]\w*)")
TELLING = frozenset({"error", "change"})  # what is merely old does not say that it breaks
# Words that errors quote and that name no part of an API.
TOO_COMMON = frozenset(
    {"keras", "tensorflow", "self", "None", "name", "call", "build", "module", "object", "inputs"}
)


class Told(enum.StrEnum):
    """How a finding tells of an error, the strongest first."""

    LINE = "at the line"
    NAME = "by name"
    CAUSE = "by its cause"  # as an experiment has shown: see ``causes``
    TRACEBACK = "in the traceback"
    NOT = "not"


class Attribution(msgspec.Struct, frozen=True):
    """What kdoctor had said of an error."""

    told: Told
    codes: tuple[str, ...] = ()
    place: str = ""  # where the package raised, in the fixed source


def attribute(
    failure: Failure, repair: Repair, original_lines: Callable[[str, int], range], test: str = ""
) -> Attribution:
    """Say which findings told of an error that a test still ends with after a fix.

    ``original_lines`` gives, for a path and a line of the fixed source, the lines it was before.
    ``test`` is the test's id, with the package's name before its path: a test that was not
    collected raised nothing, and is told of by what its id says it is about.
    """
    told = [each for each in repair.after if each.severity in TELLING]
    first = [each for each in repair.before if each.severity in TELLING]

    def at(frames: Iterable[Frame]) -> list[Found]:
        return [
            finding
            for frame in frames
            for finding in (
                *_over(told, frame.path, range(frame.line, frame.end_line + 1)),
                *_over(first, frame.path, original_lines(frame.path, frame.line)),
            )
        ]

    last = _innermost(failure.frames, lambda each: not original_lines(each.path, each.line))
    place = f"{last[-1].path}:{last[-1].line}" if last else failure.raised_at
    names, paths = names_in(failure.message), {frame.path for frame in failure.frames}
    if failure.type == MISSING:
        names, paths = parameters_of(test), {test.partition("::")[0]}
    named = [
        each for each in (*told, *first) if each.path in paths and last_name(each.symbol) in names
    ]
    for way, findings in (
        (Told.LINE, at(last)),
        (Told.NAME, named),
        (Told.TRACEBACK, at(failure.frames)),
    ):
        if findings:
            return Attribution(way, tuple(sorted({each.code for each in findings})), place)
    return Attribution(Told.NOT, (), place)


def _innermost(frames: Sequence[Frame], is_of_the_fix: Callable[[Frame], bool]) -> list[Frame]:
    """Return of each error the innermost frame inside the package.

    A function that the fix wrote into the file is kdoctor's own: what goes wrong in there has gone
    wrong where the package calls it, at the line that was reported and fixed.
    """
    found = []
    for index, frame in enumerate(frames):
        if not frame.last:
            continue
        inner = index
        while inner and is_of_the_fix(frames[inner]) and not frames[inner - 1].last:
            inner -= 1
        found.append(frame if is_of_the_fix(frames[inner]) else frames[inner])
    return found


def names_in(message: str) -> frozenset[str]:
    """Return the names that an error's message speaks of, without what they are members of."""
    found = {
        match.rpartition(".")[2]
        for pattern in (IN_QUOTES, DOTTED, CALLED, IDENTIFIER, FUNCTION)
        for match in pattern.findall(message)
    }
    return frozenset(found - TOO_COMMON)


def parameters_of(test: str) -> frozenset[str]:
    """Return what a test is called after: ``Dense`` and ``2`` of ``a_test.py::test[Dense-2]``."""
    _, _, parameters = test.rpartition("[")
    return frozenset(parameters.removesuffix("]").split("-")) if test.endswith("]") else frozenset()


def last_name(symbol: str) -> str:
    """Return ``sum`` of ``keras.backend.sum``."""
    return symbol.rpartition(".")[2]


def lines_before(fixed: Path, original: Callable[[str], Path]) -> Callable[[str, int], range]:
    """Return a function from a line of the fixed source to the lines it was before the fix."""

    @cache
    def blocks(path: str) -> Sequence[tuple[str, int, int, int, int]]:
        old, new = _lines(original(path)), _lines(fixed / path)
        return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()

    def lines(path: str, line: int) -> range:
        for tag, start, end, fixed_start, fixed_end in blocks(path):
            if fixed_start < line <= fixed_end:
                if tag == "equal":
                    same = start + line - fixed_start
                    return range(same, same + 1)
                return range(start + 1, end + 1)
        return range(0)

    return lines


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines() if path.is_file() else []


def _over(findings: Iterable[Found], path: str, lines: range) -> list[Found]:
    return [
        each
        for each in findings
        if each.path == path and each.line < lines.stop and each.end_line >= lines.start
    ]
