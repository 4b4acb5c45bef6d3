"""JSON: one object, a contract for programs. Fields are added, never renamed or removed."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import asdict

from kdoctor import __version__
from kdoctor.engine.result import OwnTarget, ScanResult
from kdoctor.model import Finding, Fix
from kdoctor.report import statistics
from kdoctor.report.fix_title import titled
from kdoctor.report.formats import Format
from kdoctor.report.links import page_url
from kdoctor.report.output import Page
from kdoctor.target import Target


def _write(result: ScanResult, page: Page) -> None:
    # ASCII only: a path that is no UTF-8 (surrogates) and any terminal encoding get through.
    page.line(json.dumps(document_of(result), indent=2))


def document_of(result: ScanResult) -> dict[str, Any]:
    """Return a scan as a JSON-ready dict."""
    target, project = result.target, result.project
    return {
        "kdoctor": __version__,
        "target": target_of(target),
        "targets": [
            {
                "name": use.target.name,
                "version": use.target.version,
                "source": use.target.source,
                "files": use.files,
            }
            for use in result.targets
        ],
        "own_targets": [own_target_of(own) for own in result.own_targets],
        "findings": [finding_of(finding) for finding in result.findings],
        "suppressed": len(result.suppressed),
        "files": {
            "read": result.read,
            "skipped": len(result.skipped),
            "saved_models": result.saved_models,
            "unreadable": [{"path": file.path, "why": file.why} for file in result.unhandled],
        },
        "conflicts": list(project.conflicts),
        "remarks": list(project.remarks),
    }


def target_of(target: Target) -> dict[str, Any]:
    """Return a target as a JSON-ready dict; ``beside`` only where there are several."""
    described: dict[str, Any] = {
        "name": target.name,
        "version": target.version,
        "source": target.source,
    }
    if target.beside:
        described["beside"] = [
            {"name": each.name, "version": each.version} for each in target.beside
        ]
    return described


def own_target_of(own: OwnTarget) -> dict[str, Any]:
    """Return as a JSON-ready dict that a file's own code chooses another target."""
    return {
        "path": own.path,
        "asked": own.run_target,
        "tf.keras": own.keras or f"tf_keras {own.tf_keras}",
        "why": own.why,
        "counts": own.counts,
    }


def finding_of(finding: Finding) -> dict[str, Any]:
    """Return a finding as a JSON-ready dict.

    The places of ``edits`` are those in the file itself: in a notebook, of its JSON. ``url`` is the
    page of its rule, None where this distribution names no documentation.
    """
    place, fix = finding.place, finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "cell": place.cell,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "symbol": finding.symbol,
        "fix": fix and _fix(fix),
        "no_fix_because": finding.no_fix_because,
        "url": page_url(finding.code),
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": fix.applicability.value,
        "title": titled(fix),
        "diff": fix.diff,
        "edits": [{**asdict(each.region), "text": each.text} for each in fix.replacements],
    }


FORMAT = Format(
    write=_write,
    diffs=True,
    replacements=True,
    statistics=statistics.write_json,
    ending=".json",
)
