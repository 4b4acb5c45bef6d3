"""A custom layer casts the `tf.Variable` that it is called with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden, is_keras_3, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, may_be_of, word
from kdoctor.keras_api.tensorflow_aliases import VARIABLES
from kdoctor.model import Applicability, Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.arguments._forwarded_keywords import base_that_gets
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.package import KEEP_THE_TYPE
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

FLOAT64: Final = {
    "numpy.random": (
        *("uniform", "normal", "rand", "randn", "random", "random_sample", "standard_normal"),
        *("beta", "exponential", "gamma", "laplace"),
    ),
    "numpy": ("ones", "zeros", "empty", "linspace", "eye"),
}
"""Functions of NumPy that return float64 where no type is asked for."""
_KEYWORD: Final = "autocast"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call with such a variable."""
    for call in module.nodes(cst.Call):
        if len(call.args) != 1 or is_hidden(call) or not _is_float64_variable(module, call.args[0]):
            continue
        made = value_of(module, call.func)
        kind = module.type_of(call.func)
        if kind is None or kind.kind is not Kind.LAYER or not isinstance(made, cst.Call):
            continue
        base = base_that_gets(module, made.func, _KEYWORD)
        if base is None or not is_keras_3(facts, base) or module.is_guarded(call):
            continue
        if argument(made, _KEYWORD) is None and argument(made, "dtype") is None:
            yield _finding(module, facts, call, made)


def _may_be_cast(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether what may be a layer is called with nothing but what may be such a variable."""
    variables = {
        each.node
        for name in VARIABLES
        for each in quick.calls_by_meaning.get(name, ())
        if each.values
    }
    asked = [
        (called.node, called.node.func)
        for called in (quick.calls if variables else ())
        if len(called.values) == 1 and not variables.isdisjoint(quick.values_of(called.values[0]))
    ]
    return bool(asked) and may_be_of(quick, facts, asked, {Kind.LAYER})


def _is_float64_variable(module: Module, given: cst.Arg) -> bool:
    made = value_of(module, given.value)
    if not isinstance(made, cst.Call) or module.qualified(made.func) not in VARIABLES:
        return False
    asked = argument(made, "dtype")
    if asked is not None:
        return "float64" in (literal(asked.value), (module.qualified(asked.value) or "")[-7:])
    return bool(made.args) and _is_float64(module, made.args[0].value)


def _is_float64(module: Module, node: cst.BaseExpression) -> bool:
    made = value_of(module, node)
    if not isinstance(made, cst.Call) or argument(made, "dtype") is not None:
        return False
    name = module.returned_call_in_project(made.func) or module.qualified(made.func) or ""
    parent, _, leaf = name.rpartition(".")
    if parent == "numpy" and leaf in KEEP_THE_TYPE and made.args:
        return _is_float64(module, made.args[0].value)
    return leaf in FLOAT64.get(parent, ())


def _finding(module: Module, facts: TargetFacts, call: cst.Call, made: cst.Call) -> Finding:
    has_keyword = facts.signature("keras.layers.Layer") is not None and not is_hidden(made)
    return rule.finding(
        module.place(call),
        f"`{module.source(made.func)}` casts this float64 variable to float32: Keras 2 did not "
        "cast variables",
        symbol=f"{module.source(made.func)}.{_KEYWORD}",
        confidence=Confidence.LIKELY,
        help='Create the layer with `autocast=False`, or with `dtype="float64"`.',
        fix=Fix(
            "Create the layer with `autocast=False`",
            (add_keyword(module, made, f"{_KEYWORD}=False"),),
            Applicability.UNSAFE,
            unsafe_because="the layer then casts none of its inputs",
        )
        if has_keyword
        else NoFix("the arguments of the layer are not visible here"),
    )


rule = Rule(
    code="KD432",
    name="variable-is-cast",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word("Variable") & Trigger(_may_be_cast),
    since="3.0",
)
