"""Build a libcst tree from Python's ``ast``.

Python's parser is eight times as fast as libcst's, which makes a node of each blank and comma, and
the gate has asked it already. So nodes here have the blanks of their class' default, and a comma
where another element follows. What a rule is about is the same as in the tree that libcst parses:
classes, names, texts of literals, brackets around expressions, indentation. A text with anything
that this module does not know is left to libcst.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final

import libcst as cst
from msgspec import Struct

from kdoctor.lazy_regex import pattern
from kdoctor.syntax.lowering import node_factories as make
from kdoctor.syntax.lowering.brackets import Brackets
from kdoctor.syntax.lowering.expressions import Expressions, Method, Methods, Pair, UnknownCodeError
from kdoctor.syntax.lowering.lean_nodes import make_lean
from kdoctor.syntax.lowering.node_factories import ASYNCHRONOUS, LPAR, RPAR, with_commas

_LEADING_BLANKS: Final = pattern(r"[ \t]*")
_MAX_GAP: Final = 200  # characters between a word and a bracket
_BETWEEN_SMALL_STATEMENTS: Final = " \t;\\\r\n"


class BuiltTree(Struct, frozen=True, eq=False):
    """A built tree and the spans of its nodes."""

    tree: cst.Module
    brackets: Brackets
    extents: dict[cst.CSTNode, Pair]
    """Where that stands which a node was made from, as far as it is a node of Python's tree."""
    around: dict[cst.CSTNode, Pair]
    """The outermost brackets around an expression that has some."""
    pieces: dict[cst.CSTNode, int]
    """Expressions that libcst parsed, and where each begins."""


def build(text: str, tree: ast.Module) -> BuiltTree:
    """Return the libcst tree of a text.

    Raises:
        UnknownCodeError: it holds what is left to libcst's parser.
        RecursionError: it is nested too deeply for this stack.
    """
    make_lean()
    return _Builder(text).built(tree)


