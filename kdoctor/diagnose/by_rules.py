"""The same rules as ``scan``, asked about one line: of a file that is there, or of a traceback.

Where only the line itself is known, it is put below imports that make its names what the error
says they are, and the diff is that of the line alone.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kdoctor.diagnose.frames import Frame
from kdoctor.engine.lines import Chosen, choose_and_fix
from kdoctor.errors import KdoctorError
from kdoctor.model import Finding, Severity
from kdoctor.target import Target

ReadSource = Callable[[str], bytes | None]

_LARGEST: Final = 5_000_000  # bytes of a source


def read_file(path: str) -> bytes | None:
    """Return the bytes of the file that a frame names; None where there is none here."""
    if path.startswith(("<", "Cell In")):
        return None
    try:
        file = Path(path).expanduser()
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return None
        return file.read_bytes()
    except (OSError, ValueError, RuntimeError):
        return None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the rules say about a line, and the diff that cures it.

    ``others`` is the number of findings elsewhere in the file, where it was there to be read.
    """

    findings: tuple[Finding, ...] = ()
    diff: str = ""
    others: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an error is about: the name or member, and imports that make the line's names such.

    ``preludes`` are tried in turn; the first under which a rule speaks of ``name`` counts.
    ``statement`` is asked about where the text shows no line.
    """

    name: str
    preludes: tuple[str, ...] = ()
    statement: str = ""


def ask(frame: Frame | None, wanted: Wanted, target: Target, read: ReadSource) -> Answer:
    """Return what the rules say about the line of a frame."""
    if frame is not None and (data := read(frame.path)) is not None and _is_of(data, frame):
        answer = _of_file(frame, data, wanted, target)
        if answer.findings:
            return answer
    if frame is not None and frame.source:
        answer = _of_line(frame.source, wanted, target, str(frame))
        if answer.findings:
            return answer
    if wanted.statement:
        # What a made-up statement would become is no diff of the user's.
        return Answer(_of_line(wanted.statement, wanted, target, "").findings)
    return Answer()


def _is_of(data: bytes, frame: Frame) -> bool:
    """Say whether the file is still the one that the traceback shows."""
    if frame.line is None:
        return False
    lines = data.decode(errors="replace").splitlines()
    if not 0 < frame.line <= len(lines):
        return False
    shown = frame.source.partition("\n")[0].strip()
    return not shown or lines[frame.line - 1].strip().startswith(shown[:60])


def _of_file(frame: Frame, data: bytes, wanted: Wanted, target: Target) -> Answer:
    line = frame.line or 0

    def choose(found: Sequence[Finding]) -> Sequence[Finding]:
        here = [each for each in found if each.place.line <= line <= each.place.end_line]
        about = [each for each in found if _speaks_of(each, wanted.name)]
        chosen = [each for each in here if each in about] or about[:1]
        return _with_errors(chosen, here)

    chosen = _asked(str(frame.path), data, target, choose)
    return Answer(chosen.findings, chosen.diff, chosen.others) if chosen else Answer()


def _of_line(line: str, wanted: Wanted, target: Target, place: str) -> Answer:
    for prelude in ("", *wanted.preludes):
        head = f"{prelude}\n" if prelude else ""
        first = head.count("\n") + 1

        def choose(found: Sequence[Finding], first: int = first) -> Sequence[Finding]:
            here = [each for each in found if each.place.line >= first]
            chosen = [each for each in here if _speaks_of(each, wanted.name)]
            return _with_errors(chosen, here)

        for statement in _statements(line):
            chosen = _asked("your line", f"{head}{statement}\n".encode(), target, choose)
            if chosen is not None and chosen.findings:
                return Answer(chosen.findings, _diff_of_line(chosen, first, place))
    return Answer()


def _with_errors(chosen: list[Finding], here: Sequence[Finding]) -> list[Finding]:
    """Add what else would fail on the line, as soon as the first error is mended."""
    if not chosen:
        return []
    more = [each for each in here if each.severity is Severity.ERROR and each not in chosen]
    return [*chosen, *more]


def _asked(
    path: str, data: bytes, target: Target, choose: Callable[[Sequence[Finding]], Sequence[Finding]]
) -> Chosen | None:
    try:
        return choose_and_fix(path, data, target, choose)
    except (KdoctorError, RecursionError):
        return None


def _statements(line: str) -> Iterator[str]:
    """Yield the line as a statement; a cut one is closed, a header gets a body."""
    text = textwrap.dedent(line).strip()
    yield text
    if text.endswith(":"):
        yield f"{text}\n    pass"
    missing = _closing(text)
    if missing:
        yield text.rstrip(",") + missing


def _closing(text: str) -> str:
    open_ = []
    pairs = {"(": ")", "[": "]", "{": "}"}
    for char in text:
        if char in pairs:
            open_.append(pairs[char])
        elif open_ and char == open_[-1]:
            open_.pop()
    return "".join(reversed(open_))


def _speaks_of(finding: Finding, name: str) -> bool:
    if not name:
        return True
    pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
    return bool(re.search(pattern, f"{finding.symbol} {finding.message}"))


def _diff_of_line(chosen: Chosen, first: int, place: str) -> str:
    """Return the changed lines alone: the imports above were put there for the question."""
    old = chosen.before.splitlines()
    shown = set(old[first - 1 :])
    lines = difflib.ndiff(old, chosen.after.splitlines())
    changed = [
        line
        for line in lines
        if line[2:].strip() and (line[:2] == "+ " or (line[:2] == "- " and line[2:] in shown))
    ]
    if not changed:
        return ""
    heading = f"# {place}\n" if place else ""
    return heading + "".join(f"{line[0]}{line[2:]}\n" for line in changed)
