"""Explain errors by findings on the line that failed, and on the lines it depends on.

It comes last, for errors that nothing else explains: a finding that can be the cause is the answer,
one that may be related is reported as such, and only a scan without findings rules any out.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from kdoctor.diagnose import remedies
from kdoctor.diagnose.backward_slice import lines_behind
from kdoctor.diagnose.by_example import likeness_to_examples
from kdoctor.diagnose.by_rules import RuleAnswer, chosen_fix, covers, rule_answer, source_of
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.frames import FrameOrigin, TracebackFrame
from kdoctor.diagnose.imported_values import parts_behind
from kdoctor.model import Finding, Severity

_ALIKE: Final = 0.6
_MAX_FINDINGS: Final = 2  # findings beside an error that nobody knows
_TELLS: Final = re.compile(r"\b(?P<type>[A-Z]\w*(?:Error|Exception)): (?P<message>[^\n]+)")


@dataclass(frozen=True, slots=True)
class Scanned:
    """A file that was scanned: what was found at or behind the line of a frame.

    ``at`` are the lines of the file that frames of the traceback show.
    """

    frame: TracebackFrame
    at: frozenset[int]
    near: tuple[Finding, ...]
    data: bytes


def scans(case: Case) -> Iterator[Scanned]:
    """Yield the user's files of a traceback that are there and can be scanned, innermost first."""
    done = set()
    own = [frame for frame in case.error.frames if frame.origin is FrameOrigin.USER]
    for frame in reversed(own):
        if frame.file in done:
            continue
        done.add(frame.file)
        data = source_of(frame, case.read)
        if data is None:
            continue
        at = frozenset(each.row for each in own if each.file == frame.file and each.row)
        behind = lines_behind(data, at)
        near = _near(frame, behind, data, case)
        if near is not None:
            yield Scanned(frame, at, near, data)
        for part in parts_behind(frame.path, data, behind, case.read):
            other = TracebackFrame(part.path, None)
            found = None if part.path in done else _near(other, part.lines, part.data, case)
            if found is not None:
                yield Scanned(other, frozenset(), found, part.data)


def _near(
    frame: TracebackFrame, lines: frozenset[int], data: bytes, case: Case
) -> tuple[Finding, ...] | None:
    """Return the findings on some lines of a file, the nearest to the frame first."""

    def choose(found: Sequence[Finding]) -> Sequence[Finding]:
        return [each for each in found if covers(each, lines)]

    chosen = chosen_fix(data, case.target, choose, frame.path)
    if chosen is None:
        return None
    return tuple(sorted(chosen.findings, key=lambda each: abs(each.place.line - frame.row)))


def explain_by_scan(case: Case) -> Diagnosis | None:
    """Explain an error by a finding on the line or on a line that it depends on."""
    for scanned in scans(case):
        for finding in scanned.near:
            if _can_be_the_cause(finding, case):
                return _diagnosis(finding, scanned, case)
    return None


def _can_be_the_cause(finding: Finding, case: Case) -> bool:
    """Say whether a finding predicts an error, in its message or by its examples.

    One that says that a value is None is behind whatever Python says of that None.
    """
    if finding.severity is Severity.LEGACY:
        return False
    if found := _TELLS.search(finding.message):
        is_its_type = case.error.name in {found["type"], ""}
        return is_its_type and _ratio(found["message"], case.error.message) >= _ALIKE
    if likeness_to_examples(case, finding) >= _ALIKE:
        return True
    return "None" in finding.message.split() and "'NoneType'" in case.error.message


def _ratio(announced: str, message: str) -> float:
    first = message.partition("\n")[0]
    length = min(len(announced), len(first))
    return difflib.SequenceMatcher(None, announced[:length], first[:length]).ratio()


def _diagnosis(finding: Finding, scanned: Scanned, case: Case) -> Diagnosis:
    place = scanned.frame
    answer = _answer(finding, scanned, case)
    package = case.package
    return Diagnosis(
        fault=Fault.YOUR_CODE,
        meaning=finding.message,
        error=case.error,
        place=place,
        evidence=(
            f"{finding.code} reports {_where(finding, scanned)}",
            f"assuming {case.target}: {case.target.source}",
        ),
        steps=tuple(remedies.of_answer(answer)),
        rule=finding.code,
        package=package,
        target=case.target,
    )


def _answer(finding: Finding, scanned: Scanned, case: Case) -> RuleAnswer:
    """Return the finding with the diff of its own line only."""

    def same(each: Finding) -> bool:
        return each.code == finding.code and each.place == finding.place

    chosen = chosen_fix(
        scanned.data,
        case.target,
        lambda found: [each for each in found if same(each)],
        scanned.frame.path,
    )
    return rule_answer(scanned.frame, chosen) if chosen else RuleAnswer((finding,))


def _where(finding: Finding, scanned: Scanned) -> str:
    line = scanned.frame.place(finding.place.line)
    if scanned.frame.line is None:
        return f"{line} of {PurePath(scanned.frame.path).name}, from which this line uses a name"
    if covers(finding, {scanned.frame.row}):
        return f"this line ({line})"
    if covers(finding, scanned.at):
        return f"{line}, which called it"
    return f"{line}, which it depends on"


def beside(case: Case) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return what a scan reports near an unknown error, and what it rules out."""
    steps: list[Step] = []
    ruled_out = []
    for scanned in scans(case):
        near = [each for each in scanned.near if each.severity is not Severity.LEGACY]
        name = PurePath(scanned.frame.path).name
        if not near:
            what = (
                f"about what was imported from {name}"
                if scanned.frame.line is None
                else f"about {name}:{scanned.frame.line} and the lines that it depends on"
            )
            ruled_out.append(
                f"the findings of `kdoctor scan`: for {case.target}, it reports nothing {what}"
            )
        for finding in near[:_MAX_FINDINGS]:
            text = f"`kdoctor scan` reports {_where(finding, scanned)}: {finding.message}"
            note = f"{finding.code}; the text does not show whether this causes the error"
            steps.append(Step(StepKind.ADVICE, text, note))
    return tuple(steps[:_MAX_FINDINGS]), tuple(ruled_out)
