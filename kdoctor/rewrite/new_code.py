"""The source that edits replace, and the names that their new code reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Hole, Span
from kdoctor.parse_ast import parse
from kdoctor.syntax.ast_walk import nodes_in

_NAME = pattern(r"(?<![\w.])[^\W\d]\w*(?!\w)(?!\s*=(?!=))")


def replaced_spans(edit: Edit) -> Iterator[Span]:
    """Yield the spans that an edit replaces and keeps in no hole."""
    start = edit.span.start
    for hole in sorted(part.span for part in edit.parts if isinstance(part, Hole)):
        if start < hole.start:
            yield Span(start, hole.start)
        start = max(start, hole.end)
    if start < edit.span.end:
        yield Span(start, edit.span.end)


def new_text(edits: Iterable[Edit]) -> Iterator[str]:
    """Return the literal text parts of edits."""
    return (part for edit in edits for part in edit.parts if isinstance(part, str))


def names_in(text: str) -> list[str]:
    """Return the names that a piece of new code may read: no attributes, no keywords.

    Of whole statements, no words in texts and comments either: a definition may speak of much.
    """
    if "\n" in text:
        try:
            tree = parse(text)
        except SyntaxError:
            pass
        else:
            return [each.id for each in nodes_in(tree) if isinstance(each, ast.Name)]
    return _NAME.findall(text)


def names_in_edit(edit: Edit) -> list[str]:
    """Return the names that the new code of an edit may read."""
    return [name for text in new_text([edit]) for name in names_in(text)]
