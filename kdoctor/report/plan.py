"""The plan of a migration, for people and programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec.structs import asdict

from kdoctor import __version__
from kdoctor.migrate import Plan, Share, Step, StepKind
from kdoctor.model import Finding
from kdoctor.progress import Stop
from kdoctor.report.fix_title import titled
from kdoctor.report.formats.json import finding_of
from kdoctor.report.locations import where
from kdoctor.report.output import Page, printable
from kdoctor.report.statistics import counts
from kdoctor.report.summary import count, write_lines, write_unread
from kdoctor.target import Target

_SHOWN: Final = 8  # lines of a step
ADVICE: Final = (
    "Run the tests after each step, and commit it; `kdoctor fix --undo` takes the last write back."
)
TITLES: Final = {
    StepKind.PINS: ("Requirements that keep it on Keras 2", "requirement"),
    StepKind.NEIGHBOURS: ("Packages that do not come along", "place"),
    StepKind.IMPORTS: ("Errors that stop imports", "place"),
    StepKind.SAFE: ("Fixes that are proven safe", "fix"),
    StepKind.JUDGED: ("Fixes that your tests must judge", "fix"),
    StepKind.MODELS: ("Saved models, which Keras 3 may not load", "file"),
    StepKind.BY_HAND: ("What is left for people", "finding"),
}


def write_text(plan: Plan, page: Page) -> None:
    """Write the steps in order, each with what it is about and the command that helps."""
    write_lines([f"kdoctor {__version__}: {way(plan)}"], page)
    page.line()
    for number, step in enumerate(plan.steps, 1):
        title, noun = TITLES[step.kind]
        places = counted(step.places, noun)
        inside = f" in {count(step.files, 'file')}" if step.places != step.files else ""
        write_lines([f"{number}. {page.paint('path', title)}: {places}{inside}"], page)
        write_lines(_lines(step, plan), page)
        if step.command:
            page.line(f"   {page.paint('help', '$')} {page.command(*step.command)}")
        page.line()
    _write_owners(plan, page)
    write_unread(plan.overview.scan, page)
    done = sum(each.is_done for each in plan.overview.files)
    page.line(f"Done: {done} of {count(len(plan.overview.files), 'file')} with Keras.")
    if plan.steps:
        apply = f"`{page.command('migrate', '--apply')}` does it on a branch; your tests judge."
        write_lines([ADVICE, apply], page)
    else:
        page.line(page.paint("good", "Nothing is left to do."))


def _write_owners(plan: Plan, page: Page) -> None:
    if not plan.owners:
        return
    write_lines([f"{page.paint('path', 'By owner')} ({printable(plan.owned_by)})"], page)
    lines = [f"{_places(each)}: {printable(owner(each))}" for each in plan.owners]
    for line in lines[:_SHOWN]:
        page.line(f"   {line}")
    if lines[_SHOWN:]:
        page.line(f"   … and {len(lines) - _SHOWN} more, all in --json")
    page.line()


def owner(share: Share) -> str:
    """Return who it is, in words where it is nobody."""
    return share.owner or "nobody"


def _places(share: Share) -> str:
    return f"{count(share.places, 'place')} in {count(share.files, 'file')}"


def write_json(plan: Plan, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    page.line(json.dumps(_document(plan, page), indent=2))


def _document(plan: Plan, page: Page) -> dict[str, Any]:
    return {
        "kdoctor": __version__,
        "now": plan.now and _target(plan.now),
        "then": _target(plan.then),
        "steps": [
            {
                "kind": step.kind.value,
                "places": step.places,
                "files": step.files,
                "command": page.command(*step.command) if step.command else None,
            }
            for step in plan.steps
        ],
        "pins": [
            {
                "path": pin.path,
                "line": pin.line,
                "requirement": pin.requirement,
                "instead": pin.instead,
            }
            for pin in plan.pins
        ],
        "neighbours": [
            finding_of(each)
            for step in plan.steps
            if step.kind is StepKind.NEIGHBOURS
            for each in step.findings
        ],
        "stops": [
            {"finding": finding_of(stop.finding), "stopped": list(stop.stopped)}
            for stop in plan.overview.stops
        ],
        "models": list(plan.models),
        "owners": {
            "by": plan.owned_by or None,
            "each": [asdict(each) for each in plan.owners],
        },
        "rules": [
            {**asdict(each), "by_hand": each.by_hand}
            for each in counts(plan.overview.scan.findings)
        ],
        "files": {
            "concerned": len(plan.overview.files),
            "done": sum(each.is_done for each in plan.overview.files),
            "unreadable": [
                {"path": each.path, "why": each.why} for each in plan.overview.scan.unhandled
            ],
        },
    }


def _target(target: Target) -> dict[str, str]:
    return {"name": target.name, "version": target.version, "source": target.source}


def way(plan: Plan) -> str:
    """Return from which Keras to which one it goes."""
    if plan.now is None:
        return f"to {_named(plan.then)}; no file of the project says which Keras it runs on now"
    if plan.now.without_source == plan.then.without_source:
        return f"on {_named(plan.now)}"
    return f"from {_named(plan.now)} to {_named(plan.then)}"


def _named(target: Target) -> str:
    return f"{target} ({printable(target.source)})"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(2, "fix")
    '2 fixes'
    """
    return f"{number} fixes" if noun == "fix" and number != 1 else count(number, noun)


def _lines(step: Step, plan: Plan) -> Iterator[str]:
    match step.kind:
        case StepKind.PINS:
            lines = [
                f"{printable(pin.place)}: {printable(pin.requirement)} -> {pin.instead}"
                for pin in plan.pins
            ]
        case StepKind.NEIGHBOURS:
            lines = [_told(each) for each in step.findings]
        case StepKind.IMPORTS:
            stops = plan.overview.stops
            lines = [f"{_stop(stop)}\n  {cure(stop.finding)}" for stop in stops]
        case StepKind.MODELS:
            lines = [printable(each) for each in plan.models]
        case _:
            lines = _by_rule(step.findings)
    for line in lines[:_SHOWN]:
        yield from (f"   {part}" for part in line.split("\n"))
    if lines[_SHOWN:]:
        yield f"   … and {len(lines) - _SHOWN} more, all in --json"


def _by_rule(findings: Iterable[Finding]) -> list[str]:
    found = Counter((each.code, each.name) for each in findings)
    rows = sorted(found.items(), key=lambda row: (-row[1], row[0]))
    return [f"{number} {code} {name}" for (code, name), number in rows]


def _told(finding: Finding) -> str:
    return f"{where(finding)}: {finding.code} {printable(finding.message)}"


def _stop(stop: Stop) -> str:
    stopped = f"stops {count(len(stop.stopped), 'file')}"
    return f"{where(stop.finding)} {stopped}: {printable(stop.finding.message)}"


def cure(finding: Finding) -> str:
    """Return in one line what can be done about a finding."""
    if finding.fix is not None:
        return f"fix ({finding.fix.applicability}): {printable(titled(finding.fix))}"
    return printable(
        finding.help or f"no fix: {finding.no_fix_because or 'it needs your decision'}"
    )
