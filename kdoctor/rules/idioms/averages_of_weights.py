"""`tf.train.ExponentialMovingAverage().apply(weights)`: it only accepts TensorFlow variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.statements import free_name
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import member, word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_AVERAGE: Final = "ExponentialMovingAverage"
_MAKERS: Final = ways_also_by_1(f"tensorflow.train.{_AVERAGE}")
_PARAMETERS: Final = {"apply": "var_list", "average": "var"}
_LISTS: Final = (
    *("non_trainable_variables", "non_trainable_weights", "trainable_variables"),
    *("trainable_weights", "variables", "weights"),
)
_SAYS: Final = {
    "apply": "AttributeError: 'str' object has no attribute 'base_dtype'",
    "average": "AttributeError: 'Variable' object has no attribute 'ref'",
}


@rule(
    "KD527", severity=Severity.ERROR, since="3.0", look_for=files(word(_AVERAGE), member("apply"))
)
def check(file: File) -> Iterator[Finding]:
    """Report each weight of Keras, and each list of them, that an average gets."""
    module = file.module
    lists = {
        id(use.node)
        for use in module.members_named(*_LISTS)
        if use.owner.kind in (Kind.MODEL, Kind.LAYER) and not use.owner_defines
    }
    for call in module.nodes(cst.Call):
        match call.func:
            case cst.Attribute(value=owner, attr=cst.Name(value="apply" | "average" as method)):
                given = passed(call, _PARAMETERS[method], 0)
            case _:
                continue
        if given is None or not _is_average(module, owner) or module.is_guarded(call):
            continue
        is_list = method == "apply" and id(value_of(module, given)) in lists
        if is_list or (method == "average" and _is_weight(module, given)):
            yield file.finding(
                f"`{_AVERAGE}` does not accept Keras weights: {_SAYS[method]}",
                at=given,
                symbol=f"{_AVERAGE}.{method}",
                confidence=Confidence.LIKELY,
                help="Pass what they hold, `weight.value`, to `apply` and to `average` alike; "
                "`use_ema=True` of an optimizer averages weights, too.",
                fix=_held(module, call, given, is_list=is_list),
            )


def _is_average(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is such an average, in a name or an attribute of `self`."""
    if isinstance(node, cst.Attribute):
        kept = points_to_of(module).stored(node)
        if kept is None or kept[1]:
            return False
        node = kept[0]
    made = value_of(module, node)
    return isinstance(made, cst.Call) and module.qualified(made.func) in _MAKERS


def _is_weight(module: Module, node: cst.BaseExpression) -> bool:
    found = module.type_of(node)
    return found is not None and found.kind is Kind.VARIABLE and not found.is_tf_variable


def _held(module: Module, call: cst.Call, given: cst.BaseExpression, *, is_list: bool) -> Fix:
    """Return the fix that passes the variables of TensorFlow that the weights hold."""
    whole = module.outer_span(given)
    parts: tuple[str | Hole, ...] = (Hole(whole), ".value")
    if is_list:
        weight = free_name(module, call, "weight")
        parts = (f"[{weight}.value for {weight} in ", Hole(whole), "]")
    return check.fix("Pass the variables of TensorFlow", Edit(whole, parts))
