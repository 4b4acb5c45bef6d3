"""`inspect.getfullargspec(model.fit)` shows no arguments: Keras 3 wraps the methods of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_hidden, is_keras_3
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.possible_values import parameter_of
from kdoctor.analysis.queries import Call, imported
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_WRAPPED: Final = frozenset({
    "compile", "evaluate", "fit", "get_layer", "load_weights", "predict", "save", "save_weights",
    "summary",
})  # fmt: skip
_OWN_TOO = "a decorated function that is passed here, too, shows what is under its decorator"


@rule(
    "KD493",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=imported("inspect.getfullargspec").beside(attribute(*_WRAPPED)),
)
def check(asking: Call) -> Finding | None:
    """Report each question about the arguments of such a method."""
    call = asking.call
    if len(call.args) != 1 or is_hidden(call) or asking.module.is_guarded(call):
        return None
    asked = call.args[0].value
    methods = [
        each
        for each in _values(asking, asked)
        if isinstance(each, cst.Attribute) and _is_wrapped(asking, each)
    ]
    if not methods:
        return None
    shown = asking.module.source(methods[0])
    is_itself = methods[0] is asked
    return asking.finding(
        f"`{shown}` is wrapped in Keras 3: its `args` are an empty list",
        symbol=f"Model.{methods[0].attr.value}",
        help="Ask for what is under the wrapper: `inspect.unwrap(…)`.",
        fix=_fix(asking, asked, unsafe_because="" if is_itself else _OWN_TOO),
    )


def _values(asking: Call, asked: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
    """Return what is asked about: an expression, or what the file passes for a parameter."""
    parameter = parameter_of(asking.module, asked)
    if parameter is None:
        return (asked,)
    points_to = points_to_of(asking.module)
    function = points_to.function_around(parameter)
    callers = () if function is None else points_to.callers(function)
    given = (points_to.passed(each, parameter) for each in callers)
    return [each for each in given if each is not None]


def _is_wrapped(asking: Call, value: cst.Attribute) -> bool:
    """Say whether it is such a method of a model of Keras 3, or of its class."""
    if value.attr.value not in _WRAPPED:
        return False
    owner, name = asking.module.type_of(value.value), asking.module.qualified(value.value)
    made = asking.module.oracle.class_type(name) if name else None
    found = made or owner
    if found is None or found.kind is not Kind.MODEL:
        return False
    return is_keras_3(asking.facts, name or found.qualified)


def _fix(asking: Call, asked: cst.BaseExpression, *, unsafe_because: str) -> Fix | NoFix:
    match asking.call.func:
        case cst.Attribute(value=cst.Name() as package):
            unwrap = f"{package.value}.unwrap("
        case _:
            return NoFix("`inspect` is not imported as a module")
    place = asking.module.outer_span(asked)
    edit = Edit(place, (unwrap, Hole(place), ")"))
    return asking.fix("Ask for what is under the wrapper", edit, unsafe_because=unsafe_because)
