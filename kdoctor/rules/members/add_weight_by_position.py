"""``add_weight("w", (3,))``: the name is keyword-only now, and `add_variable` has changed."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import add_keyword, value_of
from kdoctor.analysis.queries import Call, calls
from kdoctor.analysis.queries.forms import Given
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import MemberTable, method
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.rule import rule
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


def _may_pass_a_name(given: Given) -> bool:
    if not given.by_position:
        return "initializer" not in given.keywords
    return "shape" in given.keywords or not isinstance(given.by_position[0], tuple | list)


@rule(
    "KD212",
    severity=Severity.ERROR,
    since="3.0",
    look_for=(
        calls("add_weight", "add_variable", on=(Kind.LAYER, Kind.MODEL))
        .even(hidden=True)
        .where(_may_pass_a_name)
        | calls("add_weight", on=Kind.METRIC).even(hidden=True).where(_may_pass_a_name)
    ),
)
def check(call: Call) -> Finding | None:
    """Report each call that passes a name where the shape belongs."""
    assert call.use is not None
    lacks_initializer = _lacks_initializer(call)
    if not lacks_initializer and not _passes_a_name(call):
        return None
    return call.finding(
        _without_initializer(call) if lacks_initializer else _message(call),
        at=call.use.node,
        symbol=symbol(call.use.owner, call.use.member),
        help="Pass everything by keyword: `add_weight(name=…, shape=…, initializer=…)`.",
        fix=_fix(call, lacks_initializer=lacks_initializer),
    )


def _passes_a_name(call: Call) -> bool:
    first = next(iter(call.call.args), None)
    if first is None or first.keyword is not None or first.star:
        return False
    return _is_text(value_of(call.module, first.value)) or call.argument("shape") is not None


def _lacks_initializer(call: Call) -> bool:
    """Say whether all is passed by keyword, and no initializer where one is asked for."""
    given = {each.keyword.value if each.keyword else None for each in call.call.args}
    if None in given or "initializer" in given:
        return False
    return _is_of_a_metric(call) or (call.leaf == "add_variable" and "shape" in given)


def _is_of_a_metric(call: Call) -> bool:
    return call.owner is not None and call.owner.kind is Kind.METRIC


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


def _fix(call: Call, *, lacks_initializer: bool) -> Fix | NoFix:
    assert call.use is not None
    if lacks_initializer and _is_of_a_metric(call):
        return call.fix(
            'Write `initializer="zeros"`',
            add_keyword(call.module, call.call, 'initializer="zeros"'),
            unsafe_because=_RANDOM,
        )
    table = MemberTable(ROWS, KINDS, call.facts.signature)
    return table.attempt(call.module, call.use, lambda _: check.applicability())


def _without_initializer(call: Call) -> str:
    if _is_of_a_metric(call):
        return f"`add_weight` of a metric requires an initializer: {_NO_VALUE}"
    return f"`add_variable` requires an initializer: {_NO_INITIALIZER}"


def _message(call: Call) -> str:
    name = call.source(call.call.args[0].value)
    by_position = sum(each.keyword is None for each in call.call.args)
    if call.leaf == "add_variable":
        twice = call.argument("shape") is not None
        return "`add_variable` takes the shape first, and the name by keyword only: " + (
            "TypeError: Layer.add_variable() got multiple values for argument 'shape'"
            if twice
            else "ValueError: Could not interpret initializer identifier"
        )
    if _is_of_a_metric(call):
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
