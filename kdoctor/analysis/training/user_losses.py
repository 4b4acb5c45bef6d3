"""User-defined losses that Keras 3 calls: functions and classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, passed
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to import PointsTo, points_to_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import (
    class_of,
    kind_of_class,
    lineage_with_keras_3_base,
    methods_in,
)
from kdoctor.analysis.queries import called, files, methods
from kdoctor.analysis.queries.conditions import given_own
from kdoctor.analysis.roots import is_of_keras_3, uses_another_keras, uses_keras_3
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.members import MemberUse
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

Function = cst.FunctionDef | cst.Lambda

PLACE: Final = 1
"""Of ``loss`` among what ``compile`` takes, after the optimizer."""
# A model that has one of these may call its loss itself.
_TRAINS_BY_ITSELF: Final = frozenset({"compile", "compute_loss", "test_step", "train_step"})
_OF_KERAS: Final = frozenset({None, "Functional", "Sequential"})
_MAX_DEPTH = 12  # steps from name to name
_PLACE_OF_THE_TYPE = 2  # behind the name and the reduction
_OF_BATCHES = 2  # parameters: targets and predictions


def targets_of_losses(module: Module, facts: TargetFacts) -> Iterator[tuple[Function, cst.Param]]:
    """Yield each user-defined loss with the parameter for the targets.

    Keras 3 calls them with targets that it has cast to the type of the loss, which is floats:
    losses that have a type of their own are left out.
    """
    found: dict[Function, None] = {}
    for node in module.nodes(cst.ClassDef):
        method = methods_in(node).get("call")
        if method is not None and _is_cast(module, facts, node):
            found[method] = None
    for functions in _compiled(module, facts):
        found.update(dict.fromkeys(functions))
    for function in found:
        parameter = _of_targets(module, function)
        if parameter is not None:
            yield function, parameter


def _of_targets(module: Module, function: Function) -> cst.Param | None:
    """Return the parameter that gets the targets, None where others decorate the function."""
    taken = [*function.params.posonly_params, *function.params.params]
    if isinstance(function, cst.FunctionDef):
        if not all(_changes_nothing(module, each.decorator) for each in function.decorators):
            return None
        taken = taken[points_to_of(module).class_around(function) is not None :]
    return taken[0] if len(taken) >= _OF_BATCHES else None


def _changes_nothing(module: Module, decorator: cst.BaseExpression) -> bool:
    """Say whether what is decorated gets what it is called with."""
    called = decorator.func if isinstance(decorator, cst.Call) else decorator
    name = module.qualified(called) or ""
    if name == "tensorflow.function":
        return (
            not isinstance(decorator, cst.Call) or argument(decorator, "input_signature", 1) is None
        )
    is_static = isinstance(decorator, cst.Name) and decorator.value == "staticmethod"
    return is_static or name.endswith(".register_keras_serializable")


# -- classes


def _is_cast(module: Module, facts: TargetFacts, node: cst.ClassDef) -> bool:
    """Say whether a class is a loss of Keras 3 that leaves the call, and its type, to Keras."""
    line = _lineage(module, facts, node)
    return bool(line) and not any(
        "__call__" in methods_in(each) or _has_a_type(module, each) for each in line
    )


def _lineage(module: Module, facts: TargetFacts, node: cst.ClassDef) -> list[cst.ClassDef]:
    """Return a class and those of the file below it, if what they come from is Keras' loss."""
    if kind_of_class(module, node) is not Kind.LOSS:
        return []
    return lineage_with_keras_3_base(module, facts, node)[0]


def _has_a_type(module: Module, node: cst.ClassDef) -> bool:
    """Say whether a class, or what makes an object of it, says which type it works with."""
    return any(_passes_dtype(module, call, node) for call in module.nodes(cst.Call)) or any(
        store.node.attr.value in {"dtype", "_dtype"} and _is_nested_in(module, store.node, node)
        for store in module.stores
    )


