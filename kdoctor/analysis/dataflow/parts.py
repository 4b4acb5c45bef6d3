"""Which part of which call's result an expression is, through nested dicts and lists.

``layer["config"]`` in a loop over ``config["layers"]`` is the part ``("layers", "*", "config")`` of
what made ``config``. Parts are followed as points-to analysis follows objects: through names,
parameters, returned values, attributes and displays of the file; any place in a list is ``"*"``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.dataflow.points_to import PointsTo, points_to_of
from kdoctor.memoize import once, unowned
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import Binding, BindingKind

ANY: Final = "*"
_MAX_PATH = 10  # keys and places from the whole to the part
_MAX_STEPS = 2_000  # of one file, so that time has a bound
_COPIES: Final = frozenset({"copy.copy", "copy.deepcopy"})
_BUILTIN_COPIES: Final = frozenset({"dict", "list", "reversed", "sorted", "tuple"})

Path = tuple[str, ...]


class Part(Struct, frozen=True):
    """A part of what a call gives: the keys and places that lead to it."""

    call: cst.Call
    path: Path = ()


_NOTHING: Final[frozenset[Part]] = frozenset()


class Parts:
    """The parts that the expressions of one module are."""

    def __init__(self, module: Module, points_to: PointsTo) -> None:
        self._module = module
        self._points_to = points_to
        self._known: dict[tuple[cst.CSTNode, Path], frozenset[Part]] = {}
        self._steps = 0

    def of(self, node: cst.CSTNode | None, path: Path = ()) -> frozenset[Part]:
        """Return of which calls an expression may be a part, and which part.

        ``path``: of a part of the expression itself.
        """
        if node is None or len(path) > _MAX_PATH or self._steps > _MAX_STEPS:
            return _NOTHING
        key = (node, path)
        if key not in self._known:
            self._steps += 1
            self._known[key] = _NOTHING  # what leads back to itself adds nothing
            self._known[key] = self._resolve(node, path)
        return self._known[key]

    def _resolve(self, node: cst.CSTNode, path: Path) -> frozenset[Part]:
        match node:
            case cst.Name():
                return self._all(self._bound(each, path) for each in self._module.bindings_at(node))
            case cst.Attribute():
                stored = self._points_to.all_stored(node)
                return self._all(self.of(value, (*_places(at), *path)) for value, at in stored)
            case cst.Subscript():
                return self.of(node.value, (*_key_of(node), *path))
            case cst.Call():
                return self._called(node, path)
            case cst.IfExp(body=one, orelse=other):
                return self.of(one, path) | self.of(other, path)
            case cst.BooleanOperation(left=one, right=other):
                return self.of(one, path) | self.of(other, path)
            case cst.NamedExpr():
                return self.of(node.value, path)
            case cst.ListComp() | cst.GeneratorExp() if path and _is_element(path[0]):
                return self.of(node.elt, path[1:])
            case cst.Tuple() | cst.List() if path and _is_element(path[0]):
                return self._element(node, path)
            case cst.Dict() if path:
                return self._all(
                    self.of(each.value, path[1:])
                    for each in node.elements
                    if isinstance(each, cst.DictElement) and literal(each.key) == path[0]
                )
        return _NOTHING

    def _element(self, node: cst.Tuple | cst.List, path: Path) -> frozenset[Part]:
        elements = [each.value for each in node.elements]
        if any(isinstance(each, cst.StarredElement) for each in node.elements):
            return _NOTHING
        chosen = elements if path[0] == ANY else elements[int(path[0]) :][:1]
        return self._all(self.of(each, path[1:]) for each in chosen)

    def _bound(self, binding: Binding, path: Path) -> frozenset[Part]:
        if None in binding.path:
            return _NOTHING  # what a star takes
        within = (*_places(binding.path), *path)
        match binding.kind:
            case BindingKind.ASSIGN:
                return self.of(binding.value, within)
            case BindingKind.LOOP:
                return self._looped(binding.value, within)
            case BindingKind.PARAMETER if isinstance(binding.node, cst.Param):
                function = self._points_to.function_around(binding.node)
                callers = () if function is None else self._points_to.callers(function)
                self._steps += len(callers)
                given = (self._points_to.passed(each, binding.node) for each in callers)
                return self._all(self.of(each, path) for each in given)
        return _NOTHING

    def _looped(self, node: cst.CSTNode | None, path: Path) -> frozenset[Part]:
        """Return the parts that a loop variable is, of what the loop runs over."""
        match node:
            case cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg() as over, *_]):
                return self.of(over.value, (ANY, *path[1:])) if path[:1] == ("1",) else _NOTHING
            case cst.Call(func=cst.Name(value="zip"), args=given) if path and path[0].isdecimal():
                chosen = given[int(path[0]) :][:1]
                return self._all(self.of(each.value, (ANY, *path[1:])) for each in chosen)
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="items"))):
                return self.of(owner, (ANY, *path[1:])) if path[:1] == ("1",) else _NOTHING
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="values"))):
                return self.of(owner, (ANY, *path))
        return self.of(node, (ANY, *path))

    def _called(self, call: cst.Call, path: Path) -> frozenset[Part]:
        match call.func:
            case cst.Attribute(attr=cst.Name(value="get" | "pop")) if call.args:
                key = literal(call.args[0].value)
                return self.of(call.func.value, (key, *path)) if isinstance(key, str) else _NOTHING
            case cst.Attribute(attr=cst.Name(value="copy")) if not call.args:
                return self.of(call.func.value, path)
        if len(call.args) == 1 and self._is_copy(call.func):
            return self.of(call.args[0].value, path)
        returned = self._points_to.returned_by(call)
        if self._points_to.function_called(call.func) is not None:
            return self._all(self.of(each, path) for each in returned)
        return frozenset({Part(call, path)})

    def _is_copy(self, callee: cst.BaseExpression) -> bool:
        if isinstance(callee, cst.Name) and callee.value in _BUILTIN_COPIES:
            return is_builtin(self._module, callee)
        return self._module.qualified(callee) in _COPIES

    @staticmethod
    def _all(found: Iterable[frozenset[Part]]) -> frozenset[Part]:
        return frozenset().union(*found)


def _key_of(node: cst.Subscript) -> Path:
    """Return the key of a subscript; none of a slice, which is a list of the same."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Slice())]:
            return ()
        case [cst.SubscriptElement(slice=cst.Index(value=index))]:
            key = literal(index)
            return (key,) if isinstance(key, str) else (str(key),) if _is_place(key) else (ANY,)
    return (ANY,)


def _is_element(key: str) -> bool:
    return key == ANY or key.isdecimal()


def _is_place(key: object) -> bool:
    return isinstance(key, int) and not isinstance(key, bool) and key >= 0


def _places(path: Iterable[int | str | None]) -> Path:
    return tuple(map(str, path))


@once
def parts_of(module: Module) -> Parts:
    """Return the parts that the expressions of a module are, memoized."""
    # A ring would keep the tree until a collector comes: the module keeps this answer.
    return Parts(unowned(module), points_to_of(module))
