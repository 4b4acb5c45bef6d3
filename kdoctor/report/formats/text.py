"""Text: findings with the marked source line, then a summary and what to run next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from kdoctor.engine.result import ScanResult
from kdoctor.model import Applicability, Finding
from kdoctor.report import statistics, summary
from kdoctor.report.fix_title import titled
from kdoctor.report.formats import Format
from kdoctor.report.locations import code_shown, where_shown
from kdoctor.report.output import Page, printable
from kdoctor.report.source import excerpt

_STDIN = "-"
_FEW = 10  # findings, of which one needs no table to see what they are


def _write(result: ScanResult, page: Page) -> None:
    if page.verbosity >= 0:
        summary.write_lines(summary.headline(result).split("\n"), page)
        page.line()
    write_findings(result, page)
    if page.verbosity >= 0 and len(result.findings) > _FEW:
        statistics.write_table(result.findings, page)
        page.line()
    summary.write_unread(result, page)
    if page.verbosity >= 0:
        summary.write_lines(summary.of_scan(result, page), page)
        if len(result.findings) > _FEW and result.files != (_STDIN,):
            order = f"`{page.command('migrate')}` tells in which order, and what breaks first."
            summary.write_lines([order], page)


def write_findings(result: ScanResult, page: Page) -> None:
    """Write the findings, each followed by an empty line.

    Those that say the same of the same name are one where the page is folded, with all places.
    """
    blocks = _blocks(result, folded=page.folded)
    for _, group in groupby(blocks, key=lambda block: block[0].place.path):
        told: set[tuple[str, str]] = set()
        rows: list[str] = []
        for finding, *others in group:
            repeated = (finding.code, finding.help) in told
            rows += [*_rows(finding, result, page, repeated=repeated), *_others(others, page), ""]
            told.add((finding.code, finding.help))
        page.line("\n".join(rows))  # at once: a write costs as much as what is in it


def write_finding(finding: Finding, result: ScanResult, page: Page) -> None:
    """Write one finding with its line, its help and what can be done."""
    page.line("\n".join(_rows(finding, result, page, repeated=False)))


def _blocks(result: ScanResult, *, folded: bool) -> Iterable[list[Finding]]:
    """Return the findings that are told together, in the order of the first of them."""
    if not folded:
        return ([finding] for finding in result.findings)
    blocks: dict[tuple[object, ...], list[Finding]] = {}
    for finding in result.findings:
        blocks.setdefault(_told_of(finding), []).append(finding)
    return blocks.values()


def _told_of(finding: Finding) -> tuple[object, ...]:
    """Return what has to be the same of two findings for one to stand for both."""
    fix = finding.fix
    cure = (fix.applicability, fix.unsafe_because) if fix else finding.no_fix_because
    return (finding.code, finding.message, finding.symbol, *summary.how_sure(finding), cure)


def _others(others: Sequence[Finding], page: Page) -> list[str]:
    """Return the lines with the places of more findings, those of each file together."""
    rows: list[str] = []
    for _, group in groupby(others, key=lambda finding: finding.place.path):
        first, *rest = group
        places = [where_shown(first, page)]
        for before, each in pairwise((first, *rest)):
            cell = each.place.cell if each.place.cell != before.place.cell else None
            inside = "" if cell is None else f"cell {cell}:"
            places.append(f"{inside}{each.place.line}:{each.place.column}")
        lead = "  also: " if not rows else "        "
        rows += page.wrapped(f"{lead}{', '.join(places)}", " " * 8)
    return rows


def _rows(finding: Finding, result: ScanResult, page: Page, *, repeated: bool) -> list[str]:
    place = finding.place
    severity = page.paint(finding.severity, f"[{summary.in_brackets(finding)}]")
    head = f"{where_shown(finding, page)}: {code_shown(finding, page)} {severity}"
    rows = page.wrapped(f"{head} {printable(finding.message)}", "  ")
    line = result.lines.get(place)
    if line is not None:
        rows += excerpt(line, place, page)
    if finding.help and not repeated:
        rows += page.wrapped(f"  {page.paint('help', 'help:')} {printable(finding.help)}", " " * 8)
    return [*rows, *page.wrapped(f"  {_cure(finding, page)}", "    ")]


def _cure(finding: Finding, page: Page) -> str:
    fix = finding.fix
    if fix is None:
        return f"no fix: {printable(finding.no_fix_because or 'it needs your decision')}"
    if fix.applicability is Applicability.MANUAL:
        return f"by hand: {printable(fix.title)}"
    label = page.paint(fix.applicability, f"fix available ({fix.applicability}):")
    return f"{label} {printable(titled(fix))}"


FORMAT = Format(write=_write, statistics=statistics.write_text, ending=".txt")
