"""Reports of the verifier's verdicts, for people and programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict

from kdoctor.report.output import Page, printable
from kdoctor.report.summary import count
from kdoctor.verify.user.results import Report, Verdict, VerdictState

_ROLES = {
    VerdictState.EQUAL: "good",
    VerdictState.DIFFERENT: "error",
    VerdictState.NOT_ON_KERAS_2: "change",
    VerdictState.NOT_ON_KERAS_3: "error",
    VerdictState.NOT_TRIED: "quiet",
}


def write_verdicts(report: Report, page: Page) -> None:
    """Write each definition with its verdict, and what it was run with."""
    path = ""
    for each in report.verdicts:
        if each.path != path:
            page.line(page.paint("path", printable(each.path)))
            path = each.path
        _write(each, page)
    for unreadable, why in report.unreadable:
        page.line(f"{page.paint('path', printable(unreadable))}: not checked: {printable(why)}")
    if report.verdicts or report.unreadable:
        page.line()
    page.line(_summary(report))


def write_json(report: Report, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    document = {
        "interpreter": report.interpreter,
        "because": report.because,
        "versions": dict(report.versions),
        "sandboxed": report.sandboxed,
        "definitions": [
            {**asdict(each), "state": each.state.value, "largest": _finite(each.largest)}
            for each in report.verdicts
        ],
        "left": {"errors": report.left, "with_an_unsafe_fix": report.unsafe},
        "unreadable": [{"path": path, "why": why} for path, why in report.unreadable],
    }
    page.line(json.dumps(document, indent=2))


def _write(verdict: Verdict, page: Page) -> None:
    kind = f" ({verdict.kind})" if verdict.kind else ""
    state = page.paint(_ROLES[verdict.state], verdict.state.value)
    cell = "" if verdict.cell is None else f"cell {verdict.cell}:"
    page.line(
        f"  {cell}{verdict.line}: {printable(verdict.name)}{kind}: {state}{_details(verdict)}"
    )
    for note in verdict.notes:
        page.line(f"      {printable(note)}")
    for hint in verdict.hints:
        page.line(f"      {page.paint('help', 'hint')}: {printable(hint)}")


def _details(verdict: Verdict) -> str:
    match verdict.state:
        case VerdictState.EQUAL:
            cases = count(verdict.cases, "case")
            if not verdict.share:
                return f" in {cases}, to the last digit"
            return (
                f" in {cases}: the largest difference is {_percent(verdict.share)} of the "
                f"tolerance ({verdict.tolerance or 0.0:.0e} of a value)"
            )
        case VerdictState.DIFFERENT:
            return (
                f" in {printable(verdict.where)}, with {verdict.input}: {printable(verdict.told)}"
            )
    return f": {printable(verdict.why)}"


def _percent(share: float) -> str:
    """Return a share as a percentage; a small one is not shown as zero."""
    return "less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _summary(report: Report) -> str:
    if not report.verdicts:
        return "No Keras definition was found: nothing to verify."
    counted = Counter(each.state for each in report.verdicts)
    told = ", ".join(f"{counted[state]} {state.value}" for state in VerdictState if counted[state])
    lines = [f"{count(len(report.verdicts), 'definition')}: {told}."]
    if report.left:
        fixes = f" ({report.unsafe} with a fix that --unsafe uses)" if report.unsafe else ""
        errors = count(report.left, "error")
        lines.append(
            f"The fix leaves {errors} in code that cannot run on Keras 3{fixes}: "
            "`kdoctor scan` shows them."
        )
    sides = " and ".join(version for _, version in report.versions)
    if sides:
        alone = "" if report.sandboxed else ", without the sandbox"
        lines.append(f"Run with {sides}, on {report.interpreter} ({report.because}){alone}.")
    return "\n".join(map(printable, lines))


def _finite(value: float | None) -> float | None:
    return value if value is not None and abs(value) < float("inf") else None


def write_kept_back(unwritten: Mapping[str, str], in_part: Mapping[str, str], page: Page) -> None:
    """Write the files that are not written, or only in part, and why."""
    for path, why in unwritten.items():
        page.line(f"{page.paint('path', printable(path))}: not written: {printable(why)}")
    for path, why in in_part.items():
        page.line(f"{page.paint('path', printable(path))}: partly fixed: {printable(why)}")
