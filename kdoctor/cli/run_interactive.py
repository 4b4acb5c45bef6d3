"""Run ``kdoctor fix --interactive``: ask about each fix, as ``git add --patch`` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kdoctor import engine
from kdoctor.cli import choices
from kdoctor.engine.baseline import compare
from kdoctor.engine.baseline.entry import entry_of
from kdoctor.engine.baseline.matching import Matching
from kdoctor.engine.fixes.undo_journal import journal_root, undo_command
from kdoctor.model import Applicability, Finding, Place
from kdoctor.report import fix as report
from kdoctor.report import summary
from kdoctor.report.formats.text import write_finding
from kdoctor.report.locations import where
from kdoctor.report.output import Page, printable

_HELP: Final = {
    "y": "yes, apply this fix",
    "n": "no, leave this place as it is",
    "a": "all: apply this fix and the rest of this rule's that are as safe",
    "d": "don't: leave this place and the rest of this rule's",
    "i": "ignore: never here; write a comment that silences this rule on this line",
    "q": "quit: leave this place and the rest; write what was accepted so far",
    "?": "show this help",
}
_QUESTION: Final = f"Apply this fix [{','.join(_HELP)}]?"


class Answers(NamedTuple):
    """The findings to fix, and those to silence by a comment."""

    fixed: list[Finding]
    ignored: list[Finding]


def fix(
    paths: list[str],
    how: engine.Options,
    page: Page,
    *,
    unsafe: bool | None,
) -> int:
    """Ask about each fix, write those that were accepted, and return the exit code.

    Fixes that no proof calls safe are among them, unless ``unsafe`` is False. What a baseline
    in the settings knows is asked about as well, but is no failure.

    Raises:
        UsageProblem: a path, rule or target does not exist.
    """
    known = choices.effective_baseline(None, engine.FileSelection(paths, how))
    how = how | {"diffs": True, "anchors": True, "cache": False}
    scan = engine.scan(paths, **how)
    contents = {each.place.path: _content(each.place.path) for each in scan.findings}
    kinds = {Applicability.SAFE} | ({Applicability.UNSAFE} if unsafe is not False else set())
    fixable = [each for each in scan.findings if each.fix and each.fix.applicability in kinds]
    if not fixable:
        summary.write_lines(summary.of_scan(scan, page), page)
        return _exit_code(compare(scan, known, paths).result if known else scan)
    answers = ask(fixable, scan, page, _line)
    written = _written(paths, how, scan, answers, contents)
    left = compare(written.scan, known, paths).result if known else written.scan
    _write_end(written, left, paths, page)
    return _exit_code(left)


def ask(
    findings: Sequence[Finding], scan: engine.ScanResult, page: Page, read: Callable[[], str | None]
) -> Answers:
    """Ask about each finding that no earlier answer decides.

    ``read`` returns a line that was typed, None where there is none any more.
    """
    answers = Answers([], [])
    accepted, declined = set[tuple[str, Applicability]](), set[str]()
    for number, finding in enumerate(findings, 1):
        assert finding.fix is not None
        kind = (finding.code, finding.fix.applicability)
        if finding.code in declined:
            continue
        if kind in accepted:
            answers.fixed.append(finding)
            continue
        page.line(page.paint("quiet", f"[{number}/{len(findings)}]"))
        _show(finding, scan, page)
        match _answer(page, read):
            case "y":
                answers.fixed.append(finding)
            case "a":
                answers.fixed.append(finding)
                accepted.add(kind)
            case "d":
                declined.add(finding.code)
            case "i":
                answers.ignored.append(finding)
            case "q":
                break
    return answers


def _show(finding: Finding, scan: engine.ScanResult, page: Page) -> None:
    write_finding(finding, scan, page)
    assert finding.fix is not None
    if finding.fix.applicability is Applicability.SAFE:
        page.line(f"  proof: `kdoctor rules {finding.code}` shows what was run")
    report.write_hunks(finding.fix.diff, page)


def _answer(page: Page, read: Callable[[], str | None]) -> str:
    while True:
        page.stream.write(f"{page.paint('help', _QUESTION)} ")
        page.stream.flush()
        line = read()
        if line is None:
            page.line()
            return "q"
        word = line.strip().lower()[:1]
        if word in _HELP and word != "?":
            page.line()
            return word
        for key, what in _HELP.items():
            page.line(f"{key} - {what}")


def _line() -> str | None:
    return sys.stdin.readline() or None


class _Written(NamedTuple):
    """How many findings were fixed and silenced, what was not, and what is left."""

    fixed: int
    ignored: int
    writes: int
    waiting: tuple[Finding, ...]
    failed: Mapping[str, str]
    scan: engine.ScanResult


def _written(
    paths: list[str],
    how: engine.Options,
    scan: engine.ScanResult,
    answers: Answers,
    contents: Mapping[str, bytes],
) -> _Written:
    """Write what was accepted. Fixes that overlap go one after the other.

    A file that is not what it was when it was asked about stays as it is.
    """
    failed = {
        path: "it was changed after the question"
        for path, content in contents.items()
        if _content(path) != content
    }
    waiting, ignored = (
        [each for each in some if each.place.path not in failed]
        for some in (answers.fixed, answers.ignored)
    )
    paths = [each for each in paths if Path(each).exists()]  # one that went is among ``failed``
    fixed = writes = 0
    while waiting:
        done = engine.write(engine.fix(paths, unsafe=True, **how | {"only": _keys(waiting)}))
        failed |= {each.path: each.why for each in done.left_alone}
        applied = {(each.place, each.code) for file in done.files for each in file.applied}
        fixed += len(applied)
        writes += bool(applied)
        again = engine.scan(paths, **how)
        waiting = [
            each
            for each in waiting
            if (each.place, each.code) not in applied and each.place.path not in failed
        ]
        waiting, ignored = (_found_again(some, scan, again) for some in (waiting, ignored))
        scan = again
        if not applied:
            break
    silenced = 0
    if ignored:
        done = engine.write(engine.fix(paths, add_ignores="", **how | {"only": _keys(ignored)}))
        failed |= {each.path: each.why for each in done.left_alone}
        silenced = sum(len(file.applied) for file in done.files)
        writes += bool(silenced)
        scan = engine.scan(paths, **how)
    return _Written(fixed, silenced, writes, tuple(waiting), failed, scan)


def _keys(findings: Sequence[Finding]) -> frozenset[tuple[Place, str]]:
    return frozenset((each.place, each.code) for each in findings)


def _found_again(
    findings: Sequence[Finding], before: engine.ScanResult, after: engine.ScanResult
) -> list[Finding]:
    """Return the findings as a later scan has them; those that are gone are left out."""
    folder = Path.cwd()
    known = [entry_of(each, before, folder) for each in findings]
    found = [entry_of(each, after, folder) for each in after.findings]
    return [
        after.findings[new]
        for new in sorted(Matching(known, found).match(lambda _: False).known_of)
    ]


def _content(path: str) -> bytes:
    """Return the bytes of a file, none where it is gone."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def _write_end(written: _Written, left: engine.ScanResult, paths: list[str], page: Page) -> None:
    for path, why in sorted(written.failed.items()):
        page.line(f"{page.paint('path', printable(path))}: not fixed: {printable(why)}")
    for finding in written.waiting:
        page.line(f"{where(finding)}: not fixed: its fix does not go with another one")
    parts = [f"Fixed {summary.count(written.fixed, 'finding')}"]
    parts += [f"ignored {written.ignored}"] * bool(written.ignored)
    found = left.findings
    parts.append(f"left: {summary.by_severity(found)}" if found else "nothing is left")
    page.line(f"{page.paint('good', '; '.join(parts))}.")
    if written.writes:
        times = "" if written.writes == 1 else f", called {written.writes} times,"
        page.line(f"`{undo_command(journal_root(paths))}`{times} undoes it.")


def _exit_code(scan: engine.ScanResult) -> int:
    if scan.unreadable or scan.project.unreadable or scan.has_read_nothing:
        return 2
    return 1 if scan.findings else 0
