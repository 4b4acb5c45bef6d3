"""`SGD(learning_rate=1)`: the learning rate must be a Python float."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.calls import (
    argument,
    has_builtin,
    hidden_builtin,
    instances,
    is_hidden,
    value_of,
)
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.constructors import FLOATS_OF_NUMPY, INTS_OF_NUMPY
from kdoctor.analysis.tensors.tensorflow_calls import computes_tensor
from kdoctor.analysis.triggers import Trigger, calls_that_make
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Applicability, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_OF_NUMPY = frozenset({
    *("array", "asarray", "half", "single"), *INTS_OF_NUMPY,
    *(name for name, is_double in FLOATS_OF_NUMPY.items() if not is_double),
})  # fmt: skip
_VARIABLES = ways_also_by_1("tensorflow.Variable")
_FLOAT = "float"
_FOLLOWED = "Keras 2.10 and earlier followed later changes of a variable's value"
_ERROR = "ValueError: Argument `learning_rate` should be float, or an instance of "


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each learning rate that Keras 3 takes for no float."""
    for reference, call, _ in instances(module, Kind.OPTIMIZER, facts):
        signature = facts.signature(reference.name)
        names = [each.name for each in signature.parameters] if signature else []
        place = names.index("learning_rate") if "learning_rate" in names else None
        given = argument(call, "learning_rate", place) or argument(call, "lr")
        if given is None or is_hidden(call) or module.is_guarded(call):
            continue
        value = value_of(module, given.value)
        if isinstance(value, cst.Integer) or _made_by(module, value, is_no_float):
            fix = _fix(module, facts, given.value)
            yield rule.finding(
                module.place(given),
                f"the learning rate must be a float: {_ERROR}LearningRateSchedule",
                symbol=f"{reference.name}(learning_rate)",
                confidence=reference.confidence,
                help="Write a float such as `1.0`, or call `float()` where the rate is read.",
                fix=fix or NoFix(hidden_builtin(_FLOAT)),
            )


def is_no_float(name: str) -> bool:
    """Say whether what is called gives a number that Keras 3 takes for no float."""
    if name.startswith("numpy."):
        return name.removeprefix("numpy.") in _OF_NUMPY
    return computes_tensor(name) or _is_variable(name)


def _is_variable(name: str) -> bool:
    split = split_root(name)
    of_keras = split is not None and split[1] in {"Variable", "backend.variable"}
    return of_keras or name in _VARIABLES


def _made_by(module: Module, value: cst.BaseExpression, holds: Callable[[str], bool]) -> bool:
    name = module.qualified(value.func) if isinstance(value, cst.Call) else None
    return name is not None and holds(name)


def _fix(module: Module, facts: TargetFacts, value: cst.BaseExpression) -> Fix | None:
    is_plain = isinstance(value, cst.Integer) and value.value.isdigit() and not value.lpar
    if not is_plain and not has_builtin(module, value, _FLOAT):
        return None
    span = module.outer_span(value)
    point, called = (Hole(span), ".0"), (f"{_FLOAT}(", Hole(span), ")")
    proven = facts.applicability(*(each for each in rule.invalid if each.after))
    is_variable = _made_by(module, value_of(module, value), _is_variable)
    return Fix(
        "Write it as a float",
        (Edit(span, point if is_plain else called),),
        Applicability.UNSAFE if is_variable else proven,
        unsafe_because=_FOLLOWED if is_variable else "",
    )


def _may_be_no_float(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        (isinstance(value, ast.Constant) and isinstance(value.value, int))
        or (isinstance(value, ast.Call) and any(map(is_no_float, quick.meant_by(value.func))))
        for _, called in calls_that_make(quick, facts, Kind.OPTIMIZER)
        for each in (called.argument("learning_rate", 0), called.argument("lr"))
        for value in quick.values_of(each)
    )


rule = Rule(
    code="KD309",
    name="rate-is-no-float",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_be_no_float),
    since="3.0",
)
