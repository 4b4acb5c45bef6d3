"""The top-level statements of a module and the names they bind."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from kdoctor import parse_ast
from kdoctor.model import Edit, Finding, Span
from kdoctor.rewrite.source_lines import LINE_BREAK

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CLOSED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class TopLevelFixes:
    """A top-level statement and the names it binds."""

    span: Span
    binds: frozenset[str]


def findings_at_bindings(
    findings: list[Finding], text: str, names: frozenset[str]
) -> list[Finding]:
    """Return findings that lie, with their whole fix, in statements binding ``names``."""
    statements = list(top_level_statements(text))

    def is_named(span: Span, *, between: bool) -> bool:
        around = statement_at(statements, span)
        return between if around is None else bool(around.binds & names)

    return [
        finding
        for finding in findings
        if is_named(finding.place.span, between=False)
        and all(is_named(edit.span, between=True) for edit in _edits(finding))
    ]


def _edits(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix else ()


def statement_at(statements: list[TopLevelFixes], span: Span) -> TopLevelFixes | None:
    """Return the statement that a span begins in, None between statements."""
    place = bisect_right([each.span.start for each in statements], span.start) - 1
    if place < 0 or span.start >= statements[place].span.end:
        return None
    return statements[place]


def top_level_statements(text: str) -> Iterator[TopLevelFixes]:
    """Yield the top-level statements of a text; nothing if it is not Python."""
    starts = [0, *(each.end() for each in LINE_BREAK.finditer(text))]
    lines = [text[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
    try:
        tree = parse_ast.parse(LINE_BREAK.sub("\n", text))
    except (SyntaxError, ValueError):
        return

    def offset(line: int, column: int) -> int:
        characters = len(lines[line - 1].encode()[:column].decode("utf-8", "ignore"))
        return starts[line - 1] + characters

    for node in tree.body:
        first = min((node, *getattr(node, "decorator_list", [])), key=lambda each: each.lineno)
        start = offset(first.lineno, first.col_offset)
        end = offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        yield TopLevelFixes(Span(start, end), frozenset(_bound(node)))


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, _SCOPES):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
        return
    if isinstance(node, _CLOSED):
        return
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)
