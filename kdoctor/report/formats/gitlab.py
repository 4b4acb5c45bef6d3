"""GitLab Code Quality: findings in merge requests.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from kdoctor.engine.result import ScanResult
from kdoctor.model import Finding, Severity
from kdoctor.report.formats import Format
from kdoctor.report.links import page_url
from kdoctor.report.locations import SourceRoot
from kdoctor.report.output import Page
from kdoctor.report.summary import how_sure

_SEVERITIES = {Severity.ERROR: "critical", Severity.CHANGE: "major", Severity.LEGACY: "minor"}


def _write(result: ScanResult, page: Page) -> None:
    checkout = SourceRoot.here()
    known = _fingerprints(result)
    issues = [_issue(finding, known[finding], result, checkout) for finding in result.findings]
    issues += [
        {
            "description": f"not checked: {file.why}",
            "check_name": "not-checked",
            "fingerprint": _digest("not checked", file.path),
            "severity": "blocker",
            "location": {"path": checkout.text(file.path), "lines": {"begin": 1}},
        }
        for file in result.unhandled
    ]
    issues += [
        {
            "description": own.description,
            "check_name": "another-target",
            "fingerprint": _digest("another target", own.path),
            "severity": "info",
            "location": {"path": checkout.text(own.path), "lines": {"begin": 1}},
        }
        for own in result.own_targets
    ]
    page.line(json.dumps(issues, indent=2))


def _issue(
    finding: Finding, fingerprint: str, result: ScanResult, checkout: SourceRoot
) -> dict[str, Any]:
    place, region = finding.place, result.region(finding.place)
    sure = "".join(f" ({each})" for each in how_sure(finding))
    cell = "" if place.cell is None else f" (cell {place.cell}, line {place.line})"
    url = page_url(finding.code)
    # What GitLab does not show, other readers of Code Climate's format do.
    page = {"content": {"body": f"[{finding.code} {finding.name}]({url})"}} if url else {}
    return {
        "description": f"{finding.code}: {finding.message}{sure}{cell}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": checkout.text(place.path),
            "lines": {"begin": region.line, "end": region.end_line},
        },
        **page,
    }


def _fingerprints(result: ScanResult) -> dict[Finding, str]:
    """Return unique fingerprints, by which GitLab recognizes findings.

    Two files of the same code have the same findings: only of these the file counts, too.
    """
    if not result.findings:
        return {}
    from kdoctor.engine.identity.fingerprints import fingerprints  # noqa: PLC0415 - a clean scan needs none

    known = fingerprints(result)
    often = Counter(known[finding] for finding in result.findings)
    return {
        finding: digest if often[digest] == 1 else _digest(digest, finding.place.path)
        for finding, digest in known.items()
    }


def _digest(*parts: str) -> str:
    text = "\0".join(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


FORMAT = Format(write=_write, fingerprints=True)
