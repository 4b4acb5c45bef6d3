"""Fixes as code actions of the editor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from kdoctor.engine.open_documents import OpenDocuments, Reading
from kdoctor.model import Applicability, Finding, Fix
from kdoctor.server.documents import Edits, OpenDocument
from kdoctor.server.problems import diagnostics
from kdoctor.server.session import View

FIX_ALL = "source.fixAll.kdoctor"
KINDS: Sequence[types.CodeActionKind | str] = (types.CodeActionKind.QuickFix, FIX_ALL)


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """A request for actions of some kinds (None: of any kind) for a range of a document.

    ``versioned``: the editor accepts edits that name the version of a document.
    """

    uri: str
    range: types.Range
    only: Sequence[str] | None
    versioned: bool

    def accepts(self, kind: types.CodeActionKind | str) -> bool:
        """Say whether an action of a kind is requested: `source` includes `source.fixAll`."""
        name = kind.value if isinstance(kind, types.CodeActionKind) else kind
        return self.only is None or any(
            not prefix or name == prefix or name.startswith(f"{prefix}.") for prefix in self.only
        )


def actions_of(view: View, engine: OpenDocuments, request: ActionRequest) -> list[types.CodeAction]:
    """Return actions for the findings in a range, and for the whole file."""
    reading = view.reading
    if reading is None:
        return []
    found: list[types.CodeAction] = []
    if request.accepts(types.CodeActionKind.QuickFix):
        found += _quick_fixes(view.opened, reading, request)
        found += _ignores(view.opened, reading, request)
    if request.accepts(FIX_ALL):
        found += _fix_all(view.opened, reading, engine, request)
    return found


def _quick_fixes(
    opened: OpenDocument, reading: Reading, request: ActionRequest
) -> Iterator[types.CodeAction]:
    # One fix may repair several findings.
    by_fix: dict[Fix, list[Finding]] = {}
    for finding in _touched(opened, reading, request):
        if finding.fix is not None:
            by_fix.setdefault(finding.fix, []).append(finding)
    for fix, group in by_fix.items():
        after = reading.fixed(group[0])
        edits = {} if after is None else opened.edits(after)
        if edits:
            is_safe = fix.applicability is Applicability.SAFE
            yield types.CodeAction(
                title=_title(fix),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=diagnostics(opened, reading, group),
                is_preferred=is_safe or None,
                edit=_edit(opened, edits, request),
            )


def _ignores(
    opened: OpenDocument, reading: Reading, request: ActionRequest
) -> Iterator[types.CodeAction]:
    # One comment silences all findings of its line that have the same code.
    by_comment: dict[tuple[str, bytes], list[Finding]] = {}
    for finding in _touched(opened, reading, request):
        after = reading.ignored(finding)
        if after is not None:
            by_comment.setdefault((finding.code, after), []).append(finding)
    for (code, after), group in by_comment.items():
        edits = opened.edits(after)
        if edits:
            yield types.CodeAction(
                title=f"kdoctor: ignore {code} on this line",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=diagnostics(opened, reading, group),
                edit=_edit(opened, edits, request),
            )


def _touched(opened: OpenDocument, reading: Reading, request: ActionRequest) -> Iterator[Finding]:
    findings = reading.examined.scan.findings
    ranges = opened.ranges(reading.examined.document, [finding.place for finding in findings])
    for finding in findings:
        here = opened.uri_of(finding.place) == request.uri
        if here and _touch(ranges[finding.place], request.range):
            yield finding


def _fix_all(
    opened: OpenDocument, reading: Reading, engine: OpenDocuments, request: ActionRequest
) -> Iterator[types.CodeAction]:
    fixes = (finding.fix for finding in reading.examined.scan.findings)
    if not any(fix is not None and fix.applicability is Applicability.SAFE for fix in fixes):
        return
    edits = opened.edits(engine.with_safe_fixes(opened.draft, reading))
    if edits:
        yield types.CodeAction(
            title="kdoctor: apply all safe fixes in this file",
            kind=FIX_ALL,
            edit=_edit(opened, edits, request),
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


def _edit(opened: OpenDocument, edits: Edits, request: ActionRequest) -> types.WorkspaceEdit:
    if not request.versioned:
        return types.WorkspaceEdit(changes=edits)
    # A cell has a version of its own, which is not that of its notebook.
    version = opened.version if len(opened.uris) == 1 and opened.uris[0] == opened.uri else None
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, version), each
            )
            for uri, each in edits.items()
        ]
    )
