"""Call-site-sensitive points-to analysis for layers, models and their weights.

``PointsTo`` tells the calls that may have made an object, whoever runs them. Here each call of a
function of the file is a run of its own (a ``CallFrame``): what it makes is another object than
what the next one makes, and its parameters are what that one call passes. Of several values that a
name may have nothing is said.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to import PointsTo, points_to_of
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_MAX_DEPTH = 16  # steps from name to name, and functions that call each other
_MAX_CALL_CONTEXTS = 32  # runs of one function
_MAX_EXPRESSIONS = 3000  # expressions that a model is made of

_PARTS = frozenset({"inputs", "outputs", "layers"})
_ALL_OF_IT = frozenset({"output", "outputs"})
_HOLD_WEIGHTS = frozenset({Kind.LAYER, Kind.MODEL})
_CONSTANTS = frozenset({"True", "False", "None"})

LOOPS = (cst.For, cst.While)


class CallFrame(Struct, frozen=True):
    """A call context: one run of a function, and the run of its caller.

    No ``call``: by whoever calls it.
    """

    function: cst.FunctionDef
    call: cst.Call | None = None
    outer: CallFrame | None = None


class MadeObject(Struct, frozen=True):
    """An object created by a call in one context; no ``frame``: at module level."""

    call: cst.Call
    frame: CallFrame | None = None


class Weights(Struct, frozen=True):
    """The layers and models that own a model's weights.

    ``sure`` are surely in it; nothing but ``possible`` is, where ``is_all``.
    """

    sure: frozenset[MadeObject]
    possible: frozenset[MadeObject]
    is_all: bool


Placed = tuple[cst.CSTNode, CallFrame | None]
"""An expression, in a run."""


class _Parts(Struct):
    """From what an expression has weights; ``has_own`` is None where it may have its own."""

    inside: list[Placed]
    has_own: bool | None = False


class PointsToByCall:
    """Call-site-sensitive points-to analysis of one module."""

    def __init__(self, module: Module, points_to: PointsTo) -> None:
        self._module = module
        self._points_to = points_to
        self._runs: dict[cst.FunctionDef | None, tuple[CallFrame | None, ...]] = {}
        self._known: dict[Placed, list[Placed]] = {}

    def runs(self, node: cst.CSTNode) -> Sequence[CallFrame | None]:
        """Return the call contexts of the function around a node; none if too many."""
        return self._runs_of(self._points_to.function_around(node), 0)

    def values(self, node: cst.CSTNode, frame: CallFrame | None) -> Sequence[Placed]:
        """Return what an expression is, past names, attributes and functions of the file.

        Several values are those that it may have; none: that is not known.
        """
        return self._values(node, frame, 0)

    def made(self, node: cst.CSTNode, frame: CallFrame | None) -> MadeObject | None:
        """Return the one object of an expression, None if unknown."""
        found = self._values(node, frame, 0)
        if len(found) != 1 or not isinstance(found[0][0], cst.Call):
            return None
        return MadeObject(found[0][0], found[0][1])

    def each_made(
        self, node: cst.CSTNode, frame: CallFrame | None
    ) -> tuple[list[MadeObject], bool]:
        """Return the possible objects of an expression in order.

        The flag says whether it is all of them in turn: one, or those that a loop goes through.
        """
        found = self._values(node, frame, 0)
        bound = self._module.bindings_at(node) if isinstance(node, cst.Name) else ()
        is_loop = len(bound) == 1 and bound[0].kind is BindingKind.LOOP
        made = [MadeObject(each, run) for each, run in found if isinstance(each, cst.Call)]
        return made, len(found) == 1 or is_loop

    def weights(self, model: MadeObject, trained: Mapping[MadeObject, bool | None]) -> Weights:
        """Return the owners of a model's trainable weights.

        ``trained`` says whether layers and models in it are to be trained, None for perhaps; those
        that it does not name are.
        """
        sure: set[MadeObject] = set()
        possible: set[MadeObject] = set()
        is_all = True
        waiting: list[tuple[cst.CSTNode, CallFrame | None, bool]] = [
            (model.call, model.frame, True)
        ]
        seen = set(waiting)
        for node, frame, is_sure in waiting:  # it grows meanwhile
            if len(waiting) > _MAX_EXPRESSIONS:
                return Weights(frozenset(sure), frozenset(possible), is_all=False)
            values = self._values(node, frame, 0)
            is_all = is_all and bool(values)
            for value, run in values:
                made = MadeObject(value, run) if isinstance(value, cst.Call) else None
                is_trained = trained.get(made, True) if made else True
                if is_trained is False:
                    continue
                parts = self._parts(value, run)
                if parts is None:
                    is_all = False
                    continue
                is_its = is_sure and len(values) == 1 and is_trained is True
                if made is not None and parts.has_own is not False:
                    possible.add(made)
                    if parts.has_own and is_its:
                        sure.add(made)
                # Of what is read off an object, it is not known which of its layers are behind it.
                is_whole = is_its and not isinstance(value, cst.Attribute | cst.Subscript)
                more = [(each, there, is_whole) for each, there in parts.inside]
                waiting += [each for each in more if each not in seen]
                seen.update(more)
        return Weights(frozenset(sure), frozenset(possible), is_all)

    def inside(self, model: MadeObject) -> frozenset[cst.Call]:
        """Return the calls that surely make a model and its layers, as they are written."""
        found: set[cst.Call] = set()
        waiting: list[Placed] = [(model.call, model.frame)]
        seen = set(waiting)
        for node, frame in waiting:  # it grows meanwhile
            if len(waiting) > _MAX_EXPRESSIONS:
                return frozenset()
            values = self._values(node, frame, 0)
            value, run = values[0] if len(values) == 1 else (None, None)
            if isinstance(value, cst.Call):
                found.add(value)
            parts = None if value is None or not _is_whole(value) else self._parts(value, run)
            more = parts.inside if parts is not None else []
            waiting += [each for each in more if each not in seen]
            seen.update(more)
        return frozenset(found)

    def chain(self, node: cst.CSTNode, frame: CallFrame | None) -> list[cst.CSTNode]:
        """Return a node and the calls on the stack above it, outermost last."""
        found = [node]
        while frame is not None and frame.call is not None:
            found.append(frame.call)
            frame = frame.outer
        return found

    def loops(self, node: cst.CSTNode, frame: CallFrame | None) -> set[cst.CSTNode]:
        """Return the loops that repeat a node, in its function and its callers."""
        return {
            loop
            for each in self.chain(node, frame)
            for loop in self.loops_around(each)
        }  # fmt: skip

    def loops_around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the loops of the same function in whose bodies a node stands."""
        inner = node
        for each in self._module.ancestors(node):
            if isinstance(each, cst.FunctionDef | cst.Lambda | cst.ClassDef):
                return
            if isinstance(each, LOOPS) and each.body is inner:
                yield each
            inner = each

    # -- runs

    def _runs_of(
        self, function: cst.FunctionDef | None, depth: int
    ) -> tuple[CallFrame | None, ...]:
        if function is None:
            return (None,)
        if function not in self._runs:
            self._runs[function] = ()  # what calls itself: no run is the first
            self._runs[function] = self._found_runs(function, depth)
        return self._runs[function]

    def _found_runs(self, function: cst.FunctionDef, depth: int) -> tuple[CallFrame | None, ...]:
        callers = self._points_to.callers(function)
        if not callers or depth > _MAX_DEPTH:
            return (CallFrame(function),)
        around = self._points_to.function_around
        found = tuple(
            CallFrame(function, call, outer)
            for call in callers
            for outer in self._runs_of(around(call), depth + 1)
        )
        if len(found) > 1 and function.name.value == "__init__":
            return (CallFrame(function),)  # objects of one class are all alike
        return found if len(found) <= _MAX_CALL_CONTEXTS else ()

    def _run_of(self, node: cst.CSTNode, frame: CallFrame | None) -> CallFrame | None:
        """Return the run in which a node of this function, or of one around, was reached."""
        function = self._points_to.function_around(node)
        while frame is not None and frame.function is not function:
            frame = frame.outer
        if frame is not None or function is None:
            return frame
        runs = self._runs_of(function, 0)
        return runs[0] if len(runs) == 1 else CallFrame(function)

    # -- values

    def _values(self, node: cst.CSTNode, frame: CallFrame | None, depth: int) -> list[Placed]:
        if depth > _MAX_DEPTH:
            return []
        key = (node, frame)
        if key not in self._known:
            self._known[key] = []  # what leads back to itself is nothing
            self._known[key] = self._valued(node, frame, depth)
        return self._known[key]

    def _valued(self, node: cst.CSTNode, frame: CallFrame | None, depth: int) -> list[Placed]:
        match node:
            case cst.Name() if node.value not in _CONSTANTS:
                return self._of_name(node, frame, depth + 1)
            case cst.Attribute():
                stored = self._points_to.stored(node)
                if stored is None:
                    return [(node, frame)]
                run = self._run_of(stored[0], frame)
                held = self._values(stored[0], run, depth + 1)
                return self._part(held, stored[1], depth + 1)
            case cst.Subscript(
                slice=[cst.SubscriptElement(slice=cst.Index(cst.Integer() as at))], value=value
            ):
                held = self._values(value, frame, depth + 1)
                return self._part(held, (at.evaluated_value,), depth + 1) or [(node, frame)]
            case cst.Call():
                return self._of_call(node, frame, depth + 1)
        return [(node, frame)]

    def _of_name(self, node: cst.Name, frame: CallFrame | None, depth: int) -> list[Placed]:
        found: list[Placed] = []
        for bound in self._module.bindings_at(node):
            values: list[Placed] = []
            if bound.kind is BindingKind.PARAMETER and isinstance(bound.node, cst.Param):
                run = self._run_of(bound.node, frame)
                given = run and run.call and self._points_to.passed(run.call, bound.node)
                if run is not None and given:
                    values = self._values(given, run.outer, depth)
            elif bound.kind is BindingKind.ASSIGN and bound.value is not None:
                run = self._run_of(bound.node, frame)
                path = tuple("" if each is None else each for each in bound.path)
                values = self._part(self._values(bound.value, run, depth), path, depth)
            elif bound.kind is BindingKind.LOOP and bound.value is not None and not bound.path:
                values = self._elements(bound.value, self._run_of(bound.node, frame), depth)
            if not values:
                return []
            found += values
        return found

    def _elements(
        self, looped_over: cst.BaseExpression, frame: CallFrame | None, depth: int
    ) -> list[Placed]:
        """Return what a loop goes through, where that is written out."""
        held = self._values(looped_over, frame, depth)
        value, run = held[0] if len(held) == 1 else (None, None)
        found: list[Placed] = []
        for each in value.elements if isinstance(value, cst.List | cst.Tuple) else ():
            values = self._values(each.value, run, depth)
            if len(values) != 1:
                return []
            found += values
        return found

    def _of_call(self, call: cst.Call, frame: CallFrame | None, depth: int) -> list[Placed]:
        function = self._points_to.function_called(call.func)
        if function is None or class_named(self._module, call.func) is not None:
            return [(call, frame)]
        run = CallFrame(function, call, frame)
        found: list[Placed] = []
        for each in self._points_to.returned_by(call):
            values = self._values(each, run, depth)
            if not values:
                return []
            found += values
        return found

    def _part(self, values: list[Placed], path: Sequence[int | str], depth: int) -> list[Placed]:
        """Return an element of tuples and lists that are written out."""
        for index in path:
            inner: list[Placed] = []
            for value, frame in values:
                if not isinstance(value, cst.Tuple | cst.List) or not isinstance(index, int):
                    return []
                plain = [each.value for each in value.elements if isinstance(each, cst.Element)]
                if len(plain) < len(value.elements) or index >= len(plain):
                    return []
                inner += self._values(plain[index], frame, depth)
            values = inner
        return values

    # -- weights

    def _parts(self, node: cst.CSTNode, frame: CallFrame | None) -> _Parts | None:
        """Return from what an expression has weights, None where that is not known."""
        match node:
            case cst.Call():
                return self._parts_of_call(node, frame)
            case cst.List() | cst.Tuple():
                return _Parts([(each.value, frame) for each in node.elements])
            case cst.Attribute() | cst.Subscript():
                return _Parts([(node.value, frame)])
            case cst.BinaryOperation():
                return _Parts([(node.left, frame), (node.right, frame)])
            case cst.UnaryOperation():
                return _Parts([(node.expression, frame)])
            case cst.BaseNumber() | cst.BaseString() | cst.Lambda() | cst.Name():
                return _Parts([])  # a name that stands for itself: `None`
        return None

    def _parts_of_call(self, call: cst.Call, frame: CallFrame | None) -> _Parts | None:
        given: list[Placed] = [(each.value, frame) for each in call.args]
        name = self._module.qualified(call.func)
        made = self._module.oracle.class_type(name) if name else None
        if made is not None and made.kind is Kind.LAYER:
            return _Parts(self._layers(given), self._module.oracle.has_weights(made))
        if made is not None and made.kind is Kind.MODEL:
            parts = [
                *((each.value, frame) for each in call.args if _is_a_part(each)),
                *self.added(MadeObject(call, frame)),
            ]
            return _Parts(parts) if parts else None
        kind = self._module.type_of(call)
        if kind is not None and kind.kind in _HOLD_WEIGHTS:
            # Of a class of the user's, of `keras.applications`, or what another file makes.
            inner = self._layers(given)
            is_its_own = kind.kind is Kind.MODEL and not inner
            return _Parts(inner, has_own=True if is_its_own else None)
        if name is not None and split_root(name) is not None:
            return _Parts([] if name.endswith(".Input") else given)
        applied = self._values(call.func, frame, 0)
        if any(isinstance(each, cst.Call) for each, _ in applied):
            return _Parts([*applied, *given])  # a layer is called: `Dense(3)(x)`, `model(x)`
        return None

    def _layers(self, given: Sequence[Placed]) -> list[Placed]:
        """Return the layers among what a layer is made with: what it wraps."""
        types = (self._module.type_of(each) for each, _ in given)
        return [
            each
            for each, made in zip(given, types, strict=True)
            if made is not None and made.kind in {Kind.LAYER, Kind.MODEL, Kind.LIST}
        ]

    def added(self, model: MadeObject) -> Iterator[Placed]:
        """Yield what is added to a ``Sequential`` in the function that makes it."""
        for call, owner in self._adds.get(self._points_to.function_around(model.call), ()):
            if call.args and self.made(owner, model.frame) == model:
                yield call.args[0].value, model.frame

    @cached_property
    def _adds(self) -> dict[cst.FunctionDef | None, list[tuple[cst.Call, cst.BaseExpression]]]:
        """The calls of ``model.add``, by the function in which they stand."""
        found: dict[cst.FunctionDef | None, list[tuple[cst.Call, cst.BaseExpression]]] = {}
        for each in self._module.attributes:
            call = self._module.parent(each)
            if each.attr.value == "add" and isinstance(call, cst.Call) and call.func is each:
                around = self._points_to.function_around(call)
                found.setdefault(around, []).append((call, each.value))
        return found


def _is_whole(value: cst.CSTNode) -> bool:
    """Say whether all of an object is in what is read off it: not so with one of its layers."""
    if isinstance(value, cst.Attribute):
        return value.attr.value in _ALL_OF_IT
    return not isinstance(value, cst.Subscript)


def _is_a_part(argument: cst.Arg) -> bool:
    """Say whether an argument of ``Model`` or ``Sequential`` is what the model is made of."""
    return argument.keyword is None or argument.keyword.value in _PARTS


@once
def points_to_by_call_of(module: Module) -> PointsToByCall:
    """Return the analysis of a module, memoized."""
    # A ring would keep the tree until a collector comes: the module keeps this answer.
    return PointsToByCall(weakref.proxy(module), points_to_of(module))
