"""Apply the rules of ``scan`` to one line: of an existing file, or of a traceback.

Where only the line itself is known, it is put below imports that make its names what the error
says they are, and the diff is that of the line alone.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from kdoctor.diagnose.backward_slice import lines_behind
from kdoctor.diagnose.frames import TracebackFrame
from kdoctor.diagnose.snippets import Snippet, SnippetName, snippets
from kdoctor.documents.layout import split_lines
from kdoctor.engine.fixes.fix_line import ChosenFix, fix_chosen
from kdoctor.errors import KdoctorError
from kdoctor.model import Finding, Severity
from kdoctor.target import Target

ReadSource = Callable[[str], bytes | None]

_MAX_SOURCE_BYTES: Final = 5_000_000  # bytes of a source


def read_file(path: str) -> bytes | None:
    """Return the bytes of the file of a frame; None if it is not here."""
    if path.startswith(("<", "Cell In")):
        return None
    try:
        file = Path(path).expanduser()
        if not file.is_file() or file.stat().st_size > _MAX_SOURCE_BYTES:
            return None
        return file.read_bytes()
    except (OSError, ValueError, RuntimeError):
        return None


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """What the rules say about a line, and the diff that fixes it.

    ``others`` is the number of findings elsewhere in the file, where it was there to be read.
    ``example`` is what became of a made-up statement: ``x.fit(nb_epoch=2)  ->  x.fit(epochs=2)``,
    ``imports`` are the lines that its fix put above it.
    """

    findings: tuple[Finding, ...] = ()
    diff: str = ""
    others: int = 0
    example: str = ""
    imports: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The code of the rule about the error."""
        return self.findings[0].code if self.findings else ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a finding must mention to be about the error.

    ``name`` is a word of its symbol or message, "" for any; ``rules`` are the codes that count,
    none for all. ``binding`` says what an object of the line is, ``root`` where the line has Keras
    from. ``statement`` is a whole program, used if no line is known.
    """

    name: str = ""
    rules: tuple[str, ...] = ()
    binding: SnippetName | None = None
    root: str = "keras"
    statement: str = ""

    def is_met_by(self, finding: Finding) -> bool:
        """Say whether a finding matches."""
        if self.rules and finding.code not in self.rules:
            return False
        if not self.name:
            return True
        pattern = rf"(?<!\w){re.escape(self.name)}(?!\w)"
        return bool(re.search(pattern, f"{finding.symbol} {finding.message}"))


def ask(
    frame: TracebackFrame | None, wanted: Wanted, target: Target, read: ReadSource
) -> RuleAnswer:
    """Return what the rules say about the line of a frame."""
    if frame is not None:
        data = source_of(frame, read)
        answer = _of_file(frame, data, wanted, target) if data is not None else RuleAnswer()
        if not answer.findings and frame.source:
            answer = _of_line(frame, wanted, target)
        if answer.findings:
            return answer
    if wanted.statement:
        chosen = chosen_fix(wanted.statement.encode(), target, _meeting(wanted))
        if chosen is not None:  # what a made-up statement would become is no diff of the user's
            return RuleAnswer(chosen.findings, example=_example(chosen), imports=_imports(chosen))
    return RuleAnswer()


def _example(chosen: ChosenFix) -> str:
    """Return the last line of a generated statement before and after the fix."""
    old, new = chosen.before.splitlines(), chosen.after.splitlines()
    if any(line.startswith(("class ", "def ")) for line in new):
        return ""  # the line calls what the fix would write above it
    return f"{old[-1]}  ->  {new[-1]}" if old and new and old[-1] != new[-1] else ""


def _imports(chosen: ChosenFix) -> tuple[str, ...]:
    """Return the imports that a fix added to a generated statement."""
    before = chosen.before.splitlines()
    new = (line for line in chosen.after.splitlines() if line not in before)
    return tuple(line for line in new if line.startswith(("import ", "from ")))


def source_of(frame: TracebackFrame, read: ReadSource) -> bytes | None:
    """Return the file of a frame if it exists and still matches the traceback."""
    if frame.program is not None:
        return frame.program.data
    data = read(frame.path) if frame.path else None
    if data is None or frame.line is None:
        return None
    lines = split_lines(data.decode(errors="replace"))
    if not 0 < frame.line <= len(lines):
        return None
    shown = frame.source.partition("\n")[0].strip()
    return data if shown[:60] in lines[frame.line - 1] else None


def _of_file(frame: TracebackFrame, data: bytes, wanted: Wanted, target: Target) -> RuleAnswer:
    line = frame.row

    def choose(found: Sequence[Finding]) -> Sequence[Finding]:
        here = [each for each in found if covers(each, {line})]
        about = [each for each in found if wanted.is_met_by(each)]
        if chosen := [each for each in here if each in about]:
            return _with_errors(chosen, here)
        if not about or not (wanted.name or wanted.rules):
            return []
        # Elsewhere, only what the line rests on has to do with its error.
        behind = lines_behind(data, [line])
        return _with_errors([each for each in about if covers(each, behind)][:1], here)

    return rule_answer(frame, chosen_fix(data, target, choose, frame.path))


def rule_answer(frame: TracebackFrame, chosen: ChosenFix | None) -> RuleAnswer:
    """Return the chosen findings in the file of a frame as an answer."""
    if chosen is None:
        return RuleAnswer()
    diff = chosen.diff
    if frame.program is not None:
        diff = frame.program.diff(chosen.before, chosen.after)
    return RuleAnswer(chosen.findings, diff, chosen.others)


def covers(finding: Finding, lines: Container[int]) -> bool:
    """Say whether a finding is on one of some lines."""
    place = finding.place
    return any(number in lines for number in range(place.line, place.end_line + 1))


def _of_line(frame: TracebackFrame, wanted: Wanted, target: Target) -> RuleAnswer:
    for snippet in snippets(frame.source, target, wanted.binding, wanted.root):
        chosen = chosen_fix(snippet.source.encode(), target, _meeting(wanted, snippet.first))
        if chosen is not None and chosen.findings:
            findings = tuple(_restored(each, snippet) for each in chosen.findings)
            return RuleAnswer(findings, _diff_of_line(chosen, snippet, str(frame)))
    return RuleAnswer()


def _restored(finding: Finding, snippet: Snippet) -> Finding:
    """Put the user's expression back into a finding, in place of its placeholder."""
    fix = finding.fix
    if not snippet.back:
        return finding
    return replace(
        finding,
        message=snippet.named(finding.message),
        help=snippet.named(finding.help),
        fix=fix and replace(fix, title=snippet.named(fix.title)),
    )


