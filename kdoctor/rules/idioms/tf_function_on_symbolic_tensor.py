"""A function decorated with `@tf.function` is called with a symbolic tensor."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import Call
from kdoctor.analysis.queries.conditions import named
from kdoctor.analysis.queries.own_functions import CallOfOwn, calls_of_decorated
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule

_NAME = "tensorflow.function"
_DECORATORS = ways_also_by_1(_NAME)
_ERROR = "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype."
_WITH_SIGNATURE = "TypeError: Binding inputs to tf.function failed"


@rule(
    "KD508",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls_of_decorated(*_DECORATORS)
    .even(hidden=True)
    .passing_symbolic()
    .beside(named(*_DECORATORS), SYMBOLIC),
)
def check(call: Call) -> Finding | None:
    """Report each call."""
    assert isinstance(call, CallOfOwn)
    if call.module.context_of(call.node) in RUN_WITH_VALUES:
        return None
    if len(call.function.decorators) != 1:
        return None
    made = call.function.decorators[0].decorator
    keywords = (
        {each.keyword.value for each in made.args if each.keyword}
        if isinstance(made, cst.Call)
        else ()
    )
    error = _WITH_SIGNATURE if "input_signature" in keywords else _ERROR
    return call.finding(
        f"the `tf.function` `{call.function.name.value}` is called with a symbolic tensor: {error}",
        at=call.node.func,
        symbol=_NAME,
        help="Remove `@tf.function`, or call it in the `call` of a layer: `kdoctor explain "
        "KD508` shows one.",
        fix=NoFix("which of the two works depends on the body of the function"),
    )
