"""Reviewdog Diagnostic Format: findings as comments of a code review.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from kdoctor.engine.result import ScanResult
from kdoctor.model import Applicability, Finding, Fix, Region, Severity
from kdoctor.report.formats import Format
from kdoctor.report.links import page_url
from kdoctor.report.locations import SourceRoot
from kdoctor.report.output import Page
from kdoctor.report.summary import how_sure
from kdoctor.rewrite.source_lines import LINE_BREAK

_SEVERITIES: Final = {
    Severity.ERROR: "ERROR",
    Severity.CHANGE: "WARNING",
    Severity.LEGACY: "INFO",
}


def _write(result: ScanResult, page: Page) -> None:
    checkout = SourceRoot.here()
    lines = cache(_lines_of)
    diagnostics = [
        _diagnostic(finding, result.region(finding.place), lines(finding.place.path), checkout)
        for finding in result.findings
    ]
    diagnostics += [
        _of_a_file(f"not checked: {file.why}", file.path, "ERROR", checkout)
        for file in result.unhandled
    ]
    diagnostics += [
        _of_a_file(own.description, own.path, "INFO", checkout) for own in result.own_targets
    ]
    page.line(json.dumps({"source": {"name": "kdoctor"}, "diagnostics": diagnostics}, indent=2))


def _diagnostic(
    finding: Finding, region: Region, lines: list[str], checkout: SourceRoot
) -> dict[str, Any]:
    cell = "" if finding.place.cell is None else f" (cell {finding.place.cell})"
    sure = "".join(f" ({each})" for each in how_sure(finding))
    told = f"{finding.message}{sure}{cell}"
    url = page_url(finding.code)
    changes = _suggestions(finding.fix, lines)
    return {
        "message": f"{told}\n{finding.help}" if finding.help else told,
        "location": {
            "path": checkout.text(finding.place.path),
            "range": _range(region, lines),
        },
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code, **({"url": url} if url else {})},
        **({"suggestions": changes} if changes else {}),
    }


def _of_a_file(message: str, path: str, severity: str, checkout: SourceRoot) -> dict[str, Any]:
    location = {"path": checkout.text(path), "range": {"start": {"line": 1}}}
    return {"message": message, "location": location, "severity": severity}


def _suggestions(fix: Fix | None, lines: list[str]) -> list[dict[str, Any]]:
    """Return the fix, where one replacement is all of it and a proof calls it safe.

    A reviewer accepts each suggestion by itself: half a fix, the use without its import, would
    break the code.
    """
    if fix is None or fix.applicability is not Applicability.SAFE or len(fix.replacements) != 1:
        return []
    (change,) = fix.replacements
    where = _range(change.region, lines)
    return [{"range": where, "text": change.text}] if "column" in where["start"] else []


def _range(region: Region, lines: list[str]) -> dict[str, Any]:
    """Return a region with columns in bytes of UTF-8; whole lines where the text is not at hand."""
    start = _position(region.line, region.column, lines)
    end = _position(region.end_line, region.end_column, lines)
    if len(start) != len(end):
        start, end = {"line": region.line}, {"line": region.end_line}
    return {"start": start, "end": end}


def _position(line: int, column: int, lines: list[str]) -> dict[str, int]:
    if line > len(lines):
        return {"line": line}
    return {"line": line, "column": len(lines[line - 1][: column - 1].encode()) + 1}


def _lines_of(path: str) -> list[str]:
    """Return the lines of a file, none where it cannot be read as UTF-8 (standard input)."""
    try:
        return LINE_BREAK.split(Path(path).read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError):
        return []


FORMAT = Format(write=_write, replacements=True)
