"""Build the new expression from a rule's right side and a call's arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import libcst as cst
from msgspec import Struct, field
from msgspec.structs import replace

from kdoctor.model import Hole, Precedence
from kdoctor.rewrite.binding import Argument, CallBinding
from kdoctor.rewrite.call_items import Item, plan_items
from kdoctor.rewrite.expression_context import (
    breaks_lines_openly,
    is_inside_brackets,
    may_bind_a_name,
    runs_in_class_body,
)
from kdoctor.rewrite.fstrings import f_string
from kdoctor.rewrite.parameters import NewParameters, SignatureLookup, same_value
from kdoctor.rewrite.pattern import Code
from kdoctor.rewrite.precedence import (
    precedence_of,
    template_precedence_of,
    template_required_precedence,
)
from kdoctor.rewrite.refusal import Refused
from kdoctor.rewrite.template import Rewrite
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import ast_dotted_name
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import UNKNOWN, literal

Parts = tuple[str | Hole, ...]

# What they do depends on where they stand among the other arguments.
_IN_ORDER = (cst.Await, cst.Yield, cst.NamedExpr)


class Builder(Struct, frozen=True):
    """Turns one rule's right side into text and holes, for one call.

    ``call`` is what is replaced (for a member that is read, the attribute). ``spell`` gives a
    dotted name of the template (or a builtin) as this file writes it.
    """

    module: Module
    row: Rewrite
    call: cst.BaseExpression
    binding: CallBinding
    spell: Callable[[str], str]
    signatures: SignatureLookup
    may_name: bool = True
    """Whether what is read several times may get a name; else it must be one, or a literal."""
    names: dict[str, str] = field(default_factory=dict)
    """Of arguments that are read several times and evaluated once: what they are called."""
    _named: set[str] = field(default_factory=set)  # those that stand in the new expression so far

    def check(self) -> None:
        """Refuse if an argument would be lost, evaluated twice, or change its meaning."""
        replacement = self.row.replacement
        pinned = self.row.when.pins if self.row.when is not None else frozenset()
        for argument in self.binding.arguments:
            name = argument.parameter
            uses = replacement.uses[name]
            if not uses and name not in pinned and not self.is_the_default(argument):
                raise Refused(f"the argument `{name}` has no counterpart in `{self.row.right}`")
            is_read_once = name in replacement.read_once and dotted_name(argument.value) is not None
            if uses > 1 and not is_read_once and not _may_be_copied(argument.value):
                self._name(argument, uses)
            if name in replacement.inner:
                self._check_inner(argument)
            if len(self.binding.arguments) > 1 and _holds(argument.value, _IN_ORDER):
                raise Refused(f"the argument `{name}` must be evaluated in its original order")

    def expression(self) -> tuple[Parts, Precedence]:
        """Return the whole right side and its precedence."""
        self._named.clear()
        code = self.row.replacement.code
        if not isinstance(code.node, ast.Name) or code.node.id not in self.row.pattern.parameters:
            parts = self._emit(code, Precedence.ANY, bracketed=False)
            return joined(parts), template_precedence_of(code.node)
        # It binds as the argument does: `identity(a + b) * 2` is `(a + b) * 2`.
        own = self._argument_binds(code.node.id)
        parts = self._argument(code.node.id, own, bracketed=False)
        match parts:
            case (Hole(required=Precedence.ATOM),):  # it has parentheses already
                own = Precedence.ATOM
        return parts, own

    def items(self) -> list[Item] | None:
        """Return the arguments of the new call, None where the right side is no plain call."""
        node = self.row.replacement.code.node
        if not isinstance(node, ast.Call) or self.new_name() is None or self.names:
            return None
        return self._items(node)

    def new_name(self) -> str | None:
        """Return the dotted name that the right side calls, None where it is no plain call."""
        node = self.row.replacement.code.node
        name = ast_dotted_name(node.func) if isinstance(node, ast.Call) else None
        return None if name is None or self._is_own(name) else name

    def item_parts(self, item: Item) -> Parts:
        """Return the expression of one argument of the new call."""
        if item.node is None:
            assert item.passed is not None
            return (self._hole(item.passed.value, Precedence.LAMBDA),)
        code = Code(item.node, self.row.replacement.code.text)
        return joined(self._emit(code, Precedence.LAMBDA, bracketed=True))

    # What must hold of an argument

    def is_the_default(self, argument: Argument) -> bool:
        """Say whether an argument says no more than what holds without it."""
        default = self.row.pattern.parameters[argument.parameter].default
        source = self.module.source(argument.value)
        try:
            written = Code(ast.parse(source, mode="eval").body, source)
        except (SyntaxError, ValueError):
            return False
        is_literal = literal(written.node) is not UNKNOWN
        return is_literal and isinstance(default, Code) and same_value(written, default)

    def _name(self, argument: Argument, uses: int) -> None:
        """Give an argument a name where it stands first, or refuse: ``f(x := a + b, g(x))``."""
        name = argument.parameter
        others = [each.value for each in self.binding.arguments if each is not argument]
        if (
            not self.may_name
            or name not in self.row.replacement.first_as_written
            or name in self.row.replacement.inner
            or not may_bind_a_name(self.module, self.call)
            # What stands in their place may bind the same name.
            or any(self._has_references(each) for each in others)
        ):
            raise Refused(
                f"the argument `{name}` would be evaluated {uses} times: "
                "it is neither a name nor a literal"
            )
        free = (name, *(f"{name}_{number}" for number in range(1, 100)))
        self.names[name] = next(each for each in free if not self._is_written(each))

    def _is_written(self, name: str) -> bool:
        return re.search(rf"\b{re.escape(name)}\b", self.module.text) is not None

    def _has_references(self, node: cst.BaseExpression) -> bool:
        span = self.module.span(node)
        return any(span.covers(self.module.span(each.node)) for each in self.module.references)

    def _check_inner(self, argument: Argument) -> None:
        """Refuse where the argument means something else inside a lambda or comprehension."""
        if _holds(argument.value, _IN_ORDER):
            raise Refused(f"the argument `{argument.parameter}` cannot move into an inner scope")
        for node in descendants(argument.value):
            if isinstance(node, cst.Name) and node.value in self.row.replacement.local:
                raise Refused(f"the argument reads `{node.value}`, which the new expression binds")
        if runs_in_class_body(self.module, self.call):
            raise Refused("names of a class body cannot be read in an inner scope")

    # The right side, node by node

    def _emit(self, code: Code, wanted: Precedence, *, bracketed: bool) -> Parts:
        node = code.node
        if isinstance(node, ast.Name) and node.id in self.row.pattern.parameters:
            return self._argument(node.id, wanted, bracketed=bracketed)
        name = ast_dotted_name(node)
        if name is not None and not self._is_own(name):
            return (self.spell(name),)
        match node:
            case ast.Name() | ast.Constant():
                return (code.source(),)
            case ast.Call():
                function = Code(node.func, code.text)
                called = self._emit(function, Precedence.PRIMARY, bracketed=bracketed)
                return (*called, "(", *self._arguments(self._items(node)), ")")
            case ast.JoinedStr():
                return f_string(node, lambda inner: self._in_f_string(inner, code.text), self._text)
        return self._spliced(code, bracketed=bracketed)

    def _spliced(self, code: Code, *, bracketed: bool) -> Parts:
        """Keep the template's own text, but for the expressions inside."""
        parts: list[str | Hole] = []
        depth = 0
        offset = code.node.col_offset
        for parent, child in sorted(_children(code.node), key=lambda pair: pair[1].col_offset):
            literal = code.text[offset : child.col_offset]
            depth += sum(map(literal.count, "([{")) - sum(map(literal.count, ")]}"))
            wanted = template_required_precedence(parent, child)
            inner = Code(child, code.text)
            parts += [literal, *self._emit(inner, wanted, bracketed=bracketed or depth > 0)]
            offset = child.end_col_offset or offset
        return (*parts, code.text[offset : code.node.end_col_offset])

    def _items(self, call: ast.Call) -> list[Item]:
        name = ast_dotted_name(call.func)
        known = name is not None and not self._is_own(name)
        slots = (
            NewParameters.of(name, self.signatures)
            if known and name is not None
            else NewParameters(None)
        )
        return plan_items(call, slots, self.binding)

    def _arguments(self, items: list[Item]) -> Parts:
        if len(items) == 1 and items[0].keyword is None:
            match self.item_parts(items[0]):
                case (Hole() as only,):  # `sum(x for x in y)` needs no more parentheses
                    return (replace(only, required=Precedence.ANY),)
                case parts:
                    return parts
        written: list[str | Hole] = []
        for index, item in enumerate(items):
            written.append(", " if index else "")
            written.append("" if item.keyword is None else f"{item.keyword}=")
            written += self.item_parts(item)
        return tuple(written)

    def _in_f_string(self, node: ast.expr, text: str) -> Parts:
        parts = self._emit(Code(node, text), Precedence.CONDITIONAL, bracketed=False)
        for part in parts:
            if isinstance(part, Hole) and any(
                part.span.covers(self.module.span(each.node)) for each in self.module.references
            ):
                raise Refused("an argument may itself be rewritten, and then not fit an f-string")
        return joined(parts)

    def _is_own(self, name: str) -> bool:
        """Say whether a dotted name starts at a parameter or at a name that the template binds."""
        first = name.partition(".")[0]
        return first in self.row.pattern.parameters or first in self.row.replacement.local

    def _argument(self, name: str, wanted: Precedence, *, bracketed: bool) -> Parts:
        value = self.binding.value(name)
        if value is None:
            default: Code = self.row.pattern.parameters[name].default
            parts = self._emit(default, wanted, bracketed=bracketed)
            return ("(", *parts, ")") if template_precedence_of(default.node) < wanted else parts
        if name in self._named:
            return (self.names[name],)
        if name in self.names:
            self._named.add(name)
            return (f"({self.names[name]} := ", self._hole(value, Precedence.LAMBDA), ")")
        hole = self._hole(value, wanted)
        in_brackets = bracketed or is_inside_brackets(self.module, self.call)
        if not in_brackets and breaks_lines_openly(self._text(hole)):
            # Nothing else would hold its lines together any more.
            hole = replace(hole, required=Precedence.ATOM, own=Precedence.ANY)
        return (hole,)

    def _argument_binds(self, name: str) -> Precedence:
        value = self.binding.value(name)
        if value is not None:
            return precedence_of(value)
        default: Code = self.row.pattern.parameters[name].default
        return template_precedence_of(default.node)

    def _hole(self, value: cst.BaseExpression, wanted: Precedence) -> Hole:
        return Hole(self.module.outer_span(value), wanted, precedence_of(value))

    def _text(self, hole: Hole) -> str:
        return self.module.text[hole.span.start : hole.span.end]


def joined(parts: Parts) -> Parts:
    """Return the parts with adjacent texts merged."""
    found: list[str | Hole] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part:
            found.append(part)
    return tuple(found)


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yield the nearest expressions below a node, each with what holds it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield node, child
        elif isinstance(child, ast.comprehension | ast.keyword | ast.arguments):
            yield from _children(child)


def _holds(node: cst.CSTNode, kinds: tuple[type[cst.CSTNode], ...]) -> bool:
    return any(isinstance(each, kinds) for each in descendants(node))


def _may_be_copied(node: cst.BaseExpression) -> bool:
    """Say whether reading an expression twice is as good as once: a name or a literal."""
    match node:
        case cst.UnaryOperation():
            return isinstance(node.expression, cst.BaseNumber)
        case cst.Tuple() | cst.List():
            return all(_may_be_copied(element.value) for element in node.elements)
        case cst.Name() | cst.BaseNumber() | cst.SimpleString():
            return True
    return False
