"""Write nodes as libcst does, and record the span of each.

libcst's own writer calls a dozen functions for a name, and four for each blank. What code is mostly
made of is therefore written here, each class by its layout; all other nodes libcst writes itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from types import TracebackType
from typing import Any, Final

import libcst as cst
from libcst._nodes.internal import CodegenState

from kdoctor.syntax.libcst_walk import NODES

Extent = tuple[int, int]
"""The characters from the first number up to and without the second."""

# The words are fields, as far as the class has one of that name, else tokens. What is between `<`
# and `>` is the node proper; of an expression it is all but its parentheses. A field that is not
# there at all (None, or a sentinel of libcst) writes nothing: so it is in a tree that was parsed.
# `|` writes the indentation, as a flag does. What a field holds may be laid out in a way of its
# own, which stands after a slash.
_WORDS: Final[Mapping[type[cst.CSTNode], str]] = {
    cst.Name: "value",
    cst.Integer: "value",
    cst.Float: "value",
    cst.SimpleString: "value",
    cst.ConcatenatedString: "left whitespace_between right",
    cst.Attribute: "value dot attr",
    cst.Call: "func whitespace_after_func ( whitespace_before_args args )",
    cst.Subscript: "value whitespace_after_value lbracket slice rbracket",
    cst.Tuple: "elements",
    cst.List: "lbracket elements rbracket",
    cst.Dict: "lbrace elements rbrace",
    cst.ListComp: "lbracket elt for_in rbracket",
    cst.GeneratorExp: "elt for_in",
    cst.CompFor: "whitespace_before asynchronous for whitespace_after_for target"
    " whitespace_before_in in whitespace_after_in iter ifs inner_for_in",
    cst.CompIf: "whitespace_before if whitespace_before_test test",
    cst.Lambda: "lambda whitespace_after_lambda params colon body",
    cst.IfExp: "body whitespace_before_if if whitespace_after_if test"
    " whitespace_before_else else whitespace_after_else orelse",
    cst.BooleanOperation: "left operator right",
    cst.BinaryOperation: "left operator right",
    cst.UnaryOperation: "operator expression",
    cst.Comparison: "left comparisons",
    cst.ComparisonTarget: "operator comparator",
    cst.Arg: "< star whitespace_after_star keyword equal value > comma whitespace_after_arg",
    cst.Element: "< value > comma",
    cst.DictElement: "< key whitespace_before_colon : whitespace_after_colon value > comma",
    cst.SubscriptElement: "< slice > comma",
    cst.Index: "star whitespace_after_star value",
    cst.Slice: "lower first_colon upper second_colon step",
    cst.Colon: "whitespace_before < : > whitespace_after",
    cst.Dot: "whitespace_before < . > whitespace_after",
    cst.Comma: "whitespace_before < , > whitespace_after",
    cst.AssignEqual: "whitespace_before < = > whitespace_after",
    cst.LeftParen: "( whitespace_after",
    cst.RightParen: "whitespace_before )",
    cst.LeftSquareBracket: "[ whitespace_after",
    cst.RightSquareBracket: "whitespace_before ]",
    cst.LeftCurlyBrace: "{ whitespace_after",
    cst.RightCurlyBrace: "whitespace_before }",
    cst.Minus: "- whitespace_after",
    cst.Not: "not whitespace_after",
    **{
        kind: f"whitespace_before < {token} > whitespace_after"
        for kind, token in (
            *((cst.Add, "+"), (cst.Subtract, "-"), (cst.Multiply, "*"), (cst.Divide, "/")),
            *((cst.FloorDivide, "//"), (cst.Modulo, "%"), (cst.Power, "**")),
            *((cst.And, "and"), (cst.Or, "or"), (cst.Equal, "=="), (cst.In, "in")),
        )
    },
    cst.Expr: "< value > semicolon",
    cst.Return: "< return whitespace_after_return value > semicolon",
    cst.Raise: "< raise whitespace_after_raise exc cause > semicolon",
    cst.Assert: "< assert whitespace_after_assert test comma msg > semicolon",
    cst.AugAssign: "< target operator value > semicolon",
    cst.AnnAssign: "< target annotation/: equal value > semicolon",
    cst.Assign: "< targets value > semicolon",
    cst.AssignTarget: "< target > whitespace_before_equal = whitespace_after_equal",
    cst.ImportFrom: "< from whitespace_after_from relative module whitespace_before_import import"
    " whitespace_after_import lpar names rpar > semicolon",
    cst.Import: "< import whitespace_after_import names > semicolon",
    cst.ImportAlias: "< name asname > comma",
    cst.AsName: "whitespace_before_as as whitespace_after_as name",
    cst.FunctionDef: "leading_lines decorators lines_after_decorators | < asynchronous"
    " def whitespace_after_def name whitespace_after_name type_parameters"
    " whitespace_after_type_parameters ( whitespace_before_params params ) returns/->"
    " whitespace_before_colon : body >",
    cst.ClassDef: "leading_lines decorators lines_after_decorators | < class whitespace_after_class"
    " name whitespace_after_name type_parameters whitespace_after_type_parameters"
    " lpar bases keywords rpar whitespace_before_colon : body >",
    cst.Decorator: "leading_lines | < @ whitespace_after_at decorator > trailing_whitespace",
    cst.Parameters: "posonly_params posonly_ind params star_arg kwonly_params star_kwarg",
    cst.Param: "< star whitespace_after_star name > annotation/: equal default comma"
    " whitespace_after_param",
    cst.ParamStar: "* comma",
    cst.If: "leading_lines | < if whitespace_before_test test whitespace_after_test : body"
    " orelse/elif >",
    cst.Else: "leading_lines | < else whitespace_before_colon : body >",
    cst.For: "leading_lines | < asynchronous for whitespace_after_for target whitespace_before_in"
    " in whitespace_after_in iter whitespace_before_colon : body orelse >",
    cst.While: "leading_lines | < while whitespace_after_while test whitespace_before_colon : body"
    " orelse >",
    cst.With: "leading_lines | < asynchronous with whitespace_after_with lpar items rpar"
    " whitespace_before_colon : body >",
    cst.WithItem: "< item asname > comma",
    cst.Try: "leading_lines | < try whitespace_before_colon : body handlers orelse finalbody >",
    cst.ExceptHandler: "leading_lines | < except whitespace_after_except type name"
    " whitespace_before_colon : body >",
    cst.Finally: "leading_lines | < finally whitespace_before_colon : body >",
    cst.TrailingWhitespace: "whitespace comment newline",
    cst.EmptyLine: "indent whitespace comment newline",
    cst.ParenthesizedWhitespace: "first_line empty_lines indent last_line",
    cst.Comment: "value",
}
_WORDS_OF_ITS_OWN: Final[Mapping[tuple[str, type[cst.CSTNode]], str]] = {
    ("elif", cst.If): _WORDS[cst.If].replace(" if ", " elif "),
    **{
        (indicator, cst.Annotation): f"whitespace_before_indicator {indicator}"
        " whitespace_after_indicator < annotation >"
        for indicator in (":", "->")
    },
}

# These end where the last statement in them does, as what holds them last: not where its line does.
_BLOCKS: Final = frozenset({
    *(cst.IndentedBlock, cst.SimpleStatementSuite, cst.Else, cst.If, cst.ExceptHandler),
    cst.Finally,
})  # fmt: skip
_ATOMS: Final = frozenset({cst.Name, cst.Integer, cst.Float, cst.SimpleString})
_BLANK: Final = cst.SimpleWhitespace
_NEWLINE: Final = cst.Newline
_START: Final = "<"
_END: Final = ">"
_INDENTATION: Final = "|"
# A field, or a mark, with the way in which what it holds is laid out; or nothing, and what is
# written: True for the indentation.
_Layout = Sequence[tuple[str, Any]]


def _layout(kind: type[cst.CSTNode], words: str) -> Iterator[tuple[str, Any]]:
    names = {_START, _END, *(each.name for each in fields(kind))}
    if issubclass(kind, cst.BaseExpression):
        words = f"lpar {_START} {words} {_END} rpar"
    for word in words.split():
        name, _, way = word.partition("/")
        if name in names:
            yield name, way
        else:
            yield "", word == _INDENTATION or word


LAYOUTS: Final[Mapping[type[cst.CSTNode], _Layout]] = {
    kind: tuple(_layout(kind, words)) for kind, words in _WORDS.items()
}
"""How the nodes of a class are written."""

# Expressions without parentheses, as nearly all are.
_BARE: Final[Mapping[type[cst.CSTNode], _Layout]] = {
    kind: layout[2:-2] for kind, layout in LAYOUTS.items() if issubclass(kind, cst.BaseExpression)
}
_LAYOUTS_OF_ITS_OWN: Final[Mapping[tuple[str, type[cst.CSTNode]], _Layout]] = {
    (way, kind): tuple(_layout(kind, words)) for (way, kind), words in _WORDS_OF_ITS_OWN.items()
}


def own_span(
    node: cst.CSTNode, inner: Mapping[cst.CSTNode, Extent], outer: Mapping[cst.CSTNode, Extent]
) -> Extent:
    """Return the span of the node itself from the recorded spans."""
    start, end = inner.get(node) or outer[node]
    if isinstance(node, cst.Param):  # libcst counts the name alone
        last = node.default or node.annotation
        end = outer[last][1] if last is not None else end
    return start, end


class TargetWritten(Exception):
    """Raised when the wanted node has been written."""


class CodeWriter(CodegenState):
    """Writes nodes and records their spans, blanks aside.

    Writing ends with ``TargetWritten`` where it comes to the node ``until``. ``outer`` is the whole
    of a node, ``inner`` the node proper, where libcst tells that apart and it is not the whole.
    """

    def __init__(
        self, default_indent: str, default_newline: str, until: cst.CSTNode | None = None
    ) -> None:
        super().__init__(default_indent=default_indent, default_newline=default_newline)
        self._until = until
        self.offset = 0
        self.inner: dict[cst.CSTNode, Extent] = {}
        self.outer: dict[cst.CSTNode, Extent] = {}
        self._starts: list[int] = []

    def write(self, node: cst.CSTNode) -> None:
        """Write a node and all that it holds."""
        self.offset = self._write(node, self.offset)

    def _write(self, node: cst.CSTNode, start: int, way: str = "") -> int:
        """Write a node, in the ``way`` of what holds it; return the offset behind it."""
        kind: type = node.__class__
        if kind in _ATOMS and not node.lpar:  # type: ignore[attr-defined]
            self.tokens.append(node.value)  # type: ignore[attr-defined]
            end = start + len(node.value)  # type: ignore[attr-defined]
            self.outer[node] = (start, end)
            return end
        layout = LAYOUTS.get(kind)
        if kind in _BARE and not node.lpar:  # type: ignore[attr-defined]
            layout = _BARE[kind]
        elif way:
            layout = _LAYOUTS_OF_ITS_OWN.get((way, kind), layout)
        if layout is None:
            self.offset = start
            if kind is cst.SimpleStatementLine:
                self._write_line(node)  # type: ignore[arg-type]
            elif kind is cst.IndentedBlock:
                self._write_block(node)  # type: ignore[arg-type]
            else:
                node._codegen(self)  # noqa: SLF001 - libcst has no other way to its writer
            return self.offset
        write, put = self._write, self.tokens.append
        offset = first = start
        last = -1
        part: Any = None
        for word, token in layout:
            if word == _START:
                first = offset
                continue
            if word == _END:
                last = self.written(part)[1] if part.__class__ in _BLOCKS else offset
                continue
            value: Any = getattr(node, word) if word else token
            kind = value.__class__
            if kind is _BLANK:  # the commonest of all, and mostly empty
                value, kind = value.value, str
            elif kind is _NEWLINE:
                value, kind = value.value or self.default_newline, str
            elif kind is bool:
                value, kind = "".join(self.indent_tokens) if value else "", str
            if kind is str:
                if value:
                    put(value)
                    offset += len(value)
            elif kind in NODES:
                offset = write(value, offset, token)
                part = value
            elif kind is tuple or kind is list:
                for part in value:
                    offset = write(part, offset)
        self.outer[node] = whole = (start, offset)
        if last >= 0 and (first, last) != whole:
            self.inner[node] = (first, last)
        return offset

    def _write_line(self, line: cst.SimpleStatementLine) -> None:
        start = self.offset
        for each in line.leading_lines:
            self.write(each)
        self.add_indent_tokens()
        first = self.offset
        for statement in line.body:
            self.write(statement)
        self.inner[line] = (first, self.written(line.body[-1])[1])
        self.write(line.trailing_whitespace)
        self.outer[line] = (start, self.offset)

    def _write_block(self, block: cst.IndentedBlock) -> None:
        if block is self._until:
            raise TargetWritten
        start = self.offset
        self.write(block.header)
        self.increase_indent(self.default_indent if block.indent is None else block.indent)
        for each in (*block.body, *block.footer):
            self.write(each)
        self.decrease_indent()
        self.inner[block] = (self.written(block.body[0])[0], self.written(block.body[-1])[1])
        self.outer[block] = (start, self.offset)

    def written(self, node: cst.CSTNode) -> Extent:
        """Return where a node stands that was written already."""
        return self.inner.get(node) or self.outer[node]

    # -- what libcst asks for

    def add_token(self, value: str) -> None:
        """Write a token."""
        self.tokens.append(value)
        self.offset += len(value)

    def add_indent_tokens(self) -> None:
        """Write the indentation."""
        for token in self.indent_tokens:
            self.add_token(token)

    def before_codegen(self, node: cst.CSTNode) -> None:
        """Note where a node begins."""
        if node is self._until:
            raise TargetWritten
        self._starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        """Note where a node has ended."""
        self.outer[node] = (self._starts.pop(), self.offset)

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Recording:
        """Note where what is written within stands, or from one node in it to another."""
        return _Recording(self, node, start_node, end_node)


class _Recording:
    """``with`` it around what is written of a node proper."""

    __slots__ = ("_end_node", "_node", "_start", "_start_node", "_state")

    def __init__(
        self,
        state: CodeWriter,
        node: cst.CSTNode,
        start_node: cst.CSTNode | None,
        end_node: cst.CSTNode | None,
    ) -> None:
        self._state = state
        self._node = node
        self._start_node = start_node
        self._end_node = end_node
        self._start = 0

    def __enter__(self) -> None:
        self._start = self._state.offset

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            return
        state = self._state
        start, end = self._start, state.offset
        if self._start_node is not None:
            start = state.written(self._start_node)[0]
        if self._end_node is not None:
            end = state.written(self._end_node)[1]
        state.inner[self._node] = (start, end)
