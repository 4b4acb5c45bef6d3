"""``layer.add_loss(lambda: l2(0.1)(layer.kernel))``: a penalty on a weight of a built layer."""

from __future__ import annotations

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.user_classes import class_around, only_base
from kdoctor.analysis.queries import Call
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Edit, Fix, Hole, NoFix
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_REPLACES = (
    "it replaces a regularizer that the weight already has, and the weights of a frozen layer no "
    "longer count"
)
_NO_REGULARIZERS = frozenset({"Regularizer", "deserialize", "get", "serialize"})


class Penalty(Struct, frozen=True):
    """A regularizer that is called with a weight of the layer whose ``add_loss`` it is given to."""

    layer: cst.BaseExpression
    weight: str
    regularizer: cst.BaseExpression


def penalty_of_function(call: Call, given: cst.BaseExpression) -> Penalty | None:
    """Return what ``lambda: l2(0.1)(layer.kernel)`` computes, None if it is anything else."""
    function = value_of(call.module, given)
    if not isinstance(function, cst.Lambda) or given is not function:
        return None
    parameters = function.params
    if parameters.kwonly_params or parameters.posonly_params or parameters.star_kwarg:
        return None
    if isinstance(parameters.star_arg, cst.Param):
        return None
    renamed = {}
    for each in parameters.params:
        if each.default is None:
            return None
        renamed[each.name.value] = call.source(each.default)
    return _penalty(call, function.body, renamed)


def penalty_of_value(call: Call, given: cst.BaseExpression) -> Penalty | None:
    """Return the penalty that ``layer.add_loss`` is given outside of layers and models.

    None also where Keras may run the code around it in each step.
    """
    owner = call.node.func
    if not isinstance(owner, cst.Attribute) or class_around(call.module, call.node) is not None:
        return None
    return _penalty(call, given, {})


def set_on_weight(call: Call, penalty: Penalty) -> Fix | NoFix:
    """Write the penalty as the regularizer of the weight, which Keras 3 asks in each step."""
    module = call.module
    if not isinstance(module.parent(call.node), cst.Expr):
        return NoFix("the value of the call is used")
    hole = {
        each: Hole(module.outer_span(each), own=precedence_of(each))
        for each in (penalty.layer, penalty.regularizer)
    }
    return call.fix(
        "Set the regularizer of the weight",
        Edit(
            module.span(call.node),
            (
                hole[penalty.layer],
                f".{penalty.weight}.regularizer = ",
                hole[penalty.regularizer],
            ),
        ),
        unsafe_because=_REPLACES,
    )


def _penalty(call: Call, value: cst.BaseExpression, renamed: dict[str, str]) -> Penalty | None:
    match value:
        case cst.Call(
            func=regularizer,
            args=[
                cst.Arg(
                    value=cst.Attribute(value=of, attr=cst.Name(value=weight)),
                    keyword=None,
                    star="",
                )
            ],
        ):
            pass
        case _:
            return None
    assert isinstance(call.node.func, cst.Attribute)
    layer = call.node.func.value
    written = call.source(of)
    if renamed.get(written, written) != call.source(layer):
        return None
    names = (each.value for each in descendants(regularizer) if isinstance(each, cst.Name))
    if renamed.keys() & set(names) or not _is_regularizer(call, regularizer):
        return None
    return Penalty(layer, weight, regularizer)


def _is_regularizer(call: Call, node: cst.BaseExpression) -> bool:
    module = call.module
    made = value_of(module, node)
    if not isinstance(made, cst.Call):
        return False
    name = module.qualified(made.func) or ""
    return _makes_regularizer(call, name) or _is_class_of_regularizers(module, made.func)


def _makes_regularizer(call: Call, name: str) -> bool:
    split = split_root(name)
    if split is None:
        return False
    package, _, leaf = split[1].rpartition(".")
    return (
        package == "regularizers"
        and leaf not in _NO_REGULARIZERS
        and call.facts.lookup(name).presence is Presence.EXISTS
    )


def _is_class_of_regularizers(module: Module, function: cst.BaseExpression) -> bool:
    cls = class_named(module, function)
    base = None if cls is None else only_base(module, cls)
    split = None if base is None else split_root(module.qualified(base) or "")
    return split is not None and split[1] == "regularizers.Regularizer"
