"""A custom layer casts the `tf.Variable` that it is called with."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden, is_keras_3, value_of
from kdoctor.analysis.queries import Call, applications, imported
from kdoctor.keras_api.tensorflow_aliases import VARIABLES
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.arguments._forwarded_keywords import base_that_gets
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.package import KEEP_THE_TYPE
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


@rule(
    "KD432",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=applications(on=Kind.LAYER).beside(imported(*VARIABLES)),
)
def check(call: Call) -> Finding | None:
    """Report each call with such a variable."""
    module, given = call.module, call.node.args
    if len(given) != 1 or not _is_float64_variable(module, given[0]):
        return None
    made = value_of(module, call.node.func)
    base = base_that_gets(module, made.func, _KEYWORD) if isinstance(made, cst.Call) else None
    if not isinstance(made, cst.Call) or base is None or not is_keras_3(call.facts, base):
        return None
    if argument(made, _KEYWORD) is not None or argument(made, "dtype") is not None:
        return None
    return _finding(call, made)


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


def _finding(call: Call, made: cst.Call) -> Finding:
    has_keyword = call.facts.signature("keras.layers.Layer") is not None and not is_hidden(made)
    return call.finding(
        f"`{call.source(made.func)}` casts this float64 variable to float32: Keras 2 did not "
        "cast variables",
        symbol=f"{call.source(made.func)}.{_KEYWORD}",
        help='Create the layer with `autocast=False`, or with `dtype="float64"`.',
        fix=call.fix(
            "Create the layer with `autocast=False`",
            add_keyword(call.module, made, f"{_KEYWORD}=False"),
            unsafe_because="the layer then casts none of its inputs",
        )
        if has_keyword
        else NoFix("the arguments of the layer are not visible here"),
    )
