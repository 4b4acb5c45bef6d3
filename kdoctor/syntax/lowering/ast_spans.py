# ruff: noqa: D102 - a method of the table at the end is named for what it places
"""Spans of a built tree's nodes, from the ``ast`` nodes they were built from.

A node has the spans that ``syntax.spans`` tells of: the inner is the node itself, the outer of an
expression has its own brackets too. What is rarely asked for, libcst's own parser and writer say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import libcst as cst

from kdoctor.lazy_regex import pattern
from kdoctor.model import Span
from kdoctor.syntax.lowering.building import BuiltTree

if TYPE_CHECKING:
    from kdoctor.syntax.lowering.parsed_spans import ParsedSpans

_BLANKS: Final = r"(?:\s|\\\r?\n)"
_DEFINED: Final = pattern(rf"(?:async{_BLANKS}+)?(?:def|class){_BLANKS}+")
_FROM: Final = pattern(rf"from(?:{_BLANKS}|\.)*")
_DOT: Final = pattern(rf"{_BLANKS}*\.{_BLANKS}*")
_STAR_BEFORE: Final = pattern(rf"\*\*?{_BLANKS}*\Z")
_COLON: Final = pattern(r"[ \t]*:")
_MAX_GAP: Final = 200  # characters between a star and what it stands before
_BRACKETED: Final = frozenset({cst.Tuple, cst.GeneratorExp})  # brackets of their own, that is
# Their place is that of what they hold.
_WRAPPERS: Final[Mapping[type[cst.CSTNode], str]] = {
    cst.Element: "value",
    cst.SubscriptElement: "slice",
    cst.AssignTarget: "target",
    cst.Annotation: "annotation",
}


class AstSpans:
    """The spans of nodes, in characters of ``text``, which Python's tree was parsed from.

    ``parents`` tells what holds each node.
    """

    def __init__(
        self, built: BuiltTree, text: str, parents: Mapping[cst.CSTNode, cst.CSTNode]
    ) -> None:
        self._built = built
        self._text = text
        self._parents = parents
        self._known: dict[cst.CSTNode, Span] = {}
        self._known_outer: dict[cst.CSTNode, Span] = {}

    def inner(self, node: cst.CSTNode) -> Span:
        """Return where the node itself stands.

        Raises:
            DifferentTextError: libcst was asked, and does not write the tree as it was.
            RecursionError: libcst was asked, and it is nested too deeply for this stack.
        """
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self._found(node) or self._parsed_spans.inner(node)
        return found

    def outer(self, node: cst.CSTNode) -> Span:
        """Return the span of an expression with its own brackets. Raises as ``inner`` does."""
        around = self._built.around.get(node)
        if around is not None:
            return Span(*around)
        if node.__class__ in _BRACKETED and node.lpar and node in self._built.extents:
            return self._extent(node)
        found = self.inner(node)
        return self._known_outer.get(node, found)

    def _extent(self, node: cst.CSTNode) -> Span:
        """Return where that stands which a node was made from."""
        return Span(*self._built.extents[node])

    def _found(self, node: cst.CSTNode) -> Span | None:
        """Return the inner span as far as Python's tree tells it."""
        kind = node.__class__
        if kind in _WRAPPERS:
            return self.outer(getattr(node, _WRAPPERS[kind]))
        return _SPECIAL.get(kind, AstSpans.whole)(self, node) or self._in_a_piece(node)

    # -- what Python's tree has another place for

    def name(self, node: Any) -> Span | None:
        if node in self._built.extents:
            return self._extent(node)
        holder = self._parents.get(node)
        match holder:
            case cst.Attribute() if holder.attr is node and holder in self._built.extents:
                end = self._extent(holder).end
                return self._ends(node, end)
            case cst.Arg() if holder.keyword is node and holder in self._built.extents:
                return self._starts(node, self._extent(holder).start)
            case cst.Param() if holder in self._built.extents:
                return self._starts(node, self._extent(holder).start)
            case cst.FunctionDef() | cst.ClassDef() if holder in self._built.extents:
                before = _DEFINED.match(self._text, self._extent(holder).start)
                return None if before is None else self._starts(node, before.end())
            case cst.AsName() if isinstance(self._parents.get(holder), cst.ImportAlias):
                return self._ends(node, self._extent(self._parents[holder]).end)
        return self._in_import(node)

    def attribute(self, node: cst.CSTNode) -> Span | None:
        if node in self._built.extents:
            return self._extent(node)
        return self._in_import(node)

    def _in_import(self, node: cst.CSTNode) -> Span | None:
        """Return the place of a node in a dotted name of an import."""
        top = node
        while isinstance(above := self._parents.get(top), cst.Attribute):
            top = above
        if isinstance(above, cst.ImportAlias):
            start = self._extent(above).start
        elif isinstance(above, cst.ImportFrom):
            before = _FROM.match(self._text, self._extent(above).start)
            if before is None:
                return None
            start = before.end()
        else:
            return None
        self._place_dotted(top, start)
        return self._known.get(node)

    def _place_dotted(self, top: cst.CSTNode, start: int) -> None:
        chain: list[Any] = [top]
        while isinstance(chain[-1], cst.Attribute):
            chain.append(chain[-1].value)
        first = chain.pop()
        end = start + len(first.value)
        self._known[first] = Span(start, end)
        for attribute in reversed(chain):
            dot = _DOT.match(self._text, end)
            begin = end if dot is None else dot.end()
            end = begin + len(attribute.attr.value)
            self._known[attribute.attr] = Span(begin, end)
            self._known[attribute] = Span(start, end)

    def _starts(self, node: Any, start: int) -> Span | None:
        end = start + len(node.value)
        return Span(start, end) if self._text[start:end] == node.value else None

    def _ends(self, node: Any, end: int) -> Span | None:
        start = end - len(node.value)
        return Span(start, end) if self._text[start:end] == node.value else None

    def argument(self, node: Any) -> Span | None:
        if node in self._built.extents:
            start = self._extent(node).start
        elif node.keyword is None and not node.star:
            start = self.outer(node.value).start
        else:
            return None
        return Span(start, self.outer(node.value).end)

    def parameter(self, node: Any) -> Span | None:
        if node not in self._built.extents:
            return None
        start, end = self._extent(node).start, self._extent(node).end
        if node.star:
            star = self._star_before(start)
            if star is None:
                return None
            start = star
        last = node.default or node.annotation
        if last is not None:
            end = self.outer(last).end
        return Span(start, end)

    def _star_before(self, offset: int) -> int | None:
        found = _STAR_BEFORE.search(self._text, max(0, offset - _MAX_GAP), offset)
        return None if found is None else found.start()

    def dict_element(self, node: Any) -> Span:
        return Span(self.outer(node.key).start, self.outer(node.value).end)

    def index(self, node: Any) -> Span | None:
        return self.starred(node) if node.star else self.outer(node.value)

    def starred(self, node: Any) -> Span | None:
        """Return the place of a star with the value behind it."""
        value = self.outer(node.value)
        star = self._star_before(value.start)
        return None if star is None else Span(star, value.end)

    def boolean(self, node: Any) -> Span | None:
        if node in self._built.extents:
            return self._extent(node)
        if node.left not in self._parents:
            return None
        return Span(self.outer(node.left).start, self.outer(node.right).end)

    def tuple_(self, node: Any) -> Span | None:
        if node not in self._built.extents:
            return None
        whole = self._extent(node)
        if not self._is_bracketed(whole):
            return whole
        start = self._built.brackets.after_blanks(whole.start + 1)
        if not node.elements:
            return Span(start, start)
        end = self._end_of(node.elements[-1])
        comma = self._built.brackets.after_blanks(end)
        return Span(start, comma + 1 if self._text[comma] == "," else end)

    def _end_of(self, element: Any) -> int:
        """Return where an element ends, its own comma not counted."""
        if isinstance(element, cst.StarredElement):
            return self._extent(element).end
        return self.outer(element).end

    def _is_bracketed(self, whole: Span) -> bool:
        return self._built.brackets.closed_by.get(whole.start) == whole.end - 1

    def generator(self, node: Any) -> Span | None:
        if node not in self._built.extents:
            return None
        last = node.for_in
        while last.inner_for_in is not None:
            last = last.inner_for_in
        end = last.ifs[-1].test if last.ifs else last.iter
        return Span(self.outer(node.elt).start, self.outer(end).end)

    def decorator(self, node: Any) -> Span | None:
        expression = self.outer(node.decorator)
        start = self._text.rfind("@", 0, expression.start)
        between = self._text[start + 1 : expression.start]
        return None if start < 0 or between.strip(" \t") else Span(start, expression.end)

    def line(self, node: Any) -> Span | None:
        if any(each not in self._built.extents for each in node.body):
            return None
        return Span(self._extent(node.body[0]).start, self._extent(node.body[-1]).end)

    def block(self, node: Any) -> Span:
        return Span(self.inner(node.body[0]).start, self.inner(node.body[-1]).end)

    def else_(self, node: Any) -> Span | None:
        if not isinstance(node.body, cst.IndentedBlock):
            return None
        body = self.block(node.body)
        start = body.start
        while (start := self._text.rfind("else", 0, start)) >= 0:
            before = self._text[self._text.rfind("\n", 0, start) + 1 : start]
            if not before.strip(" \t") and _COLON.match(self._text, start + len("else")):
                return Span(start, body.end)
        return None

    def star_import(self, node: cst.CSTNode) -> Span | None:
        holder = self._parents.get(node)
        if not isinstance(holder, cst.ImportFrom):
            return None
        whole = self._extent(holder)
        start = self._text.rfind("*", whole.start, whole.end)
        return Span(start, start + 1)

    def whole(self, node: cst.CSTNode) -> Span | None:
        if node not in self._built.extents:
            return None
        start, end = self._built.extents[node]
        while self._text[end - 1] in "; \t" and end > start:  # a block's last: not of the statement
            end -= 1
        return Span(start, end)

    # -- what libcst tells

    def _in_a_piece(self, node: cst.CSTNode) -> Span | None:
        """Return the place of a node in an expression that libcst itself parsed."""
        top: cst.CSTNode | None = node
        while top is not None and top not in self._built.pieces:
            top = self._parents.get(top)
        if top is None:
            return None
        from kdoctor.syntax.lowering.parsed_spans import spans_in  # noqa: PLC0415 - few need it

        newline = self._built.tree.default_newline
        # An expression: no others are parsed by themselves.
        for each, inner, outer in spans_in(top, self._text, self._built.pieces[top], newline):  # type: ignore[arg-type]
            self._known[each] = inner
            self._known_outer[each] = outer
        return self._known.get(node)

    @cached_property
    def _parsed_spans(self) -> ParsedSpans:
        from kdoctor.syntax.lowering.parsed_spans import ParsedSpans  # noqa: PLC0415 - as above

        return ParsedSpans(self._built.tree, self._text)


_SPECIAL: Final[Mapping[type[cst.CSTNode], Callable[[AstSpans, Any], Span | None]]] = {
    cst.Name: AstSpans.name,
    cst.Attribute: AstSpans.attribute,
    cst.BooleanOperation: AstSpans.boolean,
    cst.Tuple: AstSpans.tuple_,
    cst.GeneratorExp: AstSpans.generator,
    cst.Arg: AstSpans.argument,
    cst.Index: AstSpans.index,
    cst.Param: AstSpans.parameter,
    cst.DictElement: AstSpans.dict_element,
    cst.StarredDictElement: AstSpans.starred,
    cst.Decorator: AstSpans.decorator,
    cst.SimpleStatementLine: AstSpans.line,
    cst.IndentedBlock: AstSpans.block,
    cst.Else: AstSpans.else_,
    cst.ImportStar: AstSpans.star_import,
}
