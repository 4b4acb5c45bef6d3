"""Fixes as the editor offers them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from kdoctor.engine.open_documents import OpenDocuments, Reading
from kdoctor.model import Applicability, Finding, Fix
from kdoctor.server.documents import Edits, OpenSheet
from kdoctor.server.problems import diagnostics
from kdoctor.server.session import View

FIX_ALL = "source.fixAll.kdoctor"
KINDS: Sequence[types.CodeActionKind | str] = (types.CodeActionKind.QuickFix, FIX_ALL)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: actions of some kinds (None: of any) for a stretch of a document.

    ``versioned``: the editor takes edits of a certain version of a document.
    """

    uri: str
    range: types.Range
    only: Sequence[str] | None
    versioned: bool

    def takes(self, kind: types.CodeActionKind | str) -> bool:
        """Say whether an action of a kind is wanted: `source` takes `source.fixAll`, too."""
        name = kind.value if isinstance(kind, types.CodeActionKind) else kind
        return self.only is None or any(
            not asked or name == asked or name.startswith(f"{asked}.") for asked in self.only
        )


def actions_of(view: View, live: OpenDocuments, wanted: Wanted) -> list[types.CodeAction]:
    """Return what can be done about the findings in a stretch, and about the whole file."""
    reading = view.reading
    if reading is None:
        return []
    found: list[types.CodeAction] = []
    if wanted.takes(types.CodeActionKind.QuickFix):
        found += _quick_fixes(view.sheet, reading, wanted)
        found += _ignores(view.sheet, reading, wanted)
    if wanted.takes(FIX_ALL):
        found += _fix_all(view.sheet, reading, live, wanted)
    return found


def _quick_fixes(sheet: OpenSheet, reading: Reading, wanted: Wanted) -> Iterator[types.CodeAction]:
    # One fix may cure several findings.
    cured: dict[Fix, list[Finding]] = {}
    for finding in _touched(sheet, reading, wanted):
        if finding.fix is not None:
            cured.setdefault(finding.fix, []).append(finding)
    for fix, alike in cured.items():
        after = reading.fixed(alike[0])
        edits = {} if after is None else sheet.edits(after)
        if edits:
            is_safe = fix.applicability is Applicability.SAFE
            yield types.CodeAction(
                title=_title(fix),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=diagnostics(sheet, reading, alike),
                is_preferred=is_safe or None,
                edit=_edit(sheet, edits, wanted),
            )


def _ignores(sheet: OpenSheet, reading: Reading, wanted: Wanted) -> Iterator[types.CodeAction]:
    # One comment silences all findings of its line that have the same code.
    silenced: dict[tuple[str, bytes], list[Finding]] = {}
    for finding in _touched(sheet, reading, wanted):
        after = reading.ignored(finding)
        if after is not None:
            silenced.setdefault((finding.code, after), []).append(finding)
    for (code, after), alike in silenced.items():
        edits = sheet.edits(after)
        if edits:
            yield types.CodeAction(
                title=f"kdoctor: ignore {code} on this line",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=diagnostics(sheet, reading, alike),
                edit=_edit(sheet, edits, wanted),
            )


def _touched(sheet: OpenSheet, reading: Reading, wanted: Wanted) -> Iterator[Finding]:
    findings = reading.examined.scan.findings
    ranges = sheet.ranges(reading.examined.document, [finding.place for finding in findings])
    for finding in findings:
        here = sheet.uri_of(finding.place) == wanted.uri
        if here and _touch(ranges[finding.place], wanted.range):
            yield finding


def _fix_all(
    sheet: OpenSheet, reading: Reading, live: OpenDocuments, wanted: Wanted
) -> Iterator[types.CodeAction]:
    fixes = (finding.fix for finding in reading.examined.scan.findings)
    if not any(fix is not None and fix.applicability is Applicability.SAFE for fix in fixes):
        return
    edits = sheet.edits(live.with_safe_fixes(sheet.draft, reading))
    if edits:
        yield types.CodeAction(
            title="kdoctor: fix all safe problems of this file",
            kind=FIX_ALL,
            edit=_edit(sheet, edits, wanted),
        )


def _title(fix: Fix) -> str:
    if fix.applicability is Applicability.SAFE:
        return f"kdoctor: {fix.title}"
    because = f": {fix.unsafe_because}" if fix.unsafe_because else ""
    return f"kdoctor (unsafe): {fix.title}{because}"


def _touch(one: types.Range, other: types.Range) -> bool:
    return not (_before(one.end, other.start) or _before(other.end, one.start))


def _before(one: types.Position, other: types.Position) -> bool:
    return (one.line, one.character) < (other.line, other.character)


def _edit(sheet: OpenSheet, edits: Edits, wanted: Wanted) -> types.WorkspaceEdit:
    if not wanted.versioned:
        return types.WorkspaceEdit(changes=edits)
    # A cell has a version of its own, which is not that of its notebook.
    version = sheet.version if len(sheet.uris) == 1 and sheet.uris[0] == sheet.uri else None
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, version), each
            )
            for uri, each in edits.items()
        ]
    )
