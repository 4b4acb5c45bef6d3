"""Sections of the page: what breaks first, and the status of each file."""

from __future__ import annotations

from kdoctor.model import Applicability, Finding
from kdoctor.progress import Counts, Effort, FileState, Overview, Status, Stop
from kdoctor.report.locations import where
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
    rule_link,
)
from kdoctor.report.summary import count

_MEANINGS = {
    Status.STOPS: "there is an error in code that runs as soon as the file is imported (for a "
    "notebook or document: as its cells run)",
    Status.WAITS: "another file that it imports stops it; whatever is left in itself shows later",
    Status.FAILS: "there is an error in a function or under a condition, which an import does not "
    "run",
    Status.CHANGES: "nothing raises, but results differ from Keras 2",
    Status.LEGACY: "nothing is wrong today; names are deprecated or private",
    Status.DONE: "nothing is left to do",
}


def breaks_first(overview: Overview) -> Markup:
    """Return the errors that stop files on import, those that stop most files first."""
    stops = overview.stops
    failing = sum(each.status is Status.FAILS for each in overview.files)
    later = f"{count(failing, 'file')} can be imported but fail later, when the faulty code runs."
    if failing == 1:
        later = "1 file can be imported but fails later, when the faulty code runs."
    if not stops:
        start = "No file was found to fail on import."
        return element("p", start, f" {later}" if failing else "")
    stopped = sum(len(stop.ways) for stop in stops)
    one = "1 file fails" if stopped == 1 else f"{stopped} files fail"
    places = "this place" if len(stops) == 1 else f"these {len(stops)} places"
    said = (
        f"{one} on import, at {places}: start with the first. More errors may follow once the "
        "first is fixed."
    )
    strange = {path for stop in stops for path in stop.stopped}
    strange -= {each.path for each in overview.files}
    if strange:
        said += f" {len(strange)} of them do not import Keras themselves."
    rows: list[Content] = [_stop(stop, target_again(overview)) for stop in stops]
    return join(element("p", said, f" {later}" if failing else ""), entries(rows))


def _stop(stop: Stop, again: str) -> Markup:
    finding, ways = stop.finding, stop.ways
    others = [way for way in ways if way[0] != finding.place.path]
    if not others:
        falls: Content = element("p", "It stops only this file.", class_="quiet")
    else:
        summary = f"It stops {count(len(ways), 'file')}"
        if len(others) == len(ways) - 1:
            summary += ": this one and those that import it"
        falls = folded(summary, listed([_way(way) for way in others]))
    return join(
        element("div", element("strong", code(where(finding))), " ", rule_link(finding.code)),
        element("div", prose(finding.message)),
        element("div", prose(finding.help)) if finding.help else None,
        element("div", _cure(finding, again)),
        falls,
    )


def target_again(overview: Overview) -> str:
    """Return the option that asks another command about the same Keras, "" if none was typed."""
    target = overview.scan.target
    is_typed = target.source.startswith("--target")
    return f" --target {target.name}=={target.version}" if is_typed else ""


def _cure(finding: Finding, again: str) -> Markup:
    """Return what can be done about an error, with the command that does it."""
    fix = finding.fix
    if fix is None:
        return join("No fix: ", prose(finding.no_fix_because or "it needs your decision"), ".")
    if fix.applicability is Applicability.MANUAL:
        return join("By hand: ", prose(fix.title), ".")
    flags = "" if fix.applicability is Applicability.SAFE else " --unsafe"
    command = f"kdoctor fix {finding.place.path} --select {finding.code}{flags}{again}"
    return join("A fix is available (", fix.applicability, "): ", code(command))


def _way(way: tuple[str, ...]) -> Markup:
    """Return ``train.py → pkg/__init__.py → pkg/losses.py``."""
    return join(*map(code, way), by=" → ")


def every_file(overview: Overview) -> Markup:
    """Return the files grouped by status."""
    if not overview.files:
        return Markup()
    parts: list[Content] = []
    for status in Status:
        files = [each for each in overview.files if each.status is status]
        if not files:
            continue
        parts.append(element("h3", f"{_sentence(status)}: {count(len(files), 'file')}"))
        parts.append(element("p", f"{_sentence(_MEANINGS[status])}.", class_="quiet"))
        files.sort(key=lambda file: (-file.left.total, file.path))
        names: list[Content] = [_file(file) for file in files]
        parts.append(folded("Which files", listed(names)))
    return join(*parts)


def _file(file: FileState) -> Markup:
    left = f": {by_effort(file.left)}" if file.left.total else ""
    waits = None
    if file.waits_for not in (None, file.path):
        waits = join("; stopped by ", code(str(file.waits_for)), ", which it imports")
    return join(code(file.path), left, waits)


def by_effort(left: Counts) -> str:
    """Return ``3 safe, 1 by hand``."""
    return ", ".join(f"{left[effort]} {effort}" for effort in Effort if left[effort])


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
