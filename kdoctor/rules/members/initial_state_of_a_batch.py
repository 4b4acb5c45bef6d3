"""``gru.get_initial_state(x)``: Keras 3 takes the batch size, not the inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, is_keras_3, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Applicability, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.members._error_owner import class_of, symbol
from kdoctor.rules.members.call_of_recurrent_layer import RECURRENT
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

_MEMBER: Final = "get_initial_state"
_LAYERS: Final = RECURRENT - {"Bidirectional"}
_CELLS: Final = frozenset({"GRUCell", "LSTMCell", "SimpleRNNCell", "StackedRNNCells"})
_GONE: Final = ("inputs", "dtype")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call that says something else than the size of the batch."""
    for use in module.members:
        call = use.called
        if use.member != _MEMBER or use.owner.kind is not Kind.LAYER or use.owner_defines:
            continue
        if call is None or is_hidden(call) or not is_keras_3(facts, use.owner.qualified):
            continue
        if use.owner.cls in _LAYERS | _CELLS and not module.is_guarded(use.node):
            named = next((e for each in _GONE if (e := argument(call, each)) is not None), None)
            given = named or argument(call, _MEMBER, 0)
            if given is not None and (named is not None or _is_inputs(module, given.value)):
                yield _finding(module, facts, use, call, given)


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


def _finding(
    module: Module, facts: TargetFacts, use: MemberUse, call: cst.Call, given: cst.Arg
) -> Finding:
    keyword = given.keyword.value if given.keyword else None
    cls = "RNN" if use.owner.cls in _LAYERS else class_of(use.owner)
    refused = (
        "the state is a list now: code that uses it may have to change"
        if use.owner.cls in _CELLS
        else "more arguments than the inputs are passed"
    )
    plain = use.owner.cls in _LAYERS and len(call.args) == 1 and keyword != "dtype"
    return rule.finding(
        module.place(given),
        f"`{_MEMBER}` takes the batch size now, but gets the inputs: "
        "InvalidArgumentError: … Shapes of all inputs must match"
        if keyword is None
        else f"`{_MEMBER}` takes only the batch size: TypeError: {cls}.{_MEMBER}() got an "
        f"unexpected keyword argument '{keyword}'",
        symbol=symbol(use.owner, _MEMBER),
        confidence=use.confidence,
        help="Pass the batch size: `keras.ops.shape(inputs)[0]`.",
        fix=_fix(module, facts, given) if plain else NoFix(refused),
    )


def _fix(module: Module, facts: TargetFacts, given: cst.Arg) -> Fix:
    spelled, need = speller_at(module, given.value).spell("keras.ops.shape")
    keyword = "batch_size=" if given.keyword else ""
    edit = Edit(
        module.span(given),
        (f"{keyword}{spelled}(", Hole(module.outer_span(given.value)), ")[0]"),
    )
    above = (each for each in module.ancestors(given) if isinstance(each, cst.FunctionDef))
    function = next(above, None)
    in_a_call = function is not None and function.name.value == "call"
    return Fix(
        "Pass the batch size",
        (edit,),
        facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))
        if in_a_call
        else Applicability.UNSAFE,
        () if need is None else (need,),
        unsafe_because="" if in_a_call else "a symbolic tensor has no batch size here",
    )


rule = Rule(
    code="KD232",
    name="initial-state-of-a-batch",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.LAYER}, _MEMBER),
    since="3.0",
)
