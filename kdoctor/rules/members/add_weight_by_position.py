"""``add_weight("w", (3,))``: the name is keyword-only now, and `add_variable` has changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import calls, member_of
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import MemberTable, method
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickCall
from kdoctor.value_types import Kind

_OLD = (
    "(self, name=None, shape=None, dtype=None, initializer=None, regularizer=None, "
    "trainable=True, constraint=None, *, aggregation='none', autocast=True)"
)
_NEW = (
    "self.add_weight(name=name, shape=shape, dtype=dtype, initializer=initializer, "
    "regularizer=regularizer, trainable=trainable, constraint=constraint, "
    "aggregation=aggregation, autocast=autocast)"
)
ROWS = (
    method(f"keras.layers.Layer.add_weight{_OLD}", _NEW),
    method(f"keras.layers.Layer.add_variable{_OLD}", _NEW),
    method(
        "keras.metrics.Metric.add_weight(self, name, shape=(), *, initializer=None, dtype=None)",
        "self.add_weight(name=name, shape=shape, initializer=initializer, dtype=dtype)",
    ),
)
KINDS = {
    "keras.layers.Layer": (Kind.LAYER, Kind.MODEL),
    "keras.metrics.Metric": (Kind.METRIC,),
}
_NO_INITIALIZER = (
    "TypeError: Layer.add_variable() missing 1 required positional argument: 'initializer'"
)
_NO_VALUE = "ValueError: Attempt to convert a value (None) with an unsupported type"
_RANDOM = "for floats Keras 2 drew random numbers, until the first `reset_state`"
_MAX_POSITIONAL = 3  # shape, initializer, dtype
_METHODS = frozenset({"add_weight", "add_variable"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call that passes a name where the shape belongs."""
    table = MemberTable(ROWS, KINDS, facts.signature)
    for use in module.members:
        if use.member not in _METHODS or not table.rows_for(use.owner, use.member):
            continue
        if use.called is None or use.owner_defines:
            continue
        if not _passes_a_name(module, use.called) and not _lacks_initializer(use):
            continue
        if not module.is_guarded(use.node):
            yield _finding(module, facts, use, table)


def _passes_a_name(module: Module, call: cst.Call) -> bool:
    first = next(iter(call.args), None)
    if first is None or first.keyword is not None or first.star:
        return False
    return _is_text(value_of(module, first.value)) or argument(call, "shape") is not None


def _lacks_initializer(use: MemberUse) -> bool:
    """Say whether all is passed by keyword, and no initializer where one is asked for."""
    if use.called is None:
        return False
    given = {each.keyword.value if each.keyword else None for each in use.called.args}
    if None in given or "initializer" in given:
        return False
    return _is_of_a_metric(use) or (use.member == "add_variable" and "shape" in given)


def _is_of_a_metric(use: MemberUse) -> bool:
    return use.owner.kind is Kind.METRIC and use.member == "add_weight"


def _is_text(node: cst.BaseExpression) -> bool:
    match node:
        case cst.SimpleString() | cst.FormattedString() | cst.ConcatenatedString():
            return True
        case cst.BinaryOperation():
            return _is_text(node.left) or _is_text(node.right)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="format")) as function):
            return _is_text(function.value)
        case cst.Call(func=cst.Name(value="str")):
            return True
    return False


def _finding(module: Module, facts: TargetFacts, use: MemberUse, table: MemberTable) -> Finding:
    if _is_of_a_metric(use) and _lacks_initializer(use):
        attempt: Fix | NoFix = _with_zeros(module, use)
    else:
        attempt = table.attempt(module, use, lambda _: _proven(facts))
    return rule.finding(
        module.place(use.node),
        _message(module, use),
        symbol=symbol(use.owner, use.member),
        confidence=use.confidence,
        help="Pass everything by keyword: `add_weight(name=…, shape=…, initializer=…)`.",
        fix=attempt,
    )


def _with_zeros(module: Module, use: MemberUse) -> Fix:
    assert use.called is not None
    return Fix(
        'Write `initializer="zeros"`',
        (add_keyword(module, use.called, 'initializer="zeros"'),),
        Applicability.UNSAFE,
        unsafe_because=_RANDOM,
    )


def _proven(facts: TargetFacts) -> Applicability:
    return facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))


def _message(module: Module, use: MemberUse) -> str:
    assert use.called is not None
    call = use.called
    if _lacks_initializer(use):
        if _is_of_a_metric(use):
            return f"`add_weight` of a metric requires an initializer: {_NO_VALUE}"
        return f"`add_variable` requires an initializer: {_NO_INITIALIZER}"
    name = module.source(call.args[0].value)
    by_position = sum(each.keyword is None for each in call.args)
    if use.member == "add_variable":
        twice = argument(call, "shape") is not None
        return "`add_variable` takes the shape first, and the name by keyword only: " + (
            "TypeError: Layer.add_variable() got multiple values for argument 'shape'"
            if twice
            else "ValueError: Could not interpret initializer identifier"
        )
    if use.owner.kind is Kind.METRIC:
        return (
            f"`add_weight` takes the shape first: ValueError: Cannot convert {name} to a shape. "
            f"Found invalid dimension"
        )
    if by_position > _MAX_POSITIONAL:
        return (
            "`add_weight` takes the name by keyword only: TypeError: add_weight() takes at most "
            f"{_MAX_POSITIONAL} positional arguments but {by_position} were given."
        )
    return (
        f"`add_weight` takes the name by keyword only: ValueError: `name` must be passed as a "
        f"keyword argument. Received: add_weight({name}, ...)"
    )


def _may_be_told(_: TargetFacts, called: QuickCall) -> bool:
    if called.leaf not in _METHODS:
        return False
    if not called.places:
        return "initializer" not in called.keywords
    first = called.node.args[0]
    return "shape" in called.keywords or not isinstance(first, ast.Tuple | ast.List)


rule = Rule(
    code="KD212",
    name="add-weight-by-position",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=calls(_may_be_told, *_METHODS)
    & member_of({Kind.LAYER, Kind.MODEL, Kind.METRIC}, *_METHODS),
    since="3.0",
)
