"""What a migration came to that was carried out, for people and programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

import msgspec

from kdoctor import __version__
from kdoctor.migrate.outcome import FailingTest, FixOutcome, Outcome, Verdict
from kdoctor.report.output import Page, printable
from kdoctor.report.summary import count, write_lines

_SHOWN: Final = 12  # lines of a list
_COMMIT: Final = 9  # characters
NOTHING_WRITTEN: Final = (
    "Nothing was written: no step had anything to do that tests or proofs speak for."
)
VERDICTS: Final = {
    Verdict.PROVEN: "proven safe",
    Verdict.TESTS: "kept by your tests",
    Verdict.NOT_RUN: "not run by any test, so not written",
    Verdict.LOSES: "taken out, for a test is lost by it",
}


def write_text(outcome: Outcome, page: Page) -> None:
    """Write one page: tests, commits with what was seen, fixes, what is left."""
    write_lines([f"kdoctor {__version__}: {way(outcome)}, on the branch {outcome.branch}"], page)
    if outcome.stopped:
        write_lines([f"Stopped early: {outcome.stopped}; --resume --budget MINUTES goes on."], page)
    page.line()
    _write_tests(outcome, page)
    _write_steps(outcome, page)
    _write_fixes(outcome.fixes, page)
    _write_failing(outcome, page)
    _write_left(outcome, page)
    for note in outcome.notes:
        write_lines([f"Note: {printable(note)}."], page)
    write_lines(_ending(outcome), page)


def write_json(outcome: Outcome, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    told = {"kdoctor": __version__, **msgspec.to_builtins(outcome)}
    page.line(json.dumps({**told, "complete": outcome.is_complete}, indent=2))


def way(outcome: Outcome) -> str:
    """Return from which Keras to which one it went."""
    is_told = outcome.now not in {"", outcome.then}  # a requirement without a release is the newest
    return f"from {outcome.now} to {outcome.then}" if is_told else f"to {outcome.then}"


def _write_tests(outcome: Outcome, page: Page) -> None:
    counted = outcome.counted
    commands = ", ".join(f"`{printable(each)}`" for each in outcome.commands)
    page.line(page.paint("path", f"Tests: {counted.tests} ({commands})"))
    rows = (
        ("pass on Keras 2", counted.keras_2),
        ("of these pass on Keras 3, before", counted.before),
        ("of these pass on Keras 3, now", counted.of_keras_2),
        ("lost: passed on Keras 3 before", len(outcome.lost)),
    )
    for label, number in rows:
        page.line(f"  {number:>5}  {label}")
    for each in _some(outcome.lost):
        page.line(f"         {each}")
    if outcome.flaky:
        what = (
            "passes in one run and not in another"
            if len(outcome.flaky) == 1
            else ("pass in one run and not in another")
        )
        page.line(f"  {len(outcome.flaky):>5}  {what}, so nothing is concluded from it:")
        for each in _some(outcome.flaky):
            page.line(f"         {each}")
    page.line()


def _write_steps(outcome: Outcome, page: Page) -> None:
    if not outcome.steps:
        page.line(NOTHING_WRITTEN)
        page.line()
    for number, step in enumerate(outcome.steps, 1):
        places = f"{count(step.changes, 'change')} in {count(len(step.files), 'file')}"
        title = page.paint("path", step.title)
        page.line(f"{number}. {title}: {places}, commit {commit_shown(step.commit)}")
        gained = f"{count(len(step.gained), 'test')} more" if step.gained else "no test more"
        page.line(f"   {gained} passed, none was lost: {step.passed} of {outcome.counted.keras_2}")
    if outcome.steps:
        page.line()


def _write_fixes(fixes: Iterable[FixOutcome], page: Page) -> None:
    by_verdict: dict[Verdict, list[FixOutcome]] = {each: [] for each in Verdict}
    for fix in fixes:
        by_verdict[fix.verdict].append(fix)
    if not any(by_verdict.values()):
        return
    page.line(page.paint("path", "Fixes"))
    for verdict, some in by_verdict.items():
        if not some:
            continue
        page.line(f"  {len(some):>5}  {VERDICTS[verdict]}")
        if verdict is not Verdict.PROVEN:
            for each in _some(map(_fix, some)):
                _write(f"         {each}", page)
    page.line()


def _fix(fix: FixOutcome) -> str:
    told = f"{fix.path}:{fix.line}: {fix.code} {fix.title}"
    speaks = evidence(fix)
    return printable(f"{told} ({speaks})" if speaks else told)


def evidence(fix: FixOutcome) -> str:
    """Return which tests speak for a fix or against it, "" if none does."""
    if not fix.tests:
        return ""
    how = "loses {}" if fix.verdict is Verdict.LOSES else "run by {}"
    if fix.makes_pass:
        how = "makes {} pass"
    more = f"; {fix.of - 1} more" if fix.of > 1 else ""
    seen = f"seen at run time: {', '.join(fix.seen)}; " if fix.seen else ""
    return f"{seen}{how.format(fix.tests[0])}{more}"


def commit_shown(commit: str) -> str:
    """Return as much of a commit's name as people read."""
    return commit[:_COMMIT]


