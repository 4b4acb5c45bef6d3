"""Output size of a model per sample, from its last layer."""

from __future__ import annotations

from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.dataflow.points_to_by_call import MadeObject, Placed, PointsToByCall
from kdoctor.keras_api import split_root
from kdoctor.rules.behaviour._single_item_lists import HANDING_ON, outputs_of
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.literals import literal

_MAX_DEPTH: Final = 16  # layers that hand on, and models within each other
_SAME: Final = HANDING_ON | {"BatchNormalization", "LayerNormalization"}
_MAYBE: Final = (cst.If, cst.For, cst.While, cst.Try, cst.Match)


class Output(Struct, frozen=True):
    """What a ``Dense`` gives, which has two axes at least. ``units`` is None where not known."""

    units: int | None


def output_of(
    module: Module, by_call: PointsToByCall, model: MadeObject, depth: int = 0
) -> Output | None:
    """Return the output of a model that surely ends with a ``Dense``, or what keeps its shape."""
    if depth > _MAX_DEPTH:
        return None
    outputs = outputs_of(module, model.call)
    if outputs is not None:
        value = value_of(module, outputs)
        if isinstance(value, cst.List) and len(value.elements) == 1:
            value = value.elements[0].value
        return _of_tensor(module, by_call, (value, model.frame), depth + 1)
    for layer in reversed(_layers(module, by_call, model)):
        name, made = _named(module, by_call, layer)
        if made is not None and name in _SAME:
            continue
        if made is None:
            return None
        if name == "Dense":
            return _of_dense(module, made)
        return output_of(module, by_call, made, depth + 1) if name == "Sequential" else None
    return None


def _layers(module: Module, by_call: PointsToByCall, model: MadeObject) -> list[Placed]:
    """Return the layers of a ``Sequential``, none where one may be there or not at its end."""
    if not (module.qualified(model.call.func) or "").endswith("Sequential"):
        return []
    added = [*by_call.added(model)]
    if added:
        return [] if _is_conditional(module, added[-1][0]) else added
    given = passed(model.call, "layers", 0)
    values = [] if given is None else by_call.values(given, model.frame)
    listed, run = values[0] if len(values) == 1 else (None, None)
    return [(each, run) for each in elements_of(listed) or ()]


def _is_conditional(module: Module, node: cst.CSTNode) -> bool:
    for each in module.ancestors(node):
        if isinstance(each, cst.FunctionDef):
            return False
        if isinstance(each, _MAYBE):
            return True
    return False


def _of_tensor(
    module: Module, by_call: PointsToByCall, tensor: Placed, depth: int
) -> Output | None:
    """Return what the layer gives that is called in ``Dense(1)(x)``."""
    values = by_call.values(*tensor) if depth <= _MAX_DEPTH else ()
    call, run = values[0] if len(values) == 1 else (None, None)
    if not isinstance(call, cst.Call):
        return None
    name, made = _named(module, by_call, (call.func, run))
    if made is None:
        return None
    if name == "Dense":
        return _of_dense(module, made)
    if name in _SAME and call.args:
        return _of_tensor(module, by_call, (call.args[0].value, run), depth + 1)
    return output_of(module, by_call, made, depth + 1) if name == "Sequential" else None


def _named(module: Module, by_call: PointsToByCall, layer: Placed) -> tuple[str, MadeObject | None]:
    """Return the class of Keras that a layer is of, and what makes it."""
    made = by_call.made(*layer)
    split = split_root(module.qualified(made.call.func) or "") if made is not None else None
    return ("", None) if split is None else (split[1].rpartition(".")[2], made)


def _of_dense(module: Module, made: MadeObject) -> Output:
    units = literal(value_of(module, passed(made.call, "units", 0)))
    return Output(units if isinstance(units, int) else None)
