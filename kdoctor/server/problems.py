"""Findings as diagnostics of the editor."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types

from kdoctor.engine.open_documents import Reading
from kdoctor.model import Finding, Place, Severity, Span
from kdoctor.report.links import rule_url
from kdoctor.server.documents import OpenDocument
from kdoctor.server.session import View
from kdoctor.syntax import Module, ReferenceKind

SOURCE = "kdoctor"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.CHANGE: types.DiagnosticSeverity.Warning,
    Severity.LEGACY: types.DiagnosticSeverity.Information,
}


def diagnostics_of(view: View) -> dict[str, list[types.Diagnostic]]:
    """Return the diagnostics of each document of a view; empty lists included."""
    found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in view.opened.uris}
    if view.reading is not None:
        findings = view.reading.examined.scan.findings
        imports = _imports_of(view.reading)
        shown = diagnostics(view.opened, view.reading, findings, imports)
        for finding, diagnostic in zip(findings, shown, strict=True):
            found[view.opened.uri_of(finding.place)].append(diagnostic)
        for uri, note in _own_target_notes(view.opened, view.reading):
            found[uri].append(note)
    return found


def _own_target_notes(
    opened: OpenDocument, reading: Reading
) -> Iterator[tuple[str, types.Diagnostic]]:
    """Yield a note on the line that sets another target for the document."""
    document, own = reading.examined.document, reading.examined.scan.own_target
    if own is None or not document.units:
        return
    place = own.place or document.units[0].place(Span(0, 0))
    message = own.description[:1].upper() + own.description[1:]
    where = opened.ranges(document, [place])[place]
    note = types.Diagnostic(where, message, types.DiagnosticSeverity.Information, source=SOURCE)
    yield opened.uri_of(place), note


def diagnostics(
    opened: OpenDocument,
    reading: Reading,
    findings: Sequence[Finding],
    imports: Mapping[Place, _Import] | None = None,
) -> list[types.Diagnostic]:
    """Return the diagnostics of findings; ``imports`` locates the import of each name."""
    imports = imports or {}
    places = [finding.place for finding in findings]
    ranges = opened.ranges(
        reading.examined.document, [*places, *(each.place for each in imports.values())]
    )
    return [
        _diagnostic(finding, opened, ranges, imports.get(finding.place)) for finding in findings
    ]


def _diagnostic(
    finding: Finding,
    opened: OpenDocument,
    ranges: Mapping[Place, types.Range],
    imported: _Import | None,
) -> types.Diagnostic:
    related = None
    if imported is not None:
        at = types.Location(opened.uri_of(imported.place), ranges[imported.place])
        related = [types.DiagnosticRelatedInformation(at, imported.text)]
    url = rule_url(finding.code, finding.name)
    return types.Diagnostic(
        range=ranges[finding.place],
        message="\n".join(filter(None, [finding.message, finding.help])),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(url) if url else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Deprecated] if finding.severity is Severity.LEGACY else None,
        related_information=related,
    )


@dataclass(frozen=True, slots=True)
class _Import:
    """The import of the name that a finding is about."""

    place: Place
    text: str


def _imports_of(reading: Reading) -> dict[Place, _Import]:
    """Return the imports of the names that findings are about, if on another line."""
    found = {}
    for index, module in reading.examined.modules.items():
        places = {
            finding.place.span.start: finding.place
            for finding in reading.examined.scan.findings
            if finding.place.unit == index
        }
        for start, imported in _imports_at(module, places):
            if imported.place.line != places[start].line:
                found[places[start]] = imported
    return found


def _imports_at(module: Module, starts: Collection[int]) -> Iterator[tuple[int, _Import]]:
    """Yield the imports that bind the names at the given offsets."""
    if not starts:
        return
    for reference in module.references:
        if reference.kind is ReferenceKind.IMPORT:
            continue
        start = module.span(reference.node).start
        if start in starts:
            binding = reference.binding
            local = "*" if binding.local == "*" else f"`{binding.local}`"
            text = f"{local} is imported here, from {binding.name}"
            yield start, _Import(module.place(binding.statement), text)
