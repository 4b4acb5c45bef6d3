"""Which expressions in a glimpse of a source may be symbolic tensors, or lists of such.

It follows ``syntax.inference`` with less: names count for the whole file, and whatever may be one
is one. What it calls neither, inference calls no tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

from kdoctor import keras_api
from kdoctor.keras_api.returns import CALLED, MEMBERS, TENSOR
from kdoctor.kinds import Kind, Type
from kdoctor.rules.facts import Facts
from kdoctor.syntax.glimpse import Called, Glimpse
from kdoctor.syntax.nodes import statements_in
from kdoctor.syntax.told_apart import ToldApart

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


class _Callee(NamedTuple):
    """What a call gives in itself and of tensors, whatever the names of the source hold."""

    leaf: str
    gives: int
    gives_of_tensors: int
    is_imported: bool  # and nothing else


class Tensors:
    """The tensors of one source.

    Only what one look finds a tensor, at which names count for the whole file, is looked at again.
    """

    def __init__(self, glimpse: Glimpse, facts: Facts) -> None:
        self._asked = glimpse, facts
        self._rough = _Found(glimpse, facts)
        self.is_declared = self._rough.is_declared

    @cached_property
    def _fine(self) -> _Found:
        glimpse, facts = self._asked
        return _Found(glimpse, facts, ToldApart(glimpse))

    def form(self, node: ast.expr | None) -> int:
        """Return whether an expression may be a tensor (ONE), a list of them (LIST), or both."""
        found = self._rough.form(node)
        if not found or self._fine.is_declared:
            return found
        return self._fine.form(node)


class _Found:
    """What one look finds; ``apart`` tells the names of functions apart."""

    def __init__(self, glimpse: Glimpse, facts: Facts, apart: ToldApart | None = None) -> None:
        self._apart = apart
        self._glimpse = glimpse
        self._known = keras_api.knowledge(facts.target)
        self._names: dict[str, int] = {}
        self._attributes: dict[str, int] = {}
        self._functions: dict[str, int] = {}
        self._made: dict[str, int] = {}
        self._callees: dict[ast.Call, _Callee] = {}
        classes = (self._known.class_type(each) for each in glimpse.mentioned)
        # Somebody says so, in an annotation or a docstring: that can be of anything.
        self.is_declared = any(each is not None and _form(each) for each in classes)
        self._settle()

    def form(self, node: ast.expr | None) -> int:
        """Return what ``Tensors.form`` does."""
        form = _FORMS.get(node.__class__)
        return NEITHER if form is None else form(self, node)

    def _of_name(self, node: ast.Name) -> int:
        return self._names.get(self._name(node), NEITHER)

    def _name(self, node: ast.Name) -> str:
        return node.id if self._apart is None else self._apart.name(node)

    def _of_attribute(self, node: ast.Attribute) -> int:
        name = node.attr
        named = self._attributes.get(name, NEITHER) | self._functions.get(name, NEITHER)
        return named | _READ.get(name, NEITHER)

    def _of_item(self, node: ast.Subscript) -> int:
        found = self.form(node.value)
        return ONE | LIST if found & LIST else found

    def any_of(self, nodes: Iterable[ast.expr]) -> int:
        """Return what some expression among these may be."""
        found = NEITHER
        for each in nodes:
            found |= self.form(each)
        return found

    def _of_call(self, node: ast.Call) -> int:
        made = self._callees.get(node)
        if made is None:
            made = self._callees[node] = self._callee(node)
        given = [*node.args, *(each.value for each in node.keywords)]
        found = made.gives | self._functions.get(made.leaf, NEITHER)
        if made.gives_of_tensors and self.any_of(given):
            found |= made.gives_of_tensors
        if made.leaf in _ANSWERS or made.is_imported:
            return found
        if made.leaf in _LISTS and isinstance(node.func, ast.Name):
            found |= LIST if self.any_of(given) else NEITHER
            if not self._glimpse.is_rebound(node.func):
                return found
        # What is called with a tensor may be a layer, which looks at its first argument.
        first = (*given[:1], *(each.value for each in node.keywords[:1]))
        return found | (ONE | LIST if self.any_of(first) else NEITHER)

    def _callee(self, node: ast.Call) -> _Callee:
        leaf, gives, of_tensors = "", NEITHER, NEITHER
        if isinstance(node.func, ast.Name):
            leaf = node.func.id
        elif isinstance(node.func, ast.Attribute):
            leaf = node.func.attr
            gives = _CALLED.get(leaf, NEITHER)
        names = self._glimpse.meant_by(node.func)
        for name in names:
            gives |= self._made_by(name)
            of_tensors |= _form(self._known.applied_type(name, TENSOR))
        is_imported = bool(names) and not self._glimpse.is_rebound(node.func)
        return _Callee(leaf, gives, of_tensors, is_imported)

    def _made_by(self, name: str) -> int:
        if name not in self._made:
            made = self._known.result_type(name)
            self._made[name] = _form(made or self._known.class_type(name))
        return self._made[name]

    # -- what holds what

    def _settle(self) -> None:
        bindings = [each for each in self._bindings() if each[1].__class__ in _FORMS]
        functions = self._glimpse.nodes.get(ast.FunctionDef, [])
        returns = [(each.name, list(_returned(each))) for each in functions]
        parameters = [each for each in self._parameters(functions) if each[1].__class__ in _FORMS]
        for _ in range(_ROUNDS):
            before = self._settled()
            for target, value, looped in bindings:
                self._bind(target, value, looped=looped)
            for name, values in returns:
                self._note(self._functions, name, self.any_of(values))
            for name, given in parameters:
                self._note(self._names, name, self.form(given))
            if before == self._settled():
                return
        self.is_declared = True  # no end in sight: whatever it is

    def _settled(self) -> int:
        """Return how much is known; it only grows."""
        known = (self._names, self._attributes, self._functions)
        return sum(sum(each.values()) for each in known)

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
            self._note(self._names, self._name(target), found)
        elif isinstance(target, ast.Attribute):
            self._note(self._attributes, target.attr, found)

    def _parameters(self, functions: Iterable[_Function]) -> Iterator[tuple[str, ast.expr]]:
        """Yield what parameters of the file's functions are called with, by name."""
        by_name: dict[str, list[dict[str, str]]] = {}
        for each in functions:
            names = [one.arg for one in (*each.args.posonlyargs, *each.args.args)]
            apart = self._apart
            own = {one: one if apart is None else apart.parameter(each, one) for one in names}
            by_name.setdefault(each.name, []).append(own)
            defaults = each.args.defaults
            yield from zip([*own.values()][len(own) - len(defaults) :], defaults, strict=True)
        for called in self._glimpse.calls:
            node = called.node
            if isinstance(node.func, ast.Call) and node.args:
                first = node.args[0]
                if isinstance(first, ast.Name) and self._may_have_weights(node.func):
                    self._note(self._names, self._name(first), ONE)
            if not isinstance(node.func, ast.Name):
                continue
            for known in by_name.get(node.func.id, ()):
                yield from zip(known.values(), node.args, strict=False)
                for keyword in node.keywords:
                    if keyword.arg in known:
                        yield known[keyword.arg], keyword.value

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


