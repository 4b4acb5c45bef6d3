"""``gru.get_initial_state(x)``: Keras 3 takes the batch size, not the inputs."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3, speller_at
from kdoctor.analysis.queries import Call, Instance, calls
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.members._error_owner import class_of, symbol
from kdoctor.rules.members.call_of_recurrent_layer import RECURRENT
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_MEMBER: Final = "get_initial_state"
_LAYERS: Final = RECURRENT - {"Bidirectional"}
_CELLS: Final = frozenset({"GRUCell", "LSTMCell", "SimpleRNNCell", "StackedRNNCells"})
_GONE: Final = ("inputs", "dtype")


@rule(
    "KD232",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls(_MEMBER, on=[Instance(Kind.LAYER, each) for each in _LAYERS | _CELLS]),
)
def check(call: Call) -> Finding | None:
    """Report each call that says something else than the size of the batch."""
    assert call.owner is not None
    if not is_keras_3(call.facts, call.owner.qualified):
        return None
    named = next((given for each in _GONE if (given := call.argument(each)) is not None), None)
    given = named or call.argument("", 0)  # by position alone
    if given is None or (named is None and not _is_inputs(call.module, given.value)):
        return None
    return _finding(call, given)


def _is_inputs(module: Module, given: cst.BaseExpression) -> bool:
    """Say whether it is what a layer gave, or what the same function passes to a layer."""
    if not isinstance(given, cst.Name):
        return False
    bindings = module.bindings_at(given)
    if len(bindings) != 1:
        return False
    made = bindings[0].value if not bindings[0].path else None
    if isinstance(made, cst.Call) and _is_of_a_layer(module, made):
        return True
    return any(
        isinstance(first := each.args[0].value, cst.Name)
        and first.value == given.value
        and not (each.args[0].star or each.args[0].keyword)
        and module.bindings_at(first) == bindings
        and _is_of_a_layer(module, each)
        for each in module.nodes(cst.Call)
        if each.args
    )


def _is_of_a_layer(module: Module, call: cst.Call) -> bool:
    """Say whether it is a layer that is called, not a class or a method of one."""
    found = module.type_of(call.func)
    return found is not None and found.kind is Kind.LAYER


def _finding(call: Call, given: cst.Arg) -> Finding:
    assert call.owner is not None
    keyword = given.keyword.value if given.keyword else None
    cls = "RNN" if call.cls in _LAYERS else class_of(call.owner)
    refused = (
        "the state is a list now: code that uses it may have to change"
        if call.cls in _CELLS
        else "more arguments than the inputs are passed"
    )
    plain = call.cls in _LAYERS and len(call.call.args) == 1 and keyword != "dtype"
    return call.finding(
        f"`{_MEMBER}` takes the batch size now, but gets the inputs: "
        "InvalidArgumentError: … Shapes of all inputs must match"
        if keyword is None
        else f"`{_MEMBER}` takes only the batch size: TypeError: {cls}.{_MEMBER}() got an "
        f"unexpected keyword argument '{keyword}'",
        at=given,
        symbol=symbol(call.owner, _MEMBER),
        help="Pass the batch size: `keras.ops.shape(inputs)[0]`.",
        fix=_fix(call, given) if plain else NoFix(refused),
    )


def _fix(call: Call, given: cst.Arg) -> Fix | NoFix:
    module = call.module
    spelled, need = speller_at(module, given.value).spell("keras.ops.shape")
    keyword = "batch_size=" if given.keyword else ""
    above = (each for each in module.ancestors(given) if isinstance(each, cst.FunctionDef))
    function = next(above, None)
    in_a_call = function is not None and function.name.value == "call"
    return call.fix(
        "Pass the batch size",
        Edit(
            module.span(given),
            (f"{keyword}{spelled}(", Hole(module.outer_span(given.value)), ")[0]"),
        ),
        imports=[need],
        unsafe_because="" if in_a_call else "a symbolic tensor has no batch size here",
    )
