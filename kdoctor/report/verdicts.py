"""Reports of the verifier's verdicts, for people and programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace

from kdoctor.report.output import Page, printable
from kdoctor.report.summary import count
from kdoctor.verify.user.results import TENSORFLOW, TITLES, Report, Verdict, VerdictState

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
    for several in _by_definition(report):
        if several[0].path != path:
            path = several[0].path
            page.line(page.paint("path", printable(path)))
        _write(several, page)
    for unreadable, why in report.unreadable:
        page.line(f"{page.paint('path', printable(unreadable))}: not checked: {printable(why)}")
    if report.verdicts or report.unreadable:
        page.line()
    page.line(_summary(report))


def write_json(report: Report, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    document = {
        "backends": list(report.backends),
        "missing": [{"backend": each, "why": why} for each, why in report.missing],
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


def _by_definition(report: Report) -> list[list[Verdict]]:
    """Return the verdicts of each definition: one, or one for each backend."""
    found: list[list[Verdict]] = []
    count = len(report.backends) or 1
    for number, each in enumerate(report.verdicts):
        if number % count:
            found[-1].append(each)
        else:
            found.append([each])
    return found


def _write(several: list[Verdict], page: Page) -> None:
    """Write the verdicts on a definition; one line if all backends have the same."""
    first = several[0]
    kind = f" ({first.kind})" if first.kind else ""
    cell = "" if first.cell is None else f"cell {first.cell}:"
    title = f"  {cell}{first.line}: {printable(first.name)}{kind}"
    if all(replace(each, backend=first.backend) == first for each in several) and (
        len(several) > 1 or first.backend == TENSORFLOW
    ):
        state = page.paint(_ROLES[first.state], first.state.value)
        page.line(f"{title}: {state}{_details(first)}")
        _write_notes(first, page, "      ")
        return
    page.line(title)
    shared = [note for note in first.notes if all(note in each.notes for each in several)]
    hints = [hint for hint in first.hints if all(hint in each.hints for each in several)]
    _write_notes(replace(first, notes=tuple(shared), hints=tuple(hints)), page, "      ")
    for each in several:
        state = page.paint(_ROLES[each.state], _state_of_backend(each.state))
        page.line(f"      {TITLES[each.backend]}: {state}{_details(each)}")
        own = tuple(note for note in each.notes if note not in shared)
        others = tuple(hint for hint in each.hints if hint not in hints)
        _write_notes(replace(each, notes=own, hints=others), page, "          ")


def _state_of_backend(state: VerdictState) -> str:
    """Return a state as it is told beside the name of a backend."""
    return "cannot be run" if state is VerdictState.NOT_ON_KERAS_3 else state.value


def _write_notes(verdict: Verdict, page: Page, margin: str) -> None:
    for note in verdict.notes:
        page.line(f"{margin}{printable(note)}")
    for hint in verdict.hints:
        page.line(f"{margin}{page.paint('help', 'hint')}: {printable(hint)}")


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
    lines = _counted(report)
    if report.left:
        fixes = f" ({report.unsafe} with a fix that --unsafe uses)" if report.unsafe else ""
        errors = count(report.left, "error")
        lines.append(
            f"The fix leaves {errors} in code that cannot run on Keras 3{fixes}: "
            "`kdoctor scan` shows them."
        )
    told = [version for _, version in report.versions]
    sides = " and ".join(told) if len(told) < 3 else "; ".join(told)
    if sides:
        alone = "" if report.sandboxed else ", without the sandbox"
        lines.append(f"Run with {sides}, on {report.interpreter} ({report.because}){alone}.")
    return "\n".join(map(printable, lines))


def _counted(report: Report) -> list[str]:
    """Return how many definitions have which state, with each backend; what is not compared."""
    definitions = count(len(_by_definition(report)), "definition")
    if set(report.backends) <= {TENSORFLOW}:
        return [f"{definitions}: {_states(report.verdicts)}.", *_missing(report)]
    lines = [f"{definitions}, on each backend:"]
    for backend in report.backends:
        own = [each for each in report.verdicts if each.backend == backend]
        names = sorted({name for each in own for name in each.uncompared})
        apart = f" (not compared: {', '.join(names)})" if names else ""
        lines.append(f"  {TITLES[backend]}: {_states(own, of_backend=True)}{apart}.")
    return [*lines, *_missing(report)]


def _states(verdicts: Iterable[Verdict], *, of_backend: bool = False) -> str:
    counted = Counter(each.state for each in verdicts)
    return ", ".join(
        f"{counted[state]} {_state_of_backend(state) if of_backend else state.value}"
        for state in VerdictState
        if counted[state]
    )


def _missing(report: Report) -> list[str]:
    return [f"{why}." for _, why in report.missing]


def _finite(value: float | None) -> float | None:
    return value if value is not None and abs(value) < float("inf") else None


def write_kept_back(unwritten: Mapping[str, str], in_part: Mapping[str, str], page: Page) -> None:
    """Write the files that are not written, or only in part, and why."""
    for path, why in unwritten.items():
        page.line(f"{page.paint('path', printable(path))}: not written: {printable(why)}")
    for path, why in in_part.items():
        page.line(f"{page.paint('path', printable(path))}: partly fixed: {printable(why)}")