class _Builder(Expressions):
    """Builds the statements around them, and puts the brackets in."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._spliced = "\\\n" in text or "\\\r\n" in text
        self._default_indent: str | None = None
        self._indents = [""]

    def built(self, tree: ast.Module) -> BuiltTree:
        """Return the tree of the whole text."""
        text = self.text
        body = self._statements(tree.body)
        first_line, newline, _ = text.partition("\n")
        newline = "\r\n" if newline and first_line.endswith("\r") else "\n"
        indent = self._default_indent or "    "
        module = make.module(body, indent, newline, text.endswith("\n"))
        return BuiltTree(module, self.brackets, self.extents, self._put_brackets(), self.pieces)

    # -- small statements

    def expression_statement(self, node: ast.Expr) -> Any:
        return make.expression(self.expression(node.value))

    def assign(self, node: ast.Assign) -> Any:
        targets = [make.assign_target(self.expression(each)) for each in node.targets]
        return make.assign(targets, self.expression(node.value))

    def augmented(self, node: ast.AugAssign) -> Any:
        operator = make.ASSIGNING[node.op.__class__]
        target = self.expression(node.target)
        return make.augmented_assign(target, operator, self.expression(node.value))

    def annotated(self, node: ast.AnnAssign) -> Any:
        target = self.expression(node.target)
        annotation = make.annotation(self.expression(node.annotation))
        return make.annotated_assign(target, annotation, self.maybe(node.value))

    def return_(self, node: ast.Return) -> Any:
        return make.return_(self.maybe(node.value))

    def delete(self, node: ast.Delete) -> Any:
        if len(node.targets) == 1 and self.end(node) == self._end_with_brackets(node.targets[0]):
            return make.delete(self.expression(node.targets[0]))
        return make.delete(make.tuple_(self.elements(node.targets)))

    def _end_with_brackets(self, node: Any) -> int:
        """Return where an expression ends, or the last bracket around it does."""
        text = self.text
        end = self.end(node)
        while True:
            after = self.brackets.after_blanks(end)
            if text[after : after + 1] != ")":
                return end
            end = after + 1

    def raise_(self, node: ast.Raise) -> Any:
        exc = self.maybe(node.exc)
        cause = None if node.cause is None else make.from_(self.expression(node.cause))
        return make.raise_(exc, cause)

    def assert_(self, node: ast.Assert) -> Any:
        return make.assertion(self.expression(node.test), self.maybe(node.msg))

    def import_(self, node: ast.Import) -> Any:
        return make.import_(self._aliases(node.names))

    def import_from(self, node: ast.ImportFrom) -> Any:
        module = None if node.module is None else self._dotted(node.module)
        relative = [make.DOT] * node.level
        if node.names[0].name == "*":
            return make.import_from(module, make.import_star(), relative, None, None)
        bracket = self.text[self.end(node) - 1] == ")"
        brackets = (LPAR, RPAR) if bracket else (None, None)
        return make.import_from(module, self._aliases(node.names), relative, *brackets)

    def _aliases(self, nodes: list[ast.alias]) -> list[Any]:
        made = []
        for each, comma in with_commas(nodes):
            asname = None
            if each.asname is not None:
                asname = make.as_name(self.plain(each.asname))
            alias = make.import_alias(self._dotted(each.name), asname, comma)
            made.append(self.kept(alias, each))
        return made

    def _dotted(self, dotted: str) -> Any:
        first, *others = dotted.split(".")
        made = self.plain(first)
        for each in others:
            made = make.attribute(made, self.plain(each))
        return made

    def plain(self, identifier: str) -> Any:
        """Return the Name of an identifier whose place is not told."""
        if not self._ascii and not identifier.isascii():
            raise UnknownCodeError
        return make.name(identifier)

    def global_(self, node: ast.Global) -> Any:
        return make.global_(self._name_items(node.names))

    def nonlocal_(self, node: ast.Nonlocal) -> Any:
        return make.nonlocal_(self._name_items(node.names))

    def _name_items(self, names: list[str]) -> list[Any]:
        return [make.name_item(self.plain(each), comma) for each, comma in with_commas(names)]

    def pass_(self, node: ast.Pass) -> Any:  # noqa: ARG002
        return make.pass_()

    def break_(self, node: ast.Break) -> Any:  # noqa: ARG002
        return make.break_()

    def continue_(self, node: ast.Continue) -> Any:  # noqa: ARG002
        return make.continue_()

    # -- blocks

    def _statements(self, nodes: Sequence[Any]) -> list[Any]:
        """Return the lines and compound statements of a block or module."""
        made: list[Any] = []
        before: Any = None
        for node in nodes:
            small = _SMALL.get(node.__class__)
            if small is None:
                statement = _COMPOUND[node.__class__](self, node)
                made.append(statement)
                before = None
            else:
                statement = small(self, node)
                if before is not None and self._on_one_line(before, node):
                    made[-1].body.append(statement)
                else:
                    made.append(make.line([statement]))
                before = node
            self.kept(statement, node)
        return made

    def _on_one_line(self, before: Any, node: Any) -> bool:
        """Say whether a semicolon stands between small statements, not a line break."""
        if before.end_lineno == node.lineno:
            return True
        if not self._spliced:
            return False
        between = self.text[self.end(before) : self.start(node)]
        return ";" in between and "\\" in between and not between.strip(_BETWEEN_SMALL_STATEMENTS)

    def _body(self, nodes: list[Any]) -> Any:
        first = nodes[0]
        top = next(iter(getattr(first, "decorator_list", ())), first)
        line = self.starts[top.lineno - 1]
        blanks = self.text[line : _end_of_blanks(self.text, line)]
        if first.__class__ in _SMALL and (
            self.start(first) != line + len(blanks) or self._is_continued(line)
        ):
            return make.suite([self._small(each) for each in nodes])
        around = self._indents[-1]
        if not blanks.startswith(around):
            raise UnknownCodeError
        indent = blanks[len(around) :]
        if self._default_indent is None:
            self._default_indent = indent
        self._indents.append(blanks)
        made = make.block(
            self._statements(nodes), None if indent == self._default_indent else indent
        )
        self._indents.pop()
        return made

    def _is_continued(self, line: int) -> bool:
        """Say whether the line that starts at an offset is joined to the one before."""
        if not self._spliced:
            return False
        end = line - 2 if self.text[line - 2 : line] == "\r\n" else line - 1
        return self.brackets.is_continued(end)

    def _small(self, node: Any) -> Any:
        return self.kept(_SMALL[node.__class__](self, node), node)

    def _otherwise(self, nodes: list[Any]) -> Any:
        return make.else_(self._body(nodes)) if nodes else None

    def if_(self, node: ast.If) -> Any:
        # A ladder is built from its foot: it may be longer than the stack is deep.
        ladder = [node]
        while self._has_elif(ladder[-1]):
            ladder.append(ladder[-1].orelse[0])  # type: ignore[arg-type]
        parts = [(self.expression(each.test), self._body(each.body)) for each in ladder]
        made = self._otherwise(ladder[-1].orelse)
        for each, (test, body) in zip(reversed(ladder), reversed(parts), strict=True):
            made = make.if_(test, body, made)
            if each is not node:
                self.kept(made, each)
        return made

    def _has_elif(self, node: ast.If) -> bool:
        if len(node.orelse) != 1 or node.orelse[0].__class__ is not ast.If:
            return False
        return self.text.startswith("elif", self.start(node.orelse[0]))

    def for_(self, node: ast.For | ast.AsyncFor) -> Any:
        target, iterable = self.expression(node.target), self.expression(node.iter)
        body = self._body(node.body)
        asynchronous = ASYNCHRONOUS if node.__class__ is ast.AsyncFor else None
        return make.for_(target, iterable, body, self._otherwise(node.orelse), asynchronous)

    def while_(self, node: ast.While) -> Any:
        test, body = self.expression(node.test), self._body(node.body)
        return make.while_(test, body, self._otherwise(node.orelse))

    def with_(self, node: ast.With | ast.AsyncWith) -> Any:
        items = []
        for each, comma in with_commas(node.items):
            item, name = self.expression(each.context_expr), self.maybe(each.optional_vars)
            asname = None if name is None else make.as_name(name)
            items.append(make.with_item(item, asname, comma))
        asynchronous = ASYNCHRONOUS if node.__class__ is ast.AsyncWith else None
        return make.with_(items, self._body(node.body), asynchronous)

    def try_(self, node: Any) -> Any:
        starred = node.__class__ is not ast.Try
        make_handler = make.star_handler if starred else make.handler
        body = self._body(node.body)
        handlers = []
        for each in node.handlers:
            kind = self.maybe(each.type)
            name = None if each.name is None else make.as_name(self.plain(each.name))
            handler = make_handler(kind, name, self._body(each.body))
            handlers.append(self.kept(handler, each))
        otherwise = self._otherwise(node.orelse)
        final = make.finally_(self._body(node.finalbody)) if node.finalbody else None
        return (make.try_star if starred else make.try_)(body, handlers, otherwise, final)

    def function(self, node: Any) -> Any:
        if getattr(node, "type_params", None):
            raise UnknownCodeError
        decorators = [make.decorator(self.expression(each)) for each in node.decorator_list]
        parameters = self.parameters(node.args)
        returns = None
        if node.returns is not None:
            returns = make.annotation(self.expression(node.returns))
        asynchronous = ASYNCHRONOUS if node.__class__ is ast.AsyncFunctionDef else None
        name, body = self.plain(node.name), self._body(node.body)
        return make.function(name, parameters, body, decorators, returns, asynchronous)

    def class_(self, node: Any) -> Any:
        if getattr(node, "type_params", None):
            raise UnknownCodeError
        decorators = [make.decorator(self.expression(each)) for each in node.decorator_list]
        arguments = self.arguments(node.bases, node.keywords)
        first = next(
            (place for place, each in enumerate(arguments) if each.keyword or each.star == "**"),
            len(arguments),
        )
        name, body = self.plain(node.name), self._body(node.body)
        return make.class_(name, arguments[:first], arguments[first:], body, decorators)

    # -- brackets

    def _put_brackets(self) -> dict[cst.CSTNode, Pair]:
        """Give expressions the brackets around them; return the outermost of each."""
        after_blanks = self.brackets.after_blanks
        groups = {start: (end, after_blanks(start + 1)) for start, end in self.brackets.groups()}
        if not groups:
            return {}
        by_start = self._expressions_at({inside for _, inside in groups.values()})
        found: dict[int, cst.CSTNode] = {}  # by the offset of the opening bracket
        around: dict[cst.CSTNode, Pair] = {}
        for start, (end, inside) in groups.items():
            node = None
            if inside in found and after_blanks(groups[inside][0] + 1) == end:
                node = found[inside]
            for each, after in by_start.get(inside, ()) if node is None else ():
                if after_blanks(after) == end:
                    node = each  # the last is the outermost
            if node is None or self._is_of_with(start, end):
                continue
            found[start] = node
            around[node] = (start, end + 1)
            object.__setattr__(node, "lpar", (LPAR, *node.lpar))  # type: ignore[attr-defined]
            object.__setattr__(node, "rpar", (RPAR, *node.rpar))  # type: ignore[attr-defined]
        return around

    def _expressions_at(self, offsets: set[int]) -> dict[int, list[tuple[cst.CSTNode, int]]]:
        """Return the expressions that start at some offsets, with where each ends."""
        found: dict[int, list[tuple[cst.CSTNode, int]]] = {}
        for node, (start, end) in self.extents.items():
            if start in offsets and isinstance(node, cst.BaseExpression):
                found.setdefault(start, []).append((node, end))
        return found

    def _is_of_with(self, start: int, end: int) -> bool:
        """Say whether a pair is that of ``with (…):`` itself."""
        before = self.text[max(0, start - _MAX_GAP) : start].rstrip(" \t\\\r\n")
        after = self.brackets.after_blanks(end + 1)
        return before.endswith("with") and self.text[after : after + 1] == ":"


def _end_of_blanks(text: str, offset: int) -> int:
    found = _LEADING_BLANKS.match(text, offset)
    return offset if found is None else found.end()


_SMALL: Final[dict[type[ast.AST], Method]] = {
    ast.Expr: _Builder.expression_statement,
    ast.Assign: _Builder.assign,
    ast.AugAssign: _Builder.augmented,
    ast.AnnAssign: _Builder.annotated,
    ast.Return: _Builder.return_,
    ast.Delete: _Builder.delete,
    ast.Raise: _Builder.raise_,
    ast.Assert: _Builder.assert_,
    ast.Import: _Builder.import_,
    ast.ImportFrom: _Builder.import_from,
    ast.Global: _Builder.global_,
    ast.Nonlocal: _Builder.nonlocal_,
    ast.Pass: _Builder.pass_,
    ast.Break: _Builder.break_,
    ast.Continue: _Builder.continue_,
}
_COMPOUND: Final = Methods(
    {
        ast.If: _Builder.if_,
        ast.For: _Builder.for_,
        ast.AsyncFor: _Builder.for_,
        ast.While: _Builder.while_,
        ast.With: _Builder.with_,
        ast.AsyncWith: _Builder.with_,
        ast.Try: _Builder.try_,
        ast.TryStar: _Builder.try_,
        ast.FunctionDef: _Builder.function,
        ast.AsyncFunctionDef: _Builder.function,
        ast.ClassDef: _Builder.class_,
    }
)
