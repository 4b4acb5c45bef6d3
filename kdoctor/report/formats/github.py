"""GitHub Actions: annotations on the lines of a pull request, as workflow commands.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from kdoctor.engine.result import ScanResult
from kdoctor.model import Finding, Severity
from kdoctor.report.formats import Format
from kdoctor.report.links import page_url
from kdoctor.report.locations import SourceRoot, where
from kdoctor.report.output import Page, printable
from kdoctor.report.summary import how_sure

_COMMANDS = {Severity.ERROR: "error", Severity.CHANGE: "warning", Severity.LEGACY: "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def _write(result: ScanResult, page: Page) -> None:
    checkout = SourceRoot.here()
    for finding in result.findings:
        page.line(_annotation(finding, result, checkout))
    for own in result.own_targets:
        told = f"{printable(own.path)}: {printable(own.description)}"
        properties = {"title": "kdoctor: another target", "file": checkout.path(own.path)}
        page.line(_command("notice", properties, told))
    for file in result.unhandled:
        told = f"{printable(file.path)}: not checked: {printable(file.why)}"
        properties = {"title": "kdoctor: not checked", "file": checkout.path(file.path)}
        page.line(_command("error", properties, told))


def _annotation(finding: Finding, result: ScanResult, checkout: SourceRoot) -> str:
    region = result.region(finding.place)
    properties = {
        "title": f"kdoctor {finding.code} ({finding.name})",
        "file": checkout.path(finding.place.path),
        "line": str(region.line),
        "endLine": str(region.end_line),
    }
    if region.line == region.end_line:  # GitHub takes columns of one line only
        properties |= {"col": str(region.column), "endColumn": str(region.end_column)}
    # The log shows nothing but the message, so it begins with the place.
    sure = "".join(f" ({each})" for each in how_sure(finding))
    told = f"{where(finding)}: {finding.code} {printable(finding.message)}{sure}"
    if finding.help:
        told += f"\n{printable(finding.help)}"
    if url := page_url(finding.code):
        told += f"\n{url}"
    return _command(_COMMANDS[finding.severity], properties, told)


def _command(name: str, properties: dict[str, str], data: str) -> str:
    told = ",".join(
        f"{key}={printable(value.translate(_PROPERTY))}" for key, value in properties.items()
    )
    return f"::{name} {told}::{data.translate(_DATA)}"


FORMAT = Format(write=_write)