def _meeting(wanted: Wanted, first: int = 1) -> Callable[[Sequence[Finding]], Sequence[Finding]]:
    def choose(found: Sequence[Finding]) -> Sequence[Finding]:
        here = [each for each in found if each.place.line >= first]
        return _with_errors([each for each in here if wanted.is_met_by(each)], here)

    return choose


def _with_errors(chosen: list[Finding], here: Iterable[Finding]) -> list[Finding]:
    """Add what else would fail on the line once the first error is fixed."""
    if not chosen:
        return []
    return [
        *chosen,
        *(each for each in here if each.severity is Severity.ERROR and each not in chosen),
    ]


def chosen_fix(
    data: bytes,
    target: Target,
    choose: Callable[[Sequence[Finding]], Sequence[Finding]],
    path: str = "your line",
) -> ChosenFix | None:
    """Return the chosen findings of a source; None if it cannot be scanned."""
    try:
        return fix_chosen(path, data, target, choose)
    except (KdoctorError, RecursionError):
        return None


def _diff_of_line(chosen: ChosenFix, snippet: Snippet, place: str) -> str:
    """Return only the changed lines, without the generated imports above."""
    old = chosen.before.splitlines()
    shown = set(old[snippet.first - 1 :])
    changed = [
        line
        for line in difflib.ndiff(old, chosen.after.splitlines())
        if line[2:].strip() and (line[:2] == "+ " or (line[:2] == "- " and line[2:] in shown))
    ]
    if not changed:
        return ""
    text = "".join(f"{line[0]}{line[2:]}\n" for line in changed)
    diff = snippet.restored(text)
    return f"# {place}\n{diff}" if place else diff
