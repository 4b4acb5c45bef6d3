"""Findings as the editor shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from kdoctor.engine.live import Reading
from kdoctor.model import Finding, Place, Severity
from kdoctor.report.links import rule_url
from kdoctor.server.desk import View
from kdoctor.server.sheets import Sheet
from kdoctor.syntax import Module, ReferenceKind

SOURCE = "kdoctor"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.CHANGE: types.DiagnosticSeverity.Warning,
    Severity.LEGACY: types.DiagnosticSeverity.Information,
}


def diagnostics_of(view: View) -> dict[str, list[types.Diagnostic]]:
    """Return the diagnostics of each document of a view, also of those that have none."""
    found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in view.sheet.uris}
    if view.reading is not None:
        for finding, imported in _with_imports(view.reading):
            uri = view.sheet.uri_of(finding.place)
            found[uri].append(diagnostic(finding, view.sheet, imported))
    return found


def diagnostic(
    finding: Finding, sheet: Sheet, imported: tuple[Place, str] | None = None
) -> types.Diagnostic:
    """Return the diagnostic of a finding; ``imported`` is where its name comes from."""
    related = None
    if imported is not None:
        place, text = imported
        at = types.Location(sheet.uri_of(place), sheet.range_of(place))
        related = [types.DiagnosticRelatedInformation(at, text)]
    url = rule_url(finding.code, finding.name)
    return types.Diagnostic(
        range=sheet.range_of(finding.place),
        message="\n".join(filter(None, [finding.message, finding.help])),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(url) if url else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Deprecated] if finding.severity is Severity.LEGACY else None,
        related_information=related,
    )


def _with_imports(reading: Reading) -> Iterator[tuple[Finding, tuple[Place, str] | None]]:
    """Yield each finding with the import that its name comes from, if that is on another line."""
    findings = reading.examined.scan.findings
    for index, module in reading.examined.modules.items():
        own = [finding for finding in findings if finding.place.unit == index]
        sources = dict(_imports_at(module, {finding.place.span.start for finding in own}))
        for finding in own:
            source = sources.get(finding.place.span.start)
            is_apart = source is not None and source[0].line != finding.place.line
            yield finding, source if is_apart else None


def _imports_at(module: Module, starts: Iterable[int]) -> Iterator[tuple[int, tuple[Place, str]]]:
    """Yield the imports that bind the names which start at some offsets."""
    wanted = set(starts)
    if not wanted:
        return
    for reference in module.references:
        if reference.kind is ReferenceKind.IMPORT:
            continue
        start = module.span(reference.node).start
        if start in wanted:
            binding = reference.binding
            place = module.place(binding.statement)
            local = "*" if binding.local == "*" else f"`{binding.local}`"
            yield start, (place, f"{local} is imported here, from {binding.name}")
