"""Tell whether all uses of a model are visible and none relies on its output being a list."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.dataflow.used_elsewhere import may_be_used_elsewhere
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.keras_api import split_root
from kdoctor.rules.behaviour._single_item_lists import HANDING_ON
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_MAX_DEPTH = 8  # names that are given on to others

# Members of a model that are the same with its output in a list or without.
_SAME = frozenset({
    "compile", "count_params", "evaluate", "fit", "fit_generator", "get_layer", "get_weights",
    "input", "input_shape", "inputs", "layers", "load_weights", "losses", "metrics",
    "metrics_names", "name", "non_trainable_weights", "optimizer", "output_shape", "outputs",
    "predict", "predict_generator", "predict_on_batch", "save", "save_weights", "set_weights",
    "stop_training", "summary", "test_on_batch", "train_on_batch", "trainable",
    "trainable_variables", "trainable_weights", "variables", "weights",
})  # fmt: skip
_WRAPPING = ("Sequential", "TimeDistributed", "plot_model")


def counts_on_no_list(module: Module, model: cst.Call) -> bool:
    """Say whether all that is done with a model is the same where it gives the tensor itself."""
    name = _name_of(module, model)
    return (
        name is not None
        and all(_is_same_of_model(module, each) for each in name)
        and not may_be_used_elsewhere(module, model)
    )


def _name_of(module: Module, value: cst.BaseExpression) -> Iterator[cst.Name] | None:
    """Return the uses of the one name that a value is bound to, None where there is no such one."""
    target = module.parent(value)
    if not isinstance(target, cst.Assign) or len(target.targets) != 1:
        return None
    name = target.targets[0].target
    return reads_of(module, name) if isinstance(name, cst.Name) else None


def _is_same_of_model(module: Module, model: cst.Name) -> bool:
    above = module.parent(model)
    match above:
        case cst.Attribute(attr=cst.Name(value="output")):
            return _is_same(module, above, 0)
        case cst.Attribute():
            return above.attr.value in _SAME
        case cst.Call() if above.func is model:
            found = module.type_of(above)
            is_symbolic = found is not None and found.kind is Kind.TENSOR
            return _is_same(module, above, 0) if is_symbolic else not _is_listed(module, above)
        case cst.Element():
            display = module.parent(above)
            return _is_wrapped(module, None if display is None else module.parent(display))
        case cst.Arg():
            return _is_wrapped(module, above)
    return False


def _is_wrapped(module: Module, argument: cst.CSTNode | None) -> bool:
    call = module.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "add":
        return True
    name = module.qualified(call.func) or ""
    return split_root(name) is not None and name.rpartition(".")[2] in _WRAPPING


def _is_listed(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a value is taken apart as a list is."""
    above = module.parent(node)
    match above:
        case cst.Subscript():
            return above.value is node and len(above.slice) == 1
        case cst.For() | cst.CompFor():
            return above.iter is node
        case cst.StarredElement():
            return True
        case cst.Arg():
            call = module.parent(above)
            return bool(above.star) or not isinstance(call, cst.Call) or call.func is node
        case cst.Assign():
            return any(isinstance(e.target, cst.Tuple | cst.List) for e in above.targets)
    return False


def _is_same(module: Module, value: cst.BaseExpression, depth: int) -> bool:
    """Say whether what a model gives goes only where a list of one does not do as well."""
    if _is_listed(module, value) or depth > _MAX_DEPTH:
        return False
    above = module.parent(value)
    match above:
        case cst.Assign():
            uses = _name_of(module, value)
            return uses is not None and all(_is_same(module, each, depth + 1) for each in uses)
        case cst.Element():
            display = module.parent(above)
            return isinstance(display, cst.List | cst.Tuple) and _is_same(module, display, depth)
        case cst.Arg():
            call = module.parent(above)
            if isinstance(call, cst.Call) and _layer(module, call) in HANDING_ON:
                return _is_same(module, call, depth + 1)
            return _is_of_keras(module, call)
    return isinstance(
        above,
        cst.Attribute | cst.BinaryOperation | cst.Expr | cst.Subscript | cst.UnaryOperation,
    )


def _layer(module: Module, call: cst.Call) -> str:
    """Return the class of the layer that is called, "" where none is known."""
    found = module.type_of(call.func)
    return "" if found is None or found.kind is not Kind.LAYER else found.cls or ""


def _is_of_keras(module: Module, call: cst.CSTNode | None) -> bool:
    """Say whether a call is of a layer, a model or a function of Keras."""
    if not isinstance(call, cst.Call):
        return False
    made = call.func.func if isinstance(call.func, cst.Call) else call.func
    name = module.qualified(made)
    if name is not None:
        return split_root(name) is not None
    found = module.type_of(call.func)
    return (
        found is not None
        and found.is_of_imported_class
        and split_root(found.qualified or "") is not None
    )