def _write_failing(outcome: Outcome, page: Page) -> None:
    if not outcome.failing:
        return
    title = f"{count(len(outcome.failing), 'test')} that passed on Keras 2 and still fail"
    if len(outcome.failing) == 1:
        title = f"{title}s"
    page.line(page.paint("path", title))
    groups = by_error(outcome.failing)
    for group in groups[:_SHOWN]:
        first = group[0]
        where = f"{first.place}: " if first.place else ""
        _write(printable(f"  {len(group):>5}  {where}{first.error}"), page)
        for told in filter(None, (first.meaning, first.remedy.partition("\n")[0])):
            _write(printable(f"         {told}"), page)
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        page.line(printable(f"         {first.test}{more}"))
    if groups[_SHOWN:]:
        page.line(f"  … and {len(groups) - _SHOWN} other errors, all in --format json")
    page.line()


def by_error(failing: Iterable[FailingTest]) -> list[list[FailingTest]]:
    """Return the tests that fail at one place of one error together, the largest groups first."""
    ordered = sorted(failing, key=lambda each: (each.place, each.error, each.test))
    groups = [list(some) for _, some in groupby(ordered, key=lambda x: (x.place, x.error))]
    return sorted(groups, key=len, reverse=True)


def _write_left(outcome: Outcome, page: Page) -> None:
    if outcome.pins_left:
        page.line(page.paint("path", "Requirements to write by hand"))
        for each in _some(outcome.pins_left):
            page.line(f"  {each}")
        page.line()
    if not outcome.left:
        return
    files = [list(some) for _, some in groupby(outcome.left, key=lambda each: each.path)]
    total = count(len(outcome.left), "finding")
    page.line(page.paint("path", f"Left for people: {total} in {count(len(files), 'file')}"))
    for group in files[:_SHOWN]:
        page.line(f"  {printable(group[0].path)}")
        for one in group[:_SHOWN]:
            _write(printable(f"    {one.line}: {one.code} {one.message}"), page)
            if one.help:
                _write(printable(f"        {one.help}"), page)
        if group[_SHOWN:]:
            page.line(f"    … and {len(group) - _SHOWN} more")
    if files[_SHOWN:]:
        page.line(f"  … and {len(files) - _SHOWN} files more, all in --format json")
    page.line()


def _write(text: str, page: Page) -> None:
    """Write a line of a list; what does not fit stands below its text."""
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    for part in page.wrapped(text, indent):
        page.line(part.rstrip())


def _some(lines: Iterable[str]) -> Iterator[str]:
    every = list(lines)
    yield from map(printable, every[:_SHOWN])
    if every[_SHOWN:]:
        yield f"… and {len(every) - _SHOWN} more, all in --format json"


def _ending(outcome: Outcome) -> Iterator[str]:
    minutes = outcome.seconds / 60
    yield (
        f"{count(outcome.runs, 'run')} of the tests took {minutes:.1f} minutes; the last one "
        f"wrote to {printable(dict(outcome.logs)['at the end'])}"
    )
    if outcome.steps:
        base = commit_shown(outcome.base)
        yield (
            f"Your files are as they were. `git diff {base} {outcome.branch}` shows the changes, "
            f"`git merge {outcome.branch}` takes them."
        )
    yield "`kdoctor migrate --undo` removes the branch and its working tree."
