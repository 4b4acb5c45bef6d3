"""``add_metric``, and ``add_loss`` outside `call`: they exist, but raise when called."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, binding_of, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import methods_in, only_base
from kdoctor.analysis.queries import Call, calls
from kdoctor.analysis.queries.forms import Expression, is_number
from kdoctor.memoize import once
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.members._endpoint_layers import (
    build_anew,
    can_be_built_anew,
)
from kdoctor.rules.members._error_owner import owner_in_words, symbol
from kdoctor.rules.members._weight_penalties import (
    penalty_of_function,
    penalty_of_value,
    set_on_weight,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.type_oracle import PARTIAL
from kdoctor.value_types import Kind

_BUILT: Final = frozenset({"Functional", "Sequential", ""})
_KINDS: Final = frozenset({Kind.LAYER, Kind.MODEL})
_FUNCTIONS: Final = ("Lambda", "Name", "Call")
_LOSSES: Final = "losses"
_HELP_PENALTY: Final = (
    "Set the regularizer of the weight, which counts in each step: "
    "`layer.kernel.regularizer = keras.regularizers.L2(0.1)`."
)


def _may_hold_no_tensor(form: object) -> bool:
    return any(
        is_number(each) or (isinstance(each, Expression) and each.kind in _FUNCTIONS)
        for each in (form if isinstance(form, list | tuple) else [form])
    )


_CALLS: Final = (
    calls("add_metric", on=_KINDS).even(hidden=True)
    | calls("add_loss", on=Kind.MODEL).even(hidden=True)
    | calls("add_loss", on=Kind.LAYER)
    .even(hidden=True)
    .passing(_LOSSES, place=0, where=_may_hold_no_tensor)
)


@rule("KD213", severity=Severity.ERROR, since="3.0", look_for=_CALLS)
def check(call: Call) -> Finding | None:
    """Report each call that raises, or is given no tensor."""
    given = _no_tensor(call)
    if not _raises(call):
        return _of_forgotten_penalty(call) if given is None else _of_no_tensor(call, given)
    assert call.use is not None
    return _finding(
        call,
        NoFix("a layer accepts only tensors")
        if given
        else build_anew(call.module, call.use, _built_anew(call.module, call.facts)),
    )


@once
def _built_anew(module: Module, facts: TargetFacts) -> list[MemberUse]:
    """Return all for which models are built anew: the layers stand above the first."""
    return [
        each.use
        for each in _CALLS.find(module, facts)
        if each.use is not None and _raises(each) and _no_tensor(each) is None
        if can_be_built_anew(module, each.use)
    ]


def _no_tensor(call: Call) -> cst.Arg | None:
    """Return what ``add_loss`` is given where that is, or holds, something else than tensors."""
    given = call.argument(_LOSSES, 0) if call.leaf == "add_loss" else None
    return given if given and _holds_no_tensor(call.module, given.value) else None


def _raises(call: Call) -> bool:
    if call.leaf == "add_metric":
        return True
    is_of_a_model = call.owner is not None and call.owner.kind is Kind.MODEL
    return is_of_a_model and (call.cls in _BUILT or _is_functional_subclass(call))


def _is_functional_subclass(call: Call) -> bool:
    """Say whether it is made as ``Mine(inputs, outputs)`` of a class that leaves that to Keras.

    Keras puts `Functional`, whose `add_loss` raises, among the bases of such a class.
    """
    assert call.use is not None
    module, made = call.module, value_of(call.module, call.use.node.value)
    cls = class_named(module, made.func) if isinstance(made, cst.Call) else None
    only = None if cls is None or cls.keywords else only_base(module, cls)
    if cls is None or not isinstance(made, cst.Call) or only is None:
        return False
    base = module.qualified(only)
    above = module.oracle.class_type(base) if base else None
    if above is None or above.cls != "Functional" or {"__init__", "__new__"} & {*methods_in(cls)}:
        return False
    passed = (argument(made, "inputs", 0), argument(made, "outputs", 1))
    return None not in passed


def _holds_no_tensor(module: Module, given: cst.BaseExpression) -> bool:
    """Say whether it is a function or a number, or a list with one among others."""
    value = value_of(module, given)
    if isinstance(value, cst.List | cst.Tuple):
        return any(_is_no_tensor(module, each.value) for each in value.elements)
    return _is_no_tensor(module, value)


def _is_no_tensor(module: Module, value: cst.BaseExpression) -> bool:
    match value:
        case cst.Lambda() | cst.Integer() | cst.Float():
            return True
        case cst.Call(func=function):
            return module.qualified(function) == PARTIAL
        case cst.Name():
            bound = binding_of(module, value)
            return bound is not None and bound.kind is BindingKind.FUNCTION
    return False


def _of_forgotten_penalty(call: Call) -> Finding | None:
    """Report a loss of a weight that is computed once, and gone when the layer is called."""
    given = call.argument(_LOSSES, 0) if call.leaf == "add_loss" else None
    penalty = penalty_of_value(call, given.value) if given else None
    if given is None or penalty is None:
        return None
    assert call.owner is not None
    return call.finding(
        "outside of `call`, `add_loss` counts for nothing: Keras 3 forgets the loss when the layer "
        "is called",
        at=given,
        symbol=symbol(call.owner, call.leaf),
        severity=Severity.CHANGE,
        help=_HELP_PENALTY,
        fix=set_on_weight(call, penalty),
    )


def _of_no_tensor(call: Call, given: cst.Arg) -> Finding:
    assert call.owner is not None
    penalty = penalty_of_function(call, given.value)
    return call.finding(
        "`add_loss` accepts only tensors: ValueError: `add_loss()` can only be called from inside "
        "`build()` or `call()`, on a tensor input",
        at=given,
        symbol=symbol(call.owner, call.leaf),
        help=_HELP_PENALTY
        if penalty
        else "In `call` write `self.add_loss(value)`, with the value that the function computes; "
        "Keras 3 runs it in each step.",
        fix=set_on_weight(call, penalty)
        if penalty
        else NoFix("the function would run at another time in `call`"),
    )


def _help(use: MemberUse) -> str:
    name = "metric" if use.member == "add_metric" else "loss"
    if use.owner.kind is Kind.LAYER and name == "metric":
        return (
            "In `__init__` write `self.seen = keras.metrics.Mean(name=…)`, in `call` "
            "`self.seen.update_state(value)`; the model then reports it."
        )
    does = "self.add_loss(value)" if name == "loss" else "self.seen.update_state(value)"
    has = "" if name == "loss" else ", with `self.seen = keras.metrics.Mean(name=…)` in `__init__`"
    return (
        f"Write a layer whose `call(self, x, …)` computes the value, runs `{does}` and returns "
        f"`x`{has}; send a tensor on the way to the output through it: `y = Mine()(y)`. `kdoctor "
        "explain KD213` shows a complete one."
    )


def _finding(call: Call, attempt: Fix | NoFix) -> Finding:
    assert call.use is not None
    error = (
        "NotImplementedError: Layer `add_metric()` method is deprecated"
        if call.leaf == "add_metric"
        else "ValueError: `add_loss()` can only be called from inside `build()` or `call()`"
        if call.cls == "Sequential"
        else "NotImplementedError"
    )
    return call.finding(
        f"`{call.leaf}` of {owner_in_words(call.use.owner)} raises here: {error}",
        at=call.use.node,
        symbol=symbol(call.use.owner, call.leaf),
        help=_help(call.use),
        fix=attempt,
    )
