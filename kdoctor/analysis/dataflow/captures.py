"""Functions that capture a symbolic tensor and may run on eager values.

A loss of Keras 2 could mix `y_pred` with any tensor of the graph, as `z_mean` of an encoder. That
of Keras 3 gets tensors with values. A symbolic tensor from outside has none, and the loss raises.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.tensors.symbolic import holds_symbolic, is_symbolic
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.classes import receiver_of
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Context, Kind

_Function = cst.FunctionDef | cst.Lambda
_MAKES = frozenset({Kind.LAYER, Kind.MODEL})


def read_in_a_loss(module: Module, call: cst.Call) -> str | None:
    """Return the captured symbolic tensor that a call in a loss or metric gets, if any."""
    if module.context_of(call) is not Context.LOSS_OR_METRIC:
        return None
    function = function_around(module, call)
    return None if function is None else _from_outside(module, function, call)


def read_in_a_possible_loss(module: Module, call: cst.Call) -> str | None:
    """Return the captured symbolic tensor that a call gets in a possible loss, if any.

    Such a function takes parameters of which nothing tells that they are symbolic, makes no layers,
    and is only handed on: to `compile`, somewhere, perhaps.
    """
    function = function_around(module, call)
    if function is None or not _may_run_with_values(module, function):
        return None
    return _from_outside(module, function, call)


def is_outside(binding: Binding, function: _Function) -> bool:
    """Say whether a name is bound outside of a function."""
    return all(scope.node is not function for scope in binding.scope.enclosing())


def function_around(module: Module, node: cst.CSTNode) -> _Function | None:
    """Return the innermost function around a node, None at module level."""
    child = node
    for each in module.ancestors(node):
        if isinstance(each, _Function) and child is each.body:
            return each
        child = each
    return None


def _from_outside(module: Module, function: _Function, call: cst.Call) -> str | None:
    """Return a symbolic tensor among what a call gets that is not made in the function."""
    open_, seen = [each.value for each in call.args], set[Binding]()
    while open_:
        node = open_.pop()
        for each in descendants(node):
            if isinstance(each, cst.Attribute) and is_symbolic(module, each):
                return module.source(each)
            if not isinstance(each, cst.Name) or not holds_symbolic(module, each):
                continue
            for binding in module.bindings_at(each):
                if is_outside(binding, function):
                    return each.value
                if binding.value is not None and binding not in seen:
                    seen.add(binding)
                    open_.append(binding.value)
    return None


@once
def _may_run_with_values(module: Module, function: _Function) -> bool:
    return _is_run_with_values(module, function, frozenset())


def _is_run_with_values(module: Module, function: _Function, asked: frozenset[cst.CSTNode]) -> bool:
    """Say whether nothing tells that a function runs while a model is built."""
    if function in asked:
        return True
    if not _has_non_symbolic_parameters(module, function) or _makes_layers(module, function):
        return False
    callers = [function_around(module, each) for each in _calls(module, function)]
    return all(
        each is not None and _is_run_with_values(module, each, asked | {function})
        for each in callers
    )


def _has_non_symbolic_parameters(module: Module, function: _Function) -> bool:
    """Say whether it has parameters, none of them known to be a symbolic tensor."""
    own = receiver_of(function) if isinstance(function, cst.FunctionDef) else None
    is_method = _class_of(module, function) is not None
    taken = [
        each
        for each in (*function.params.posonly_params, *function.params.params)
        if not (is_method and each is own)
    ]
    reads = (each for each in descendants(function.body) if isinstance(each, cst.Name))
    return bool(taken) and not any(
        holds_symbolic(module, each)
        for each in reads
        if any(binding.node in taken for binding in module.bindings_at(each))
    )


def _makes_layers(module: Module, function: _Function) -> bool:
    for node in descendants(function.body):
        if not isinstance(node, cst.Call):
            continue
        made = module.type_of(node)
        if made is not None and made.kind in _MAKES:
            return True
        name = module.qualified(node.func)
        known = None if name is None else module.oracle.class_type(name)
        if known is not None and known.kind is Kind.TENSOR:  # `keras.Input`
            return True
    return False


def _calls(module: Module, function: _Function) -> Iterator[cst.Call]:
    """Yield what may be a call of a function, by its name."""
    names = _names(module, function)
    is_method = _class_of(module, function) is not None
    for call in module.nodes(cst.Call):
        match call.func:
            case cst.Name() as called if called.value in names and not is_method:
                if _is_it(module.bindings_at(called), function):
                    yield call
            case cst.Attribute(attr=cst.Name(value=name)) if name in names and is_method:
                yield call


def _names(module: Module, function: _Function) -> set[str]:
    if isinstance(function, cst.FunctionDef):
        return {function.name.value}
    assigned = module.parent(function)
    if not isinstance(assigned, cst.Assign):
        return set()
    return {each.target.value for each in assigned.targets if isinstance(each.target, cst.Name)}


def _is_it(bindings: tuple[Binding, ...], function: _Function) -> bool:
    return any(
        each.node is function or (each.kind is BindingKind.ASSIGN and each.value is function)
        for each in bindings
    )


def _class_of(module: Module, function: _Function) -> cst.ClassDef | None:
    block = module.parent(function)
    holder = None if block is None else module.parent(block)
    return holder if isinstance(holder, cst.ClassDef) else None
