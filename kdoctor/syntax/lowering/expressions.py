# ruff: noqa: D102 - a method of the table at the end is named for what it builds
"""Build libcst expressions from ``ast`` expressions; see ``building``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import libcst as cst
from libcst import native  # type: ignore[attr-defined]

from kdoctor.lazy_regex import pattern
from kdoctor.syntax.line_offsets import Lines
from kdoctor.syntax.lowering import node_factories as make
from kdoctor.syntax.lowering.brackets import STRING, Brackets, UnbalancedError
from kdoctor.syntax.lowering.node_factories import ASYNCHRONOUS, COMMA, NONE_THERE, with_commas

Pair = tuple[int, int]
"""Where something starts and ends in the text."""

_ONE_STRING: Final = pattern(rf"[a-zA-Z]{{0,2}}(?:{STRING})\Z", re.DOTALL)


class UnknownCodeError(Exception):
    """The text contains code that only libcst's own parser understands."""


class Expressions:
    """Builds expressions and records their positions in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.starts = self.lines.starts
        self._ascii = text.isascii()
        try:
            self.brackets = Brackets(text)
        except UnbalancedError:
            raise UnknownCodeError from None
        self.extents: dict[cst.CSTNode, Pair] = {}  # a child comes before what holds it
        self.pieces: dict[cst.CSTNode, int] = {}

    def kept(self, made: Any, origin: Any) -> Any:
        """Return a node, and record what it was built from."""
        if self._ascii:  # as nearly all is, and this is asked for every node
            starts = self.starts
            start = starts[origin.lineno - 1] + origin.col_offset
            end = starts[origin.end_lineno - 1] + origin.end_col_offset
        else:
            start, end = self.start(origin), self.end(origin)
        self.extents[made] = start, end
        return made

    # -- the text

    def offset(self, line: int, column: int) -> int:
        if self._ascii:
            return self.starts[line - 1] + column
        return self.lines.offset(line, column)

    def start(self, node: Any) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: Any) -> int:
        return self.offset(node.end_lineno, node.end_col_offset)

    def source(self, node: Any) -> str:
        return self.text[self.start(node) : self.end(node)]

    def word(self, identifier: str, offset: Callable[[], int]) -> Any:
        """Return a Name: identifiers are normalized in Python's tree, and not in the text."""
        if not self._ascii:
            start = offset()
            if not self.text.startswith(identifier, start):
                raise UnknownCodeError
        return make.name(identifier)

    # -- expressions

    def expression(self, node: Any) -> Any:
        """Return an expression with all that it is made of."""
        return self.kept(_EXPRESSIONS[node.__class__](self, node), node)

    def maybe(self, node: Any) -> Any:
        """Return an optional expression."""
        return None if node is None else self.expression(node)

    def unknown(self, node: Any) -> Any:  # noqa: ARG002
        raise UnknownCodeError

    def name(self, node: ast.Name) -> Any:
        return self.word(node.id, lambda: self.start(node))

    def constant(self, node: ast.Constant) -> Any:
        value = node.value
        if value is None or value is True or value is False:
            return make.name(str(value))
        kind = value.__class__
        if kind is str or kind is bytes:
            source = self.source(node)
            if _ONE_STRING.match(source):
                return make.string(source)
            return self._parsed(node, source)
        if value is ...:
            return make.ellipsis()
        source = self.source(node)
        if kind is int:
            return make.integer(source)
        return make.floating(source) if kind is float else make.imaginary(source)

    def formatted(self, node: ast.JoinedStr) -> Any:
        return self._parsed(node, self.source(node))

    def _parsed(self, node: Any, source: str) -> Any:
        """Return what libcst's parser makes of strings side by side, or of a formatted one."""
        try:
            made = native.parse_expression(f"({source}\n)")
        except cst.ParserSyntaxError:
            raise UnknownCodeError from None
        object.__setattr__(made, "lpar", ())
        object.__setattr__(made, "rpar", ())
        self.pieces[made] = self.start(node)
        return made

    def attribute(self, node: ast.Attribute) -> Any:
        value = self.expression(node.value)
        attr = node.attr
        if self._ascii:
            return make.attribute(value, make.name(attr))
        return make.attribute(value, self.word(attr, lambda: self.end(node) - len(attr)))

    def call(self, node: ast.Call) -> Any:
        func = self.expression(node.func)
        positional, keywords = node.args, node.keywords
        if len(positional) == 1 and not keywords and positional[0].__class__ is ast.GeneratorExp:
            only: Any = positional[0]
            if (only.end_lineno, only.end_col_offset) == (node.end_lineno, node.end_col_offset):
                generator = make.generator(self.expression(only.elt), self._for_in(only.generators))
                self.kept(generator, only)
                return make.call(func, [make.argument(generator, NONE_THERE)])
        return make.call(func, self.arguments(positional, keywords))

    def arguments(self, positional: list[Any], keywords: list[Any]) -> list[Any]:
        given = positional
        if keywords:
            given = [*positional, *keywords]
            if positional and positional[-1].__class__ is ast.Starred:
                given.sort(key=lambda each: (each.lineno, each.col_offset))
        made = []
        for each, comma in with_commas(given):
            kind = each.__class__
            if kind is ast.keyword:
                value = self.expression(each.value)
                if each.arg is None:
                    argument = make.starred_argument("**", value, comma)
                else:
                    argument = make.named_argument(
                        self.word(each.arg, partial(self.start, each)), value, comma
                    )
            elif kind is ast.Starred:
                argument = make.starred_argument("*", self.expression(each.value), comma)
            else:
                made.append(make.argument(self.expression(each), comma))
                continue
            made.append(self.kept(argument, each))
        return made

    def subscript(self, node: ast.Subscript) -> Any:
        value = self.expression(node.value)
        inside = node.slice
        if inside.__class__ is not ast.Tuple or self.has_brackets(inside):
            return make.subscript(value, [self._subscript_element(inside, NONE_THERE)])
        elements: Any = inside.elts
        if len(elements) == 1:  # `x[1,]` is a tuple
            return make.subscript(value, [self._subscript_element(elements[0], COMMA)])
        return make.subscript(
            value, [self._subscript_element(*each) for each in with_commas(elements)]
        )

    def _subscript_element(self, node: Any, comma: object) -> Any:
        if node.__class__ is ast.Starred:
            return make.subscript_element(make.starred_index(self.expression(node.value)), comma)
        made = self.expression(node)
        if node.__class__ is not ast.Slice:
            made = make.index(made)
        return make.subscript_element(made, comma)

    def slice_(self, node: ast.Slice) -> Any:
        lower, upper = self.maybe(node.lower), self.maybe(node.upper)
        return make.slice_(lower, upper, self.maybe(node.step))

    def has_brackets(self, node: Any) -> bool:
        """Say whether a tuple, or a generator, has brackets of its own."""
        start = self.start(node)
        return self.brackets.closed_by.get(start) == self.end(node) - 1

    def tuple_(self, node: ast.Tuple) -> Any:
        elements = self.elements(node.elts)
        if self.has_brackets(node):
            return make.tuple_in_brackets(elements)
        return make.tuple_(elements)

    def list_(self, node: ast.List) -> Any:
        return make.list_(self.elements(node.elts))

    def set_(self, node: ast.Set) -> Any:
        return make.set_(self.elements(node.elts))

    def elements(self, nodes: list[Any]) -> list[Any]:
        made = []
        for each, comma in with_commas(nodes):
            if each.__class__ is ast.Starred:
                element = make.starred_element(self.expression(each.value), comma)
                made.append(self.kept(element, each))
            else:
                made.append(make.element(self.expression(each), comma))
        return made

    def dict_(self, node: ast.Dict) -> Any:
        made = []
        for (key, value), comma in with_commas([*zip(node.keys, node.values, strict=True)]):
            if key is None:
                made.append(make.starred_dict_element(self.expression(value), comma))
            else:
                made.append(make.dict_element(self.expression(key), self.expression(value), comma))
        return make.dict_(made)

    def generator(self, node: ast.GeneratorExp) -> Any:
        return make.generator_in_brackets(self.expression(node.elt), self._for_in(node.generators))

    def list_comprehension(self, node: ast.ListComp) -> Any:
        return make.list_comprehension(self.expression(node.elt), self._for_in(node.generators))

    def set_comprehension(self, node: ast.SetComp) -> Any:
        return make.set_comprehension(self.expression(node.elt), self._for_in(node.generators))

    def dict_comprehension(self, node: ast.DictComp) -> Any:
        key, value = self.expression(node.key), self.expression(node.value)
        return make.dict_comprehension(key, value, self._for_in(node.generators))

    def _for_in(self, generators: list[ast.comprehension]) -> Any:
        inner = None
        for each in reversed(generators):
            inner = make.comp_for(
                self.expression(each.target),
                self.expression(each.iter),
                [make.comp_if(self.expression(test)) for test in each.ifs],
                inner,
                ASYNCHRONOUS if each.is_async else None,
            )
        return inner

    def if_expression(self, node: ast.IfExp) -> Any:
        body, test = self.expression(node.body), self.expression(node.test)
        return make.if_expression(test, body, self.expression(node.orelse))

    def lambda_(self, node: ast.Lambda) -> Any:
        return make.lambda_(self.parameters(node.args), self.expression(node.body))

    def named(self, node: ast.NamedExpr) -> Any:
        return make.named_expression(self.expression(node.target), self.expression(node.value))

    def boolean(self, node: ast.BoolOp) -> Any:
        operator = make.OPERATORS[node.op.__class__]
        left = self.expression(node.values[0])
        for each in node.values[1:]:
            left = make.boolean_operation(left, operator, self.expression(each))
        return left

    def binary(self, node: ast.BinOp) -> Any:
        operator = make.OPERATORS[node.op.__class__]
        left = self.expression(node.left)
        return make.binary_operation(left, operator, self.expression(node.right))

    def unary(self, node: ast.UnaryOp) -> Any:
        operator = make.OPERATORS[node.op.__class__]
        return make.unary_operation(operator, self.expression(node.operand))

    def comparison(self, node: ast.Compare) -> Any:
        left = self.expression(node.left)
        return make.comparison(
            left,
            [
                make.comparison_target(make.OPERATORS[op.__class__], self.expression(each))
                for op, each in zip(node.ops, node.comparators, strict=True)
            ],
        )

    def await_(self, node: ast.Await) -> Any:
        return make.await_(self.expression(node.value))

    def yield_(self, node: ast.Yield) -> Any:
        return make.yield_(self.maybe(node.value))

    def yield_from(self, node: ast.YieldFrom) -> Any:
        return make.yield_(make.from_(self.expression(node.value)))

    # -- parameters

    def parameters(self, node: ast.arguments) -> Any:
        positional = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults
        in_turn = [
            *(("", *pair) for pair in zip(positional, defaults, strict=True)),
            *((("*", node.vararg, None),) if node.vararg else ()),
            *(("", *pair) for pair in zip(node.kwonlyargs, node.kw_defaults, strict=True)),
            *((("**", node.kwarg, None),) if node.kwarg else ()),
        ]
        made = [
            self._parameter(star, each, default, comma)
            for (star, each, default), comma in with_commas(in_turn)
        ]
        keywords = len(node.args) + len(node.posonlyargs)
        star: object = NONE_THERE
        if node.vararg:
            star = made.pop(keywords)
        elif node.kwonlyargs:
            star = make.bare_star()
        return make.parameters(
            made[: len(node.posonlyargs)],
            make.SLASH if node.posonlyargs else NONE_THERE,
            made[len(node.posonlyargs) : keywords],
            star,
            made[keywords : keywords + len(node.kwonlyargs)],
            made[-1] if node.kwarg else None,
        )

    def _parameter(self, star: str, node: ast.arg, default: Any, comma: object) -> Any:
        annotation = None
        if node.annotation is not None:
            if node.annotation.__class__ is ast.Starred:
                raise UnknownCodeError
            annotation = make.annotation(self.expression(node.annotation))
        made = make.parameter(
            star,
            self.word(node.arg, lambda: self.start(node)),
            annotation,
            NONE_THERE if default is None else make.EQUAL,
            self.maybe(default),
            comma,
        )
        return self.kept(made, node)


