"""TensorFlow calls that return tensors, and that may get Keras' symbolic ones."""

from __future__ import annotations

from typing import Final

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import may_hold
from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.syntax.type_sets import kinds_in
from kdoctor.value_types import Kind

GIVE_TENSORS: Final = frozenset({
    *("abs", "argmax", "argmin", "cast", "constant", "convert_to_tensor", "count_nonzero", "equal"),
    *("fill", "greater", "greater_equal", "identity", "is_inf", "is_nan", "less", "less_equal"),
    *("logical_and", "logical_not", "logical_or", "logical_xor", "norm", "not_equal", "ones"),
    *("placeholder_with_default", "random.normal", "random.uniform", "range", "rank"),
    *(f"reduce_{each}" for each in ("all", "any", "max", "mean", "min", "prod", "sum")),
    *("shape", "size", "stop_gradient", "where", "where_v2", "zeros"),
})  # fmt: skip
"""The functions of TensorFlow that give one tensor in a graph, which has no value, whatever they
are called with: without ``tensorflow.`` and the modules that have them by another name, too."""
COMPUTE: Final = frozenset({
    *("add", "ceil", "cos", "divide", "divide_no_nan", "exp", "floor", "log", "maximum", "minimum"),
    *("multiply", "negative", "pow", "reciprocal", "round", "rsqrt", "sigmoid", "sin", "sqrt"),
    *("square", "subtract", "tanh"),
})  # fmt: skip
"""Functions of TensorFlow, most of them of ``keras.ops`` as well, that compute a tensor of numbers
of numbers of Python, too."""
_MODULES: Final = pattern(r"tensorflow\.(compat\.v[12]\.)?((math|linalg|debugging)\.)?")


def returns_tensor(name: str) -> bool:
    """Say whether a function of this name surely gives a tensor: in a graph, without a value."""
    module = _MODULES.match(name)
    return module is not None and name[module.end() :] in GIVE_TENSORS


def computes_tensor(name: str) -> bool:
    """Say whether a function of this name surely gives a tensor, which is no float of Python."""
    split = split_root(name)
    if split is not None and split[1].startswith("ops."):
        return split[1].removeprefix("ops.") in COMPUTE
    module = _MODULES.match(name)
    return returns_tensor(name) or (module is not None and name[module.end() :] in COMPUTE)


def may_get_a_tensor(quick: QuickFacts, facts: TargetFacts, called: QuickCall) -> bool:
    """Say whether a symbolic tensor, or a list of them, may be among what a call passes."""
    return may_hold(
        quick,
        facts,
        lambda possible: any(
            Kind.TENSOR in kinds_in(possible.types_in(called.node, each)) for each in called.values
        ),
    )