_FORMS: Final[dict[type[ast.AST | None], Callable[[_Found, Any], int]]] = {
    ast.Name: _Found._of_name,  # noqa: SLF001
    ast.Attribute: _Found._of_attribute,  # noqa: SLF001
    ast.Call: _Found._of_call,  # noqa: SLF001
    ast.Subscript: _Found._of_item,  # noqa: SLF001
    ast.BinOp: lambda found, node: (found.form(node.left) | found.form(node.right)) & ONE,
    ast.UnaryOp: lambda found, node: found.form(node.operand) & ONE,
    ast.IfExp: lambda found, node: found.form(node.body) | found.form(node.orelse),
    ast.BoolOp: lambda found, node: found.any_of(node.values),
    ast.NamedExpr: lambda found, node: found.form(node.value),
    ast.Starred: lambda found, node: found.form(node.value),
    ast.List: lambda found, node: LIST if found.any_of(node.elts) else NEITHER,
    ast.Tuple: lambda found, node: LIST if found.any_of(node.elts) else NEITHER,
    ast.ListComp: lambda found, node: LIST if found.form(node.elt) else NEITHER,
    ast.GeneratorExp: lambda found, node: LIST if found.form(node.elt) else NEITHER,
}


def _returned(function: _Function) -> Iterator[ast.expr]:
    for each in statements_in(function.body):
        if isinstance(each, ast.Return) and each.value is not None:
            yield each.value