def _passes_dtype(module: Module, call: cst.Call, node: cst.ClassDef) -> bool:
    match call.func:
        case cst.Attribute(attr=cst.Name(value="__init__")):
            said = argument(call, "dtype", _PLACE_OF_THE_TYPE)
            return said is not None and _is_nested_in(module, call, node)
    return class_named(module, call.func) is node and argument(call, "dtype") is not None


def _is_nested_in(module: Module, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
    return any(each is outer for each in module.ancestors(node))


# -- functions


def _compiled(module: Module, facts: TargetFacts) -> Iterator[list[Function]]:
    """Yield the functions that are passed as losses to models that hand them to Keras."""
    if not uses_keras_3(module, facts):
        return
    points_to = points_to_of(module)
    for call in module.nodes(cst.Call):
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "compile":
            continue
        given = passed(call, "loss", PLACE)
        # Of what sort the object is costs more to know.
        functions = [] if given is None else [*_functions(module, points_to, given, 0)]
        if not functions or module.is_guarded(call):
            continue
        if _leaves_it_to_keras(module, facts, _uses_of_compile(module).get(call.func)):
            yield functions


@once
def _uses_of_compile(module: Module) -> dict[cst.Attribute, MemberUse]:
    return {use.node: use for use in module.members_named("compile")}


def _leaves_it_to_keras(module: Module, facts: TargetFacts, use: MemberUse | None) -> bool:
    """Say whether what is compiled is a model that does not call its loss by itself."""
    is_another = uses_another_keras(module, facts)
    if use is None:
        return not is_another and not _has_own_training(module)
    owner = use.owner
    if owner.kind is not Kind.MODEL or use.owner_defines:
        return False
    if is_another if owner.qualified is None else not is_of_keras_3(owner, facts):
        return False
    if owner.cls in _OF_KERAS:
        return use.is_exact or not _has_own_training(module)
    return class_of(module, owner) is not None and not _has_own_training(module)


@once
def _has_own_training(module: Module) -> bool:
    return any(
        not _TRAINS_BY_ITSELF.isdisjoint(methods_in(each))
        and kind_of_class(module, each) in {Kind.MODEL, None}
        for each in module.nodes(cst.ClassDef)
    )


def _functions(
    module: Module, points_to: PointsTo, node: cst.BaseExpression, depth: int
) -> Iterator[Function]:
    """Yield the functions of the file that an expression is, or holds."""
    inner: list[cst.BaseExpression] = []
    match node:
        case cst.Lambda():
            yield node
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            inner = [each.value for each in elements]
        case cst.Dict(elements=elements):
            inner = [each.value for each in elements]
        case cst.IfExp(body=body, orelse=orelse):
            inner = [body, orelse]
        case cst.Call():
            inner = [*points_to.returned_by(node)]
        case cst.Attribute():
            method = points_to.function_called(node)
            stored = points_to.stored(node) if method is None else None
            if method is not None:
                yield method
            elif stored is not None and not stored[1]:
                inner = [stored[0]]
        case cst.Name():
            for bound in module.bindings_at(node):
                if isinstance(bound.node, cst.FunctionDef):
                    yield bound.node
                elif bound.kind is BindingKind.ASSIGN and not bound.path:
                    inner += [bound.value] if bound.value is not None else []
                elif bound.kind is BindingKind.PARAMETER and isinstance(bound.node, cst.Param):
                    inner += _passed(points_to, bound.node)
    if depth < _MAX_DEPTH:
        for each in inner:
            yield from _functions(module, points_to, each, depth + 1)


def _passed(points_to: PointsTo, parameter: cst.Param) -> Iterator[cst.BaseExpression]:
    """Yield what the file passes for a parameter."""
    function = points_to.function_around(parameter)
    calls = () if function is None else points_to.callers(function)
    for call in calls:
        given = points_to.passed(call, parameter)
        if given is not None:
            yield given


OWN_LOSSES: Final = methods("call", of=Kind.LOSS, guarded=True) | files(
    given_own(called("compile").even(hidden=True), ("loss", PLACE), by_parameter=True)
)
"""Files that may have a loss of their own: a class, or a function that `compile` is given."""
