"""Points-to analysis: the calls that create the object of an expression.

A model goes through many names: one function makes and returns it, another takes it as a parameter,
a tuple carries it, ``self`` keeps it. An object is followed through what the file itself shows:
assignments, arguments, what functions return, elements of tuples and lists, attributes that are
assigned once, ``layers`` of a ``Sequential`` whose list is written out. What comes from elsewhere
has no origin.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_hidden, passed
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.user_classes import methods_in
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.scopes import Binding, BindingKind

_MAX_DEPTH = 24  # steps from name to name, more than people write
_MAX_OBJECTS = 64  # objects that one name may stand for

Path = tuple[int | str, ...]
"""Which part of a value: indices of elements, and ``"layers"``."""


class Allocation(Struct, frozen=True):
    """The result of a call, or a part of it: ``b`` in ``a, b = made()`` is ``(1,)``."""

    call: cst.Call
    part: Path = ()


_NOTHING: frozenset[Allocation] = frozenset()


class PointsTo:
    """Points-to analysis of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[tuple[cst.CSTNode, Path], frozenset[Allocation]] = {}
        self._objects: dict[cst.CSTNode, frozenset[Allocation]] = {}

    def of(self, expression: cst.CSTNode) -> frozenset[Allocation]:
        """Return the calls that may have created an expression's object, if known.

        What a function of the file makes and returns is made anew by each call of that function.
        """
        if expression not in self._objects:
            self._objects[expression] = self._outside(expression)
        return self._objects[expression]

    def _outside(self, expression: cst.CSTNode) -> frozenset[Allocation]:
        found: set[Allocation] = set()
        seen: set[Allocation] = set()
        waiting = [*self._resolve(expression, (), 0)]
        while waiting:
            origin = waiting.pop()
            if origin in seen:
                continue
            seen.add(origin)
            outside = self._returned_allocations(origin)
            waiting += outside
            if not outside:
                found.add(origin)
            if len(seen) > _MAX_OBJECTS:
                return _NOTHING
        return frozenset(found)

    def made_in_function(self, expression: cst.CSTNode) -> frozenset[Allocation]:
        """Return the same within the enclosing function, whoever calls it."""
        return self._resolve(expression, (), 0)

    def is_same(self, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
        """Say whether two expressions stand for one object.

        Where its creation is not known, they do if they are spelled alike and begin with one
        variable, or with ``self`` in one class.
        """
        first, second = self.of(one), self.of(other)
        if first and second:
            return bool(first & second)
        source = self._module.source
        return source(one) == source(other) and self._root(one) == self._root(other)

    def _root(self, node: cst.BaseExpression) -> object:
        """Return what the first name of ``a.b.c`` is: the class for ``self``, else its bindings."""
        while isinstance(node, cst.Attribute):
            node = node.value
        if not isinstance(node, cst.Name):
            return None
        cls = self.class_written(node)
        return self._module.bindings_at(node) if cls is None else cls

    def creation_of(self, expression: cst.CSTNode, depth: int = 0) -> cst.Call | None:
        """Return the one call that creates an expression's object; None where it is not known.

        A function of the file does not create what it returns: the call in that function does.
        """
        found = self._resolve(expression, (), 0)
        if len(found) != 1 or depth > _MAX_DEPTH:
            return None
        (origin,) = found
        given = self.returned_by(origin.call)
        if given and not origin.part:
            makers = {self.creation_of(each, depth + 1) for each in given}
            return makers.pop() if len(makers) == 1 else None
        return None if origin.part else origin.call

    def callers(self, function: cst.FunctionDef) -> Sequence[cst.Call]:
        """Return the calls in the file that surely call a function or method."""
        return self._callers.get(function, ())

    def returned_by(self, call: cst.Call) -> Sequence[cst.BaseExpression]:
        """Return what the function that a call calls may return."""
        function = self.function_called(call.func)
        return () if function is None else self._returned(function)

    def passed(self, call: cst.Call, parameter: cst.Param) -> cst.BaseExpression | None:
        """Return the argument that a call passes for a parameter."""
        function = self.function_around(parameter)
        if function is None or is_hidden(call):
            return None
        in_order = [*function.params.posonly_params, *function.params.params]
        is_method = self.class_around(function) is not None  # the first is the object itself
        place = in_order.index(parameter) - is_method if parameter in in_order else None
        if place is not None and place < 0:
            return None
        return passed(call, parameter.name.value, place)

    def stored(self, node: cst.Attribute, depth: int = 0) -> tuple[cst.BaseExpression, Path] | None:
        """Return the one value assigned to ``self.x``, and its part."""
        found = self.all_stored(node, depth)
        return found[0] if len(found) == 1 else None

    def all_stored(
        self, node: cst.Attribute, depth: int = 0
    ) -> Sequence[tuple[cst.BaseExpression, Path]]:
        """Return all values assigned to ``self.x``, each with its part."""
        return [
            each
            for cls in self._classes_of(node.value, depth)
            for each in self._stores.get((cls, node.attr.value), ())
        ]

    # -- from a name back to the call

    def _resolve(self, node: cst.CSTNode | None, path: Path, depth: int) -> frozenset[Allocation]:
        if node is None or depth > _MAX_DEPTH:
            return _NOTHING
        key = (node, path)
        if key not in self._known:
            self._known[key] = _NOTHING  # what leads back to itself adds nothing
            self._known[key] = self._resolve_uncached(node, path, depth + 1)
        return self._known[key]

    def _resolve_uncached(self, node: cst.CSTNode, path: Path, depth: int) -> frozenset[Allocation]:
        match node:
            case cst.Name():
                bound = self._module.bindings_at(node)
                return _all(self._bound(each, path, depth) for each in bound)
            case cst.Attribute(attr=cst.Name(value="layers")):
                return self._resolve(node.value, ("layers", *path), depth)
            case cst.Attribute():
                return self._attribute(node, path, depth)
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(cst.Integer() as at))]):
                return self._resolve(node.value, (at.evaluated_value, *path), depth)
            case cst.Tuple() | cst.List() if path and isinstance(path[0], int):
                return self._resolve(part_of(node, path[:1]), path[1:], depth)
            case cst.Call():
                return self._called(node, path, depth)
        return _NOTHING

    def _bound(self, binding: Binding, path: Path, depth: int) -> frozenset[Allocation]:
        if binding.kind is BindingKind.PARAMETER and isinstance(binding.node, cst.Param):
            return self._passed(binding.node, path, depth)
        if None in binding.path:
            return _NOTHING
        within = (*(each for each in binding.path if each is not None), *path)
        if binding.kind is BindingKind.ASSIGN:
            return self._resolve(binding.value, within, depth)
        if binding.kind is BindingKind.LOOP and isinstance(binding.value, cst.Tuple | cst.List):
            each_one = binding.value.elements
            return _all(self._resolve(each.value, within, depth) for each in each_one)
        return _NOTHING

    def _passed(self, parameter: cst.Param, path: Path, depth: int) -> frozenset[Allocation]:
        """Return what the calls of a function pass for a parameter."""
        function = self.function_around(parameter)
        if function is None:
            return _NOTHING
        given = (self.passed(call, parameter) for call in self.callers(function))
        return _all(self._resolve(each, path, depth) for each in given)

    def _attribute(self, node: cst.Attribute, path: Path, depth: int) -> frozenset[Allocation]:
        """Return what ``self.x`` holds, or ``x`` of an instance of a class of the file."""
        found = self.stored(node, depth)
        return _NOTHING if found is None else self._resolve(found[0], (*found[1], *path), depth)

    def _called(self, call: cst.Call, path: Path, depth: int) -> frozenset[Allocation]:
        function = self.function_called(call.func)
        if function is None:
            is_layer = path[:1] == ("layers",)
            return (
                self._layer(call, path[1:], depth)
                if is_layer
                else frozenset({Allocation(call, path)})
            )
        # What it only hands on was made elsewhere.
        inside = _all(self._resolve(each, path, depth) for each in self._returned(function))
        through = {each for each in inside if self.function_around(each.call) is not function}
        made = {Allocation(call, path)} if len(through) < len(inside) or not inside else set()
        return frozenset(through | made)

    def _layer(self, call: cst.Call, path: Path, depth: int) -> frozenset[Allocation]:
        """Return a layer of ``Sequential([first, second])``."""
        made = self._module.type_of(call)
        if made is None or made.cls != "Sequential" or not call.args or not path:
            return _NOTHING
        layers = call.args[0].value
        is_plain = call.args[0].star == "" and isinstance(layers, cst.List | cst.Tuple)
        return self._resolve(layers, path, depth) if is_plain else _NOTHING

    # -- from inside a function out

    def _returned_allocations(self, origin: Allocation) -> list[Allocation]:
        """Return where callers get what a function makes and returns; nothing for all else."""
        function = self.function_around(origin.call)
        if function is None:
            return []
        parts = [
            part
            for value in self._returned(function)
            for part, each in _parts(value)
            if origin in self._resolve(each, (), 0)
        ]
        return [Allocation(call, part) for part in parts for call in self.callers(function)]

    def _returned(self, function: cst.FunctionDef) -> Sequence[cst.BaseExpression]:
        return self._returns.get(function, ())

    @cached_property
    def _returns(self) -> dict[cst.CSTNode, list[cst.BaseExpression]]:
        found: dict[cst.CSTNode, list[cst.BaseExpression]] = {}
        for each in self._module.nodes(cst.Return):
            function = self.function_around(each)
            if function is not None and each.value is not None:
                found.setdefault(function, []).append(each.value)
        return found

    # -- functions, methods, classes

    def function_around(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """Return the function whose own code contains a node, None outside of functions."""
        for each in self._module.ancestors(node):
            if isinstance(each, cst.FunctionDef):
                return each
            if isinstance(each, cst.Lambda | cst.ClassDef):
                return None
        return None

    def class_around(self, function: cst.FunctionDef) -> cst.ClassDef | None:
        """Return the class that a function is a method of."""
        body = self._module.parent(function)
        cls = None if body is None else self._module.parent(body)
        is_free = any(_is_named(each.decorator, "staticmethod") for each in function.decorators)
        return cls if isinstance(cls, cst.ClassDef) and not is_free else None

    def instance(self, method: cst.FunctionDef) -> str | None:
        """Return the name of a method's ``self`` parameter."""
        first = _first(method) if self.class_around(method) is not None else None
        return None if first is None else first.name.value

    @cached_property
    def _callers(self) -> dict[cst.FunctionDef, list[cst.Call]]:
        found: dict[cst.FunctionDef, list[cst.Call]] = {}
        for call in self._module.nodes(cst.Call):
            function = self.function_called(call.func)
            if function is not None:
                found.setdefault(function, []).append(call)
        return found

    def function_called(self, callee: cst.CSTNode) -> cst.FunctionDef | None:
        """Return the function of the file that a call runs; for a class its ``__init__``."""
        match callee:
            case cst.Name():
                bound = self._module.bindings_at(callee)
                node = bound[0].node if len(bound) == 1 else None
                if isinstance(node, cst.ClassDef):
                    return self._method(node, "__init__")
                return node if isinstance(node, cst.FunctionDef) else None
            case cst.Attribute():
                cls = self.class_written(callee.value)
                return None if cls is None else self._method(cls, callee.attr.value)
        return None

    def class_written(self, owner: cst.CSTNode) -> cst.ClassDef | None:
        """Return the class of ``self``, of ``Own()``, and of a name that holds ``Own()``."""
        if isinstance(owner, cst.Call):
            return class_named(self._module, owner.func)
        bound = self._module.bindings_at(owner) if isinstance(owner, cst.Name) else ()
        if len(bound) != 1:
            return None
        if bound[0].kind is BindingKind.PARAMETER:
            function = self.function_around(bound[0].node)
            is_self = function is not None and _first(function) is bound[0].node
            return self.class_around(function) if function is not None and is_self else None
        if bound[0].path or not isinstance(bound[0].value, cst.Call):
            return None
        return class_named(self._module, bound[0].value.func)

    def _classes_of(self, owner: cst.CSTNode, depth: int) -> list[cst.ClassDef]:
        """Return the classes of the file that an object may be of."""
        written = self.class_written(owner)
        if written is not None:
            return [written]
        made = (each for each in self._resolve(owner, (), depth) if not each.part)
        named = (class_named(self._module, each.call.func) for each in made)
        return [each for each in named if each is not None]

    def _method(self, cls: cst.ClassDef, name: str) -> cst.FunctionDef | None:
        """Return a method of a class of the file, or of the nearest of its bases in the file."""
        for _ in range(_MAX_DEPTH):
            if (method := methods_in(cls).get(name)) is not None:
                return method
            bases = (class_named(self._module, each.value) for each in cls.bases)
            above = next((each for each in bases if each is not None), None)
            if above is None:
                return None
            cls = above
        return None

    @cached_property
    def _stores(self) -> dict[tuple[cst.ClassDef, str], list[tuple[cst.BaseExpression, Path]]]:
        """What is assigned to attributes of ``self``."""
        found: dict[tuple[cst.ClassDef, str], list[tuple[cst.BaseExpression, Path]]] = {}
        for assign in self._module.nodes(cst.Assign):
            for target in assign.targets:
                for path, each in _parts(target.target):
                    if isinstance(each, cst.Attribute):
                        cls = self.class_written(each.value)
                        if cls is not None:
                            stored = (assign.value, path)
                            found.setdefault((cls, each.attr.value), []).append(stored)
        return found


def _all(found: Iterable[frozenset[Allocation]]) -> frozenset[Allocation]:
    together = frozenset().union(*found)
    return together if len(together) <= _MAX_OBJECTS else _NOTHING


def _parts(node: cst.BaseExpression, path: Path = ()) -> Iterator[tuple[Path, cst.BaseExpression]]:
    """Yield the expressions of a display, each with its place in it."""
    if not isinstance(node, cst.Tuple | cst.List):
        yield path, node
        return
    for index, element in enumerate(node.elements):
        if isinstance(element, cst.StarredElement):
            return
        yield from _parts(element.value, (*path, index))


def _is_named(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _first(function: cst.FunctionDef) -> cst.Param | None:
    return next(iter((*function.params.posonly_params, *function.params.params)), None)


@once
def points_to_of(module: Module) -> PointsTo:
    """Return the points-to analysis of a module, memoized."""
    # A ring would keep the tree until a collector comes: the module keeps this answer.
    return PointsTo(weakref.proxy(module))
