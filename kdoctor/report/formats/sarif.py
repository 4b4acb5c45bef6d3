"""SARIF 2.1.0, for dashboards, editors and GitHub code scanning.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from kdoctor import __version__
from kdoctor.engine.result import ScanResult
from kdoctor.errors import UsageProblem
from kdoctor.model import Finding, Fix, Region, Severity
from kdoctor.report.fix_title import titled
from kdoctor.report.formats import Format
from kdoctor.report.links import home_url, page_url
from kdoctor.report.locations import SourceRoot
from kdoctor.report.output import Page

Object = dict[str, Any]

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_TOP = "%SRCROOT%"
BASES = {_TOP: {"description": {"text": "The root of the repository that contains the files."}}}
_FINGERPRINT = "kdoctorFingerprint/v1"
_LEVELS = {Severity.ERROR: "error", Severity.CHANGE: "warning", Severity.LEGACY: "note"}
_GITHUB_LEVELS = {"error": "error", "warning": "warning", "note": "recommendation"}
_NOT_CHECKED, _SKIPPED, _CONFLICT = "not-checked", "skipped", "conflict"
_OWN_TARGET = "own-target"
_NOTIFICATIONS = {
    _NOT_CHECKED: "A file could not be read, or is not Python: it was not checked.",
    _SKIPPED: "A code block was skipped because it is not Python.",
    _CONFLICT: "The files that name the target contradict each other.",
    _OWN_TARGET: "The code of a file chooses which Keras its `tf.keras` is.",
}
_LINK = re.compile(r"\[(?=[^\[\]]*\]\()")  # `[a](b)` in a message is a link


def _write(result: ScanResult, page: Page) -> None:
    # ASCII only: any reader's encoding gets through.
    page.line(json.dumps(_log(result, page), indent=2))


def _log(result: ScanResult, page: Page) -> Object:
    checkout = SourceRoot.here()
    silenced = (each.finding for each in result.suppressed)
    told = sorted(
        {*result.findings, *result.known, *silenced}, key=lambda each: (each.place, each.code)
    )
    rules = list(dict.fromkeys((each.code, each.name) for each in sorted(told, key=_by_rule)))
    results = list(_results(told, [code for code, _ in rules], result, checkout))
    driver = {
        "name": "kdoctor",
        "version": __version__,
        "semanticVersion": __version__,
        "language": "en",
        "rules": [_rule(code, name) for code, name in rules],
        "notifications": [
            {"id": key, "shortDescription": {"text": text}} for key, text in _NOTIFICATIONS.items()
        ],
    }
    if home := home_url():
        driver["informationUri"] = home
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(result, checkout, page)],
        "originalUriBaseIds": BASES,
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": results,
        "properties": {
            "target": f"{result.target}",
            "targetSource": result.target.source,
            "filesRead": result.read,
        },
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _by_rule(finding: Finding) -> str:
    return finding.code


def _rule(code: str, name: str) -> Object:
    from kdoctor.report.rule_help import markdown, section  # noqa: PLC0415 - imports the rules
    from kdoctor.rules import rule_by_code  # noqa: PLC0415

    try:
        rule = rule_by_code(code)
    except UsageProblem:  # found by the engine itself
        return {"id": code, "name": name}
    level = _LEVELS[rule.severity]
    told = {
        "id": code,
        "name": name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": section(rule, "What it does") or rule.summary},
        "help": {"text": rule.docs, "markdown": markdown(rule)},
        "defaultConfiguration": {"level": level},
        "properties": {
            "family": rule.family,
            "severity": rule.severity.value,
            "tags": ["keras", rule.family, rule.severity.value],
            "problem.severity": _GITHUB_LEVELS[level],
        },
    }
    if url := page_url(code):
        told["helpUri"] = url
    return told


def _results(
    findings: Sequence[Finding], codes: Sequence[str], result: ScanResult, checkout: SourceRoot
) -> Iterator[Object]:
    if not findings:
        return
    from kdoctor.engine.identity.fingerprints import fingerprints  # noqa: PLC0415 - a clean scan needs none

    digests = fingerprints(result)
    accepted = set(result.known)
    silenced = {each.finding: each for each in result.suppressed}
    for finding in findings:
        told: Object = {
            "ruleId": finding.code,
            "ruleIndex": codes.index(finding.code),
            "level": _LEVELS[finding.severity],
            "message": {"text": _message(finding)},
            "locations": [_location(finding, result, checkout)],
            "partialFingerprints": {_FINGERPRINT: digests[finding]},
            "properties": _properties(finding),
        }
        if finding.fix is not None and finding.fix.replacements:
            told["fixes"] = [_fix(finding.fix, artifact_of(finding.place.path, checkout))]
        if accepted:
            told["baselineState"] = "unchanged" if finding in accepted else "new"
        if finding in accepted:
            told["suppressions"] = [_suppression("external", "accepted in the baseline")]
        if finding in silenced:
            told["suppressions"] = [_suppression("inSource", silenced[finding].reason)]
        yield told


def _message(finding: Finding) -> str:
    parts = [finding.message, finding.help]
    if finding.fix is None and finding.no_fix_because:
        parts.append(f"No fix: {finding.no_fix_because}")
    return _LINK.sub(r"\\[", "\n".join(filter(None, parts)))


def _properties(finding: Finding) -> Object:
    told: Object = {
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "symbol": finding.symbol,
        "fix": finding.fix.applicability.value if finding.fix else None,
    }
    if finding.place.cell is not None:
        told |= {"cell": finding.place.cell, "lineInCell": finding.place.line}
    return told


def _location(finding: Finding, result: ScanResult, checkout: SourceRoot) -> Object:
    place, region = finding.place, result.region(finding.place)
    told = _region(region)
    line = result.lines.get(place)
    if line and place.cell is None and region.line == region.end_line:
        told["snippet"] = {"text": line[region.column - 1 : region.end_column - 1]}
    location: Object = {
        "physicalLocation": {
            "artifactLocation": artifact_of(place.path, checkout),
            "region": told,
        }
    }
    if place.cell is not None:
        cell = f"cell {place.cell}, line {place.line}, column {place.column}"
        location["message"] = {"text": cell}
        location["logicalLocations"] = [{"name": f"cell {place.cell}", "kind": "member"}]
    return location


def _region(region: Region) -> Object:
    return {
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    }


def artifact_of(path: str, checkout: SourceRoot) -> Object:
    """Return a file as SARIF names it: by its place below the root of the repository."""
    uri = checkout.uri(path)
    return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": _TOP}


def _fix(fix: Fix, artifact: Object) -> Object:
    replacements = []
    for each in fix.replacements:
        told: Object = {"deletedRegion": _region(each.region)}
        if each.text:
            told["insertedContent"] = {"text": each.text}
        replacements.append(told)
    return {
        "description": {"text": titled(fix)},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}],
        "properties": {"applicability": fix.applicability.value},
    }


def _suppression(kind: str, why: str) -> Object:
    told = {"kind": kind, "status": "accepted"}
    return {**told, "justification": why} if why else told


def _invocation(result: ScanResult, checkout: SourceRoot, page: Page) -> Object:
    project = result.project
    told = [
        _notification(_NOT_CHECKED, "error", f"not checked: {file.why}", file.path, checkout)
        for file in result.unreadable
    ]
    if page.verbosity > 0:
        told += [
            _notification(_SKIPPED, "note", f"skipped: {part.why}", part.path, checkout)
            for part in result.skipped
        ]
    configured = [
        _notification(_NOT_CHECKED, "error", file.why, file.path, checkout)
        for file in project.unreadable
    ]
    configured += [
        {"descriptor": {"id": _CONFLICT}, "level": "warning", "message": {"text": conflict}}
        for conflict in project.conflicts
    ]
    configured += [
        _notification(_OWN_TARGET, "note", own.description, own.path, checkout)
        for own in result.own_targets
    ]
    return {
        "executionSuccessful": not (result.unreadable or project.unreadable),
        "toolExecutionNotifications": told,
        "toolConfigurationNotifications": configured,
    }


def _notification(key: str, level: str, text: str, path: str, checkout: SourceRoot) -> Object:
    return {
        "descriptor": {"id": key},
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": artifact_of(path, checkout)}}],
    }


FORMAT = Format(write=_write, replacements=True, fingerprints=True, ending=".sarif")
