"""Findings counted by rule and by the kind of fix."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import asdict

from kdoctor import __version__
from kdoctor.engine.result import ScanResult
from kdoctor.model import Applicability, Finding
from kdoctor.report import summary
from kdoctor.report.locations import rule_shown
from kdoctor.report.output import Page

_HEADINGS = ("findings", "rule", "", "safe", "unsafe", "by hand")


class Count(Struct, frozen=True):
    """The number of findings of one rule, in total and by the applicability of their fix."""

    code: str
    name: str
    findings: int
    safe: int
    unsafe: int

    @property
    def by_hand(self) -> int:
        """The number of findings without an automatic fix."""
        return self.findings - self.safe - self.unsafe


def counts(findings: Iterable[Finding]) -> list[Count]:
    """Return one count per rule, the most frequent first."""
    by_rule: dict[tuple[str, str], Counter[Applicability | None]] = defaultdict(Counter)
    for finding in findings:
        fix = finding.fix
        by_rule[finding.code, finding.name][fix.applicability if fix else None] += 1
    rows = [
        Count(*rule, found.total(), found[Applicability.SAFE], found[Applicability.UNSAFE])
        for rule, found in by_rule.items()
    ]
    return sorted(rows, key=lambda row: (-row.findings, row.code))


def write_text(result: ScanResult, page: Page) -> None:
    """Write a table, and what could not be checked."""
    if result.findings:
        write_table(result.findings, page)
    summary.write_unread(result, page)
    if page.verbosity >= 0:
        if result.findings:
            page.line()
        summary.write_lines(summary.of_scan(result, page), page)


def write_table(findings: Iterable[Finding], page: Page) -> None:
    """Write a line for each rule: how often it was found, and what can be done."""
    counted = [
        (str(row.findings), row.code, row.name, str(row.safe), str(row.unsafe), str(row.by_hand))
        for row in counts(findings)
    ]
    rows: list[tuple[str, ...]] = [_HEADINGS, *counted]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        count, code, name, *cures = (
            cell.ljust(width) if column in {1, 2} else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        told = rule_shown(row[1], row[2], page, len(code)) if number else page.paint("quiet", code)
        shown = "  ".join([count, told, name, *cures])
        page.line(shown if number else page.paint("quiet", shown))


def write_json(result: ScanResult, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    document = {
        "kdoctor": __version__,
        "statistics": [_row(row) for row in counts(result.findings)],
        "files": {
            "read": result.read,
            "unreadable": [{"path": file.path, "why": file.why} for file in result.unreadable],
        },
    }
    page.line(_json(document, indent=2))


def write_lines(result: ScanResult, page: Page) -> None:
    """Write one object per line: one for each rule, then what could not be checked."""
    for row in counts(result.findings):
        page.line(_json({"type": "statistic", **_row(row)}))
    for file in result.unreadable:
        page.line(_json({"type": "unreadable", "path": file.path, "why": file.why}))


def _json(document: object, indent: int | None = None) -> str:
    import json  # noqa: PLC0415 - text has no need of it

    return json.dumps(document, indent=indent)


def _row(row: Count) -> dict[str, object]:
    return {**asdict(row), "by_hand": row.by_hand}
