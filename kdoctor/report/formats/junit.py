"""JUnit XML: each file that was read is a test case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from kdoctor.engine.result import ScanResult
from kdoctor.model import Finding
from kdoctor.report.formats import Format
from kdoctor.report.links import page_url
from kdoctor.report.locations import SourceRoot, where
from kdoctor.report.output import Page, printable
from kdoctor.report.summary import by_severity, count, in_brackets

_SUITE = "kdoctor"


def _write(result: ScanResult, page: Page) -> None:
    found = {
        path: tuple(group)
        for path, group in groupby(result.findings, key=lambda finding: finding.place.path)
    }
    unread = {file.path: file.why for file in result.unhandled}
    checkout = SourceRoot.here()
    cases = [
        _case(path, checkout.path(path), found.get(path, ()), unread.get(path))
        for path in sorted({*result.files, *found, *unread})
    ]
    totals = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
    }
    suites = ET.Element("testsuites", {"name": _SUITE, **totals})
    suite = ET.SubElement(
        suites, "testsuite", {"name": _SUITE, **totals, "skipped": "0", "time": "0"}
    )
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="target", value=printable(str(result.target)))
    for own in result.own_targets:
        told = printable(f"{own.path}: {own.description}")
        ET.SubElement(properties, "property", name="own target", value=told)
    suite.extend(cases)
    ET.indent(suites)
    page.line('<?xml version="1.0" encoding="UTF-8"?>')
    page.line(ET.tostring(suites, encoding="unicode"))


def _case(path: str, whole: str, findings: Sequence[Finding], why: str | None) -> ET.Element:
    """Return one file's test case, with one failure at most, as some readers require.

    ``whole`` is the path from the top of the repository, by which GitLab finds the file.
    """
    name = printable(path)
    case = ET.Element("testcase", classname=_SUITE, name=name, file=printable(whole), time="0")
    if findings:
        told = f"{count(len(findings), 'finding')}: {by_severity(findings)}"
        codes = Counter(finding.code for finding in findings)
        failure = ET.SubElement(case, "failure", message=told, type=", ".join(sorted(codes)))
        failure.text = "\n".join(_lines(findings))
    if why is not None:
        error = ET.SubElement(case, "error", message=printable(why), type="not checked")
        error.text = printable(f"{path}: not checked: {why}")
    return case


def _lines(findings: Sequence[Finding]) -> Iterable[str]:
    for finding in findings:
        severity = in_brackets(finding)
        yield printable(f"{where(finding)}: {finding.code} [{severity}] {finding.message}")
        if finding.help:
            yield printable(f"    {finding.help}")
    for code in dict.fromkeys(finding.code for finding in findings):
        if url := page_url(code):
            yield f"{code}: {url}"


FORMAT = Format(write=_write, ending=".xml")
