"""Which expressions in a glimpse of a source may be symbolic tensors, or lists of such.

It follows ``syntax.inference`` with less: names count for the whole file, and whatever may be one
is one. What it calls neither, inference calls no tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from kdoctor import keras_api
from kdoctor.keras_api.returns import CALLED, MEMBERS, TENSOR
from kdoctor.kinds import Kind, Type
from kdoctor.rules.facts import Facts
from kdoctor.syntax.glimpse import Called, Glimpse
from kdoctor.syntax.nodes import statements_in

NEITHER: Final = 0
ONE: Final = 1
LIST: Final = 2

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_ROUNDS = 30
_LISTS = frozenset({"list", "tuple", "reversed", "sorted", "iter", "enumerate", "zip"})
_ANSWERS = frozenset({"isinstance", "hasattr", "len", "int", "float", "bool", "str", "type", "id"})


def _form(made: Type | None) -> int:
    if made is None:
        return NEITHER
    if made.kind is Kind.LIST:
        return LIST if made.item is not None and made.item.kind is Kind.TENSOR else NEITHER
    return ONE if made.kind is Kind.TENSOR else NEITHER


_READ: Final = {name: _form(made) for (_, name), made in MEMBERS.items() if _form(made)}
_CALLED: Final = {name: _form(made) for (_, name), made in CALLED.items() if _form(made)}


@lru_cache(maxsize=1)
def tensors_in(glimpse: Glimpse, facts: Facts) -> Tensors:
    """Return what may be a tensor in a source; several rules ask it of the same one."""
    return Tensors(glimpse, facts)


def may_get_a_tensor(glimpse: Glimpse, facts: Facts, called: Called) -> bool:
    """Say whether a symbolic tensor, or a list of them, may be among what a call passes."""
    if not called.node.args and not called.node.keywords:
        return False
    tensors = tensors_in(glimpse, facts)
    return tensors.is_declared or any(map(tensors.form, called.values))


class Tensors:
    """The tensors of one source."""

    def __init__(self, glimpse: Glimpse, facts: Facts) -> None:
        self._glimpse = glimpse
        self._known = keras_api.knowledge(facts.target)
        self._names: dict[str, int] = {}
        self._attributes: dict[str, int] = {}
        self._functions: dict[str, int] = {}
        self._made: dict[str, int] = {}
        classes = (self._known.class_type(each) for each in glimpse.mentioned)
        # Somebody says so, in an annotation or a docstring: that can be of anything.
        self.is_declared = any(each is not None and _form(each) for each in classes)
        self._settle()

    def form(self, node: ast.expr | None) -> int:
        """Return whether an expression may be a tensor (ONE), a list of them (LIST), or both."""
        match node:
            case ast.Name(id=name):
                return self._names.get(name, NEITHER)
            case ast.Attribute(attr=name):
                named = self._attributes.get(name, NEITHER) | self._functions.get(name, NEITHER)
                return named | _READ.get(name, NEITHER)
            case ast.Call():
                return self._called(node)
            case ast.Subscript(value=value):
                found = self.form(value)
                return ONE | LIST if found & LIST else found
            case ast.BinOp(left=left, right=right):
                return (self.form(left) | self.form(right)) & ONE
            case ast.UnaryOp(operand=inner):
                return self.form(inner) & ONE
            case ast.IfExp(body=one, orelse=other):
                return self.form(one) | self.form(other)
            case ast.BoolOp(values=values):
                return self._any(values)
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self.form(value)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return LIST if self._any(parts) else NEITHER
            case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part):
                return LIST if self.form(part) else NEITHER
        return NEITHER

    def _any(self, nodes: Iterable[ast.expr]) -> int:
        found = NEITHER
        for each in nodes:
            found |= self.form(each)
        return found

    def _called(self, node: ast.Call) -> int:
        names = self._glimpse.meant_by(node.func)
        given = [*node.args, *(each.value for each in node.keywords)]
        gets_any, found = self._any(given) if names else NEITHER, NEITHER
        for name in names:
            found |= self._made_by(name)
            if gets_any:
                found |= self._made_of_tensors_by(name)
        leaf = node.func.id if isinstance(node.func, ast.Name) else ""
        if isinstance(node.func, ast.Attribute):
            leaf = node.func.attr
            found |= _CALLED.get(leaf, NEITHER)
        found |= self._functions.get(leaf, NEITHER)
        if leaf in _ANSWERS or (names and not self._glimpse.is_rebound(node.func)):
            return found
        if leaf in _LISTS and isinstance(node.func, ast.Name):
            found |= LIST if self._any(given) else NEITHER
            if not self._glimpse.is_rebound(node.func):
                return found
        # What is called with a tensor may be a layer, which looks at its first argument.
        first = (*given[:1], *(each.value for each in node.keywords[:1]))
        return found | (ONE | LIST if self._any(first) else NEITHER)

    def _made_by(self, name: str) -> int:
        if name not in self._made:
            made = self._known.result_type(name)
            self._made[name] = _form(made or self._known.class_type(name))
        return self._made[name]

    def _made_of_tensors_by(self, name: str) -> int:
        return _form(self._known.applied_type(name, TENSOR))

    # -- what holds what

    def _settle(self) -> None:
        bindings = list(self._bindings())
        functions = self._glimpse.nodes.get(ast.FunctionDef, [])
        returns = [(each.name, list(_returned(each))) for each in functions]
        parameters = list(self._parameters(functions))
        for _ in range(_ROUNDS):
            before = len(self._names), len(self._attributes), len(self._functions)
            forms = sum(self._names.values()) + sum(self._functions.values())
            for target, value, looped in bindings:
                self._bind(target, value, looped=looped)
            for name, values in returns:
                self._note(self._functions, name, self._any(values))
            for name, given in parameters:
                self._note(self._names, name, self.form(given))
            after = len(self._names), len(self._attributes), len(self._functions)
            if before == after and forms == sum(self._names.values()) + sum(
                self._functions.values()
            ):
                return
        self.is_declared = True  # no end in sight: whatever it is

    def _bindings(self) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
        nodes = self._glimpse.nodes
        for each in nodes.get(ast.Assign, ()):
            yield from ((target, each.value, False) for target in each.targets)
        for each in (*nodes.get(ast.AnnAssign, ()), *nodes.get(ast.NamedExpr, ())):
            if each.value is not None:
                yield each.target, each.value, False
        for each in (*nodes.get(ast.For, ()), *nodes.get(ast.comprehension, ())):
            yield each.target, each.iter, True

    def _bind(self, target: ast.expr, value: ast.expr, *, looped: bool) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and not looped:
                for one, other in zip(target.elts, value.elts, strict=False):
                    self._bind(one, other, looped=False)
                return
            for each in target.elts:
                self._bind(each, value, looped=True)
            return
        found = self.form(value)
        if looped and found:
            found = ONE | LIST
        if isinstance(target, ast.Name):
            self._note(self._names, target.id, found)
        elif isinstance(target, ast.Attribute):
            self._note(self._attributes, target.attr, found)

    def _parameters(self, functions: Iterable[_Function]) -> Iterator[tuple[str, ast.expr]]:
        """Yield what parameters of the file's functions are called with, by name."""
        by_name: dict[str, list[list[str]]] = {}
        for each in functions:
            known = [one.arg for one in (*each.args.posonlyargs, *each.args.args)]
            by_name.setdefault(each.name, []).append(known)
            defaults = each.args.defaults
            yield from zip(known[len(known) - len(defaults) :], defaults, strict=True)
        for called in self._glimpse.calls:
            node = called.node
            if isinstance(node.func, ast.Call) and node.args:
                first = node.args[0]
                if isinstance(first, ast.Name) and self._may_have_weights(node.func):
                    self._note(self._names, first.id, ONE)
            if not isinstance(node.func, ast.Name):
                continue
            for known in by_name.get(node.func.id, ()):
                yield from zip(known, node.args, strict=False)
                for keyword in node.keywords:
                    if keyword.arg in known:
                        yield keyword.arg, keyword.value

    def _may_have_weights(self, made: ast.Call) -> bool:
        """Say whether ``Layer(…)(x)`` may tell that ``x`` is a tensor, where it is a parameter."""
        names = self._glimpse.meant_by(made.func)
        layers = [each for each in map(self._known.class_type, names) if each is not None]
        if not layers or len(layers) < len(names) or self._glimpse.is_rebound(made.func):
            return True
        return any(map(self._known.has_weights, layers))

    @staticmethod
    def _note(known: dict[str, int], name: str, found: int) -> None:
        if found:
            known[name] = known.get(name, NEITHER) | found


def _returned(function: _Function) -> Iterator[ast.expr]:
    for each in statements_in(function.body):
        if isinstance(each, ast.Return) and each.value is not None:
            yield each.value
