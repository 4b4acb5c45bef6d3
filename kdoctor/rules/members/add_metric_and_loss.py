"""``add_metric``, and ``add_loss`` outside `call`: they exist, but raise when called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_named, methods_in, only_base
from kdoctor.analysis.triggers import Trigger, attribute, member_of
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.members._endpoint_layers import (
    build_anew,
    can_be_built_anew,
)
from kdoctor.rules.members._error_owner import owner_in_words, symbol
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.type_oracle import PARTIAL
from kdoctor.value_types import Kind

_BUILT = frozenset({"Functional", "Sequential", None})
_KINDS: Final = frozenset({Kind.LAYER, Kind.MODEL})
_MEMBERS: Final = frozenset({"add_loss", "add_metric"})
_LOSSES: Final = "losses"
_NO_TENSOR: Final = "a layer accepts only tensors"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each call that raises."""
    called = [
        use
        for use in module.members
        if use.member in _MEMBERS and use.called is not None and not use.owner_defines
        if use.owner.kind in _KINDS and not module.is_guarded(use.node)
    ]
    uses = [use for use in called if _raises(module, use)]
    tensors = [use for use in uses if not _is_given_no_tensor(module, use)]
    fixed = [use for use in tensors if can_be_built_anew(module, use)]
    for use in uses:
        attempt = build_anew(module, use, fixed) if use in tensors else NoFix(_NO_TENSOR)
        yield _finding(module, use, attempt)
    for use in called:
        given = _given(use)
        if use not in uses and given is not None and _is_given_no_tensor(module, use):
            yield _of_no_tensor(module, use, given)


def _given(use: MemberUse) -> cst.Arg | None:
    if use.called is None or use.member != "add_loss":
        return None
    return argument(use.called, _LOSSES, 0)


def _is_given_no_tensor(module: Module, use: MemberUse) -> bool:
    given = _given(use)
    return given is not None and _holds_no_tensor(module, given.value)


def _raises(module: Module, use: MemberUse) -> bool:
    if use.member == "add_metric":
        return True
    return use.owner.kind is Kind.MODEL and _is_built(module, use)


def _is_built(module: Module, use: MemberUse) -> bool:
    return use.owner.cls in _BUILT or _is_functional_subclass(module, use)


def _is_functional_subclass(module: Module, use: MemberUse) -> bool:
    """Say whether it is made as ``Mine(inputs, outputs)`` of a class that leaves that to Keras.

    Keras puts `Functional`, whose `add_loss` raises, among the bases of such a class.
    """
    made = value_of(module, use.node.value)
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
            bound = module.bindings_at(value)
            return len(bound) == 1 and bound[0].kind is BindingKind.FUNCTION
    return False


def _of_no_tensor(module: Module, use: MemberUse, given: cst.Arg) -> Finding:
    return rule.finding(
        module.place(given),
        "`add_loss` accepts only tensors: ValueError: `add_loss()` can only be called from inside "
        "`build()` or `call()`, on a tensor input",
        symbol=symbol(use.owner, use.member),
        confidence=use.confidence,
        help="In `call` write `self.add_loss(value)`, with the value that the function computes; "
        "Keras 3 runs it in each step.",
        fix=NoFix("the function would run at another time in `call`"),
    )


def _may_give_no_tensor(quick: QuickFacts, _: TargetFacts) -> bool:
    functions = {
        each.name
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for each in quick.nodes.get(kind, ())
    }
    return any(
        isinstance(each, ast.Lambda | ast.Constant)
        or (isinstance(each, ast.Name) and each.id in functions)
        or (isinstance(each, ast.Call) and PARTIAL in quick.meant_by(each.func))
        for called in quick.calls_of("add_loss")
        if (given := called.argument(_LOSSES, 0)) is not None
        for value in (given, *quick.values_of(given))
        for each in (value.elts if isinstance(value, ast.List | ast.Tuple) else (value,))
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


def _finding(module: Module, use: MemberUse, attempt: Fix | NoFix) -> Finding:
    error = (
        "NotImplementedError: Layer `add_metric()` method is deprecated"
        if use.member == "add_metric"
        else "ValueError: `add_loss()` can only be called from inside `build()` or `call()`"
        if use.owner.cls == "Sequential"
        else "NotImplementedError"
    )
    return rule.finding(
        module.place(use.node),
        f"`{use.member}` of {owner_in_words(use.owner)} raises here: {error}",
        symbol=symbol(use.owner, use.member),
        confidence=use.confidence,
        help=_help(use),
        fix=attempt,
    )


rule = Rule(
    code="KD213",
    name="add-metric-and-loss",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of(_KINDS, "add_metric")
    | member_of({Kind.MODEL}, "add_loss")
    | attribute("add_loss") & Trigger(_may_give_no_tensor) & member_of(_KINDS, "add_loss"),
    since="3.0",
)
