"""Text: findings with the marked source line, then a summary and what to run next."""

from __future__ import annotations

from itertools import groupby

from kdoctor.engine.result import ScanResult
from kdoctor.model import Applicability, Finding
from kdoctor.report import statistics, summary
from kdoctor.report.fix_title import titled
from kdoctor.report.formats import Format
from kdoctor.report.locations import code_shown, where_shown
from kdoctor.report.output import Page, printable
from kdoctor.report.source import excerpt


def _write(result: ScanResult, page: Page) -> None:
    if page.verbosity >= 0:
        page.line(summary.headline(result))
        page.line()
    write_findings(result, page)
    summary.write_unread(result, page)
    if page.verbosity >= 0:
        for line in summary.of_scan(result, page):
            page.line(line)


def write_findings(result: ScanResult, page: Page) -> None:
    """Write the findings, each followed by an empty line, a rule's help once per file."""
    for _, group in groupby(result.findings, key=lambda finding: finding.place.path):
        told: set[tuple[str, str]] = set()
        rows: list[str] = []
        for finding in group:
            rows += _rows(finding, result, page, repeated=(finding.code, finding.help) in told)
            told.add((finding.code, finding.help))
        page.line("\n".join(rows))  # at once: a write costs as much as what is in it


def _rows(finding: Finding, result: ScanResult, page: Page, *, repeated: bool) -> list[str]:
    place = finding.place
    severity = page.paint(finding.severity, f"[{summary.in_brackets(finding)}]")
    head = f"{where_shown(finding, page)}: {code_shown(finding, page)} {severity}"
    rows = [f"{head} {printable(finding.message)}"]
    line = result.lines.get(place)
    if line is not None:
        rows += excerpt(line, place, page)
    if finding.help and not repeated:
        rows.append(f"  {page.paint('help', 'help:')} {printable(finding.help)}")
    return [*rows, f"  {_cure(finding, page)}", ""]


def _cure(finding: Finding, page: Page) -> str:
    fix = finding.fix
    if fix is None:
        return f"no fix: {printable(finding.no_fix_because or 'it needs your decision')}"
    if fix.applicability is Applicability.MANUAL:
        return f"by hand: {printable(fix.title)}"
    label = page.paint(fix.applicability, f"fix available ({fix.applicability}):")
    return f"{label} {printable(titled(fix))}"


FORMAT = Format(write=_write, statistics=statistics.write_text, ending=".txt")
