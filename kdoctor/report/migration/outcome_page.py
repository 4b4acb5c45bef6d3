"""The HTML page on a migration that was carried out: tests, commits, fixes, what is left."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from kdoctor import __version__
from kdoctor.migrate.outcome import FailingTest, FixOutcome, LeftFinding, Outcome, Verdict
from kdoctor.report.migrated import (
    NOTHING_WRITTEN,
    VERDICTS,
    by_error,
    commit_shown,
    evidence,
    way,
)
from kdoctor.report.migration import charts
from kdoctor.report.migration.elements import (
    Content,
    Markup,
    code,
    element,
    entries,
    folded,
    join,
    listed,
    prose,
    rule_code,
    table,
)
from kdoctor.report.migration.html_document import figures, html_document
from kdoctor.report.summary import count

_SUMMARIES: Final = 12  # groups that are open before the rest is folded


def outcome_page(outcome: Outcome) -> str:
    """Return the page."""
    sections = [
        ("commits", "Commits", _commits(outcome)),
        ("fixes", "Fixes", _fixes(outcome.fixes)),
        ("lost", "Tests that are lost", _names(outcome.lost)),
        ("failing", "Tests that still fail", _failing(outcome.failing)),
        ("requirements", "Requirements to write by hand", _names(outcome.pins_left)),
        ("left", "Left for people", _left(outcome.left)),
        ("flaky", "Tests that nothing is concluded from", _flaky(outcome)),
        ("runs", "Runs", _runs(outcome)),
    ]
    title = f"Migration to {outcome.then}: {outcome.branch}"
    return html_document(title, _header(outcome), sections)


def _header(outcome: Outcome) -> Markup:
    counts = outcome.counted
    told = f"kdoctor {__version__}: {way(outcome)}"
    lines: list[Content] = [element("p", told, class_="quiet")]
    if outcome.stopped:
        again = code("kdoctor migrate --resume --budget MINUTES")
        lines.append(element("p", f"Stopped early: {outcome.stopped}; ", again, " goes on."))
    shown: list[tuple[str, Content, Content]] = [
        ("Tests that pass on Keras 2", f"{counts.keras_2} of {counts.tests}", None),
        ("of these on Keras 3, before", counts.before, charts.share(counts.before, counts.keras_2)),
        (
            "of these on Keras 3, now",
            counts.of_keras_2,
            charts.share(counts.of_keras_2, counts.keras_2),
        ),
        ("Lost", len(outcome.lost), None),
    ]
    lines.append(figures(shown))
    if outcome.steps:
        base = commit_shown(outcome.base)
        lines.append(
            element(
                "p",
                "Your files are as they were. ",
                code(f"git diff {base} {outcome.branch}"),
                " shows the changes, ",
                code(f"git merge {outcome.branch}"),
                " takes them, ",
                code("kdoctor migrate --undo"),
                " removes the branch and its working tree.",
                class_="next",
            )
        )
    lines += (element("p", prose(f"Note: {note}.")) for note in outcome.notes)
    return join(*lines)


def _commits(outcome: Outcome) -> Markup:
    if not outcome.steps:
        return element("p", NOTHING_WRITTEN)
    rows: list[tuple[Content, ...]] = [
        (
            join(
                code(commit_shown(step.commit)),
                " ",
                prose(step.title),
                folded(count(len(step.files), "file"), listed([code(each) for each in step.files])),
                folded(
                    f"{count(len(step.gained), 'test')} more passed",
                    listed([code(each) for each in step.gained]),
                )
                if step.gained
                else element("div", "no test more passed, none was lost", class_="quiet"),
            ),
            step.changes,
            step.passed,
        )
        for step in outcome.steps
    ]
    return table(
        ("Commit", "Changes", "Tests that pass"), rows, "In order; no commit loses a test."
    )


def _fixes(fixes: Iterable[FixOutcome]) -> Markup:
    every = list(fixes)
    parts: list[Content] = []
    for verdict in Verdict:
        some = [fix for fix in every if fix.verdict is verdict]
        if some:
            title = f"{VERDICTS[verdict]}: {len(some)}"
            parts.append(element("h3", title[:1].upper() + title[1:]))
            shown: list[Content] = [_fix(fix) for fix in some]
            is_long = verdict is Verdict.PROVEN
            parts.append(folded("Which", listed(shown)) if is_long else entries(shown))
    return join(*parts)


def _fix(fix: FixOutcome) -> Markup:
    told = join(code(f"{fix.path}:{fix.line}"), " ", rule_code(fix.code), " ", prose(fix.title))
    speaks = evidence(fix)
    return join(told, element("div", speaks, class_="quiet") if speaks else None)


def _failing(failing: Iterable[FailingTest]) -> Markup:
    groups: list[Content] = [_group(each) for each in by_error(failing)]
    return entries(groups) if groups else Markup()


def _group(tests: list[FailingTest]) -> Markup:
    first = tests[0]
    return join(
        element("div", element("strong", code(first.place)) if first.place else None, " "),
        element("div", first.error),
        *(element("div", prose(each)) for each in (first.meaning, first.remedy) if each),
        folded(count(len(tests), "test"), listed([code(each.test) for each in tests])),
    )


def _left(left: Iterable[LeftFinding]) -> Markup:
    parts: list[Content] = []
    for path, some in groupby(left, key=lambda each: each.path):
        findings: list[Content] = [
            join(
                element(
                    "div", code(str(each.line)), " ", rule_code(each.code), " ", prose(each.message)
                ),
                element("div", prose(each.help)) if each.help else None,
            )
            for each in some
        ]
        title = join(code(path), f": {count(len(findings), 'finding')}")
        parts.append(folded(title, listed(findings, class_="plain")))
    rest = parts[_SUMMARIES:]
    more = folded(f"{len(rest)} files more", *rest) if rest else None
    return join(*parts[:_SUMMARIES], more)


def _flaky(outcome: Outcome) -> Markup:
    if not outcome.flaky:
        return Markup()
    said = "They pass in one run and not in another."
    return join(element("p", said, class_="quiet"), _names(outcome.flaky))


def _names(names: Iterable[str]) -> Markup:
    shown: list[Content] = [code(each) for each in names]
    return entries(shown) if shown else Markup()


def _runs(outcome: Outcome) -> Markup:
    said = f"{count(outcome.runs, 'run')} of the tests took {outcome.seconds / 60:.1f} minutes."
    rows: list[tuple[Content, ...]] = [(when, code(path)) for when, path in outcome.logs]
    commands: list[Content] = [code(each) for each in outcome.commands]
    logs = table(("When", "What it wrote"), rows, "Logs") if rows else None
    return join(element("p", said), element("p", "Run: ", join(*commands, by=", ")), logs)
