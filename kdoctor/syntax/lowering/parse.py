"""Parse text to a libcst tree: build it from ``ast`` if possible, else use libcst."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import libcst as cst
from msgspec import Struct

from kdoctor import parse_ast
from kdoctor.syntax.lowering.ast_spans import AstSpans
from kdoctor.syntax.lowering.building import BuiltTree, build
from kdoctor.syntax.lowering.chunked_parse import parse_in_chunks
from kdoctor.syntax.lowering.expressions import UnknownCodeError
from kdoctor.syntax.lowering.process import is_plain
from kdoctor.syntax.spans import Spans


class Parsed(Struct, frozen=True):
    """A tree and its source text.

    ``built`` says what it was built from, where libcst did not parse it.
    """

    tree: cst.Module
    text: str
    built: BuiltTree | None

    def spans(self, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> Spans:
        """Return the spans of the tree's nodes. ``parents`` maps nodes to parents."""
        if self.built is not None:
            return AstSpans(self.built, self.text, parents)
        from kdoctor.syntax.written_spans import WrittenSpans  # noqa: PLC0415 - few files need it

        return WrittenSpans(self.tree, self.text, parents)


def parse(text: str, tree: ast.Module | None = None) -> Parsed:
    """Return the tree of a text; ``tree`` is its ``ast``, if at hand.

    Raises:
        libcst.ParserSyntaxError: neither Python nor libcst can parse it.
    """
    if is_plain():
        return Parsed(cst.parse_module(text), text, None)
    built = _built(text, tree)
    return Parsed(parse_in_chunks(text), text, None) if built is None else _of(built, text)


def _built(text: str, tree: ast.Module | None) -> BuiltTree | None:
    """Return the tree that is built from Python's, None where libcst has to parse the text."""
    try:
        return build(text, parse_ast.parse(text) if tree is None else tree)
    except (UnknownCodeError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of(built: BuiltTree, text: str) -> Parsed:
    return Parsed(built.tree, text, built)