Method = Callable[[Any, Any], Any]


class Methods(dict[type[ast.AST], Method]):
    """The builder method of each ``ast`` class; unsupported classes raise."""

    def __missing__(self, kind: type[ast.AST]) -> Method:
        return Expressions.unknown


_EXPRESSIONS: Final = Methods(
    {
        ast.Name: Expressions.name,
        ast.Constant: Expressions.constant,
        ast.JoinedStr: Expressions.formatted,
        ast.Attribute: Expressions.attribute,
        ast.Call: Expressions.call,
        ast.Subscript: Expressions.subscript,
        ast.Slice: Expressions.slice_,
        ast.Tuple: Expressions.tuple_,
        ast.List: Expressions.list_,
        ast.Set: Expressions.set_,
        ast.Dict: Expressions.dict_,
        ast.GeneratorExp: Expressions.generator,
        ast.ListComp: Expressions.list_comprehension,
        ast.SetComp: Expressions.set_comprehension,
        ast.DictComp: Expressions.dict_comprehension,
        ast.IfExp: Expressions.if_expression,
        ast.Lambda: Expressions.lambda_,
        ast.NamedExpr: Expressions.named,
        ast.BoolOp: Expressions.boolean,
        ast.BinOp: Expressions.binary,
        ast.UnaryOp: Expressions.unary,
        ast.Compare: Expressions.comparison,
        ast.Await: Expressions.await_,
        ast.Yield: Expressions.yield_,
        ast.YieldFrom: Expressions.yield_from,
    }
)
