"""Functions of `tf.keras.backend` that Keras 3 keeps only for old code."""

from __future__ import annotations

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.calls import passed
from kdoctor.analysis.facts import FACADES, TargetFacts
from kdoctor.analysis.queries import Name, references
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.roots import uses_another_keras
from kdoctor.analysis.tensors.symbolic import REFUSED, RUN_WITH_VALUES, holds_symbolic
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Applicability, Confidence, Finding, Fix, Severity
from kdoctor.rules.names._backend.rewrite_call import attempted, function, help_for, table
from kdoctor.rules.names._missing_names import is_closed, is_given
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, ReferenceKind
from kdoctor.value_types import Kind

_NO_RANK = "AttributeError: 'tuple' object has no attribute 'rank'"
_NO_LIST = "AttributeError: 'tuple' object has no attribute 'as_list'"
_NO_DTYPE = "AttributeError: 'str' object has no attribute 'base_dtype'"
_EAGER = "RuntimeError: tf.gradients is not supported when eager execution is enabled."
_NO_REF = "AttributeError: 'str' object has no attribute '_is_ref_dtype'"

# What a symbolic tensor, and a `keras.Variable`, as the first argument gives on Keras 3.15.1.
ON_SYMBOLIC = {
    **dict.fromkeys(
        (
            *("abs", "all", "any", "argmax", "argmin", "batch_dot", "batch_flatten"),
            *("binary_crossentropy", "binary_focal_crossentropy", "cast"),
            *("categorical_crossentropy", "categorical_focal_crossentropy", "clip", "conv2d"),
            *("conv3d", "cos", "cumprod", "cumsum", "depthwise_conv2d", "dropout", "elu"),
            *("equal", "exp", "expand_dims", "flatten", "gather", "greater", "greater_equal"),
            *("hard_sigmoid", "in_top_k", "l2_normalize", "less", "less_equal", "log", "max"),
            *("maximum", "min", "minimum", "not_equal", "one_hot", "ones_like"),
            *("permute_dimensions", "pool3d", "pow", "prod", "relu", "reshape", "reverse"),
            *("round", "shape", "sigmoid", "sign", "sin", "softplus", "softsign"),
            *("sparse_categorical_crossentropy", "spatial_2d_padding", "spatial_3d_padding"),
            *("sqrt", "square", "squeeze", "stack", "stop_gradient", "sum", "switch", "tanh"),
            *("temporal_padding", "tile", "transpose", "variable", "zeros_like"),
        ),
        REFUSED,
    ),
    **dict.fromkeys(("concatenate", "dot", "ndim", "repeat", "softmax"), _NO_RANK),
    **dict.fromkeys(("count_params", "repeat_elements"), _NO_LIST),
    **dict.fromkeys(("dtype", "mean", "std", "var"), _NO_DTYPE),
    "gradients": _EAGER,
}
ON_VARIABLE = {
    **dict.fromkeys(("update", "update_add", "update_sub"), _NO_REF),
    **dict.fromkeys(("dtype", "mean", "std", "var"), _NO_DTYPE),
    "set_value": "AttributeError: 'str' object has no attribute 'name'",
}
# Keras 3's copy of these gives something else than Keras 2 did.
CHANGED = frozenset({"count_params"})

_RATES = ("lr", "learning_rate")


def _is_legacy(facts: TargetFacts, qualified: str) -> bool:
    split = split_root(qualified)
    if function(qualified) is None or split is None:
        return False
    if split[0] not in FACADES or not facts.runs_keras_3(split[0]):
        return False
    name = ".".join(split[1].split(".")[:2])
    here, there = facts.lookup(f"tensorflow.keras.{name}"), facts.lookup(f"keras.{name}")
    return here.presence is Presence.EXISTS and there.presence is Presence.MISSING


@rule(
    "KD121",
    severity=Severity.LEGACY,
    since="3.0",
    look_for=references(where=_is_legacy).beside(word("backend")),
)
def check(use: Name) -> Finding | None:
    """Report each use of a function that only ``tf.keras.backend`` has."""
    module, reference = use.module, use.reference
    name = function(use.name)
    if name is None or reference.kind is not ReferenceKind.LOAD:
        return None
    if is_closed(reference) or is_given(module, reference):
        return None
    fix = attempted(module, use.facts, reference, table(use.facts), name)
    if isinstance(fix, Fix) and name in CHANGED:
        fix = replace(fix, applicability=Applicability.UNSAFE)
    error = _error(use, name)
    written = f"`tf.keras.backend.{name}`"
    return use.finding(
        f"{written} fails here: {error}"
        if error
        else f"{written} is a leftover of Keras 2 that `keras.backend` no longer has",
        confidence=Confidence.LIKELY if error else None,
        severity=Severity.ERROR if error else Severity.LEGACY,
        help=help_for(name, fix),
        fix=fix,
    )


def _error(use: Name, name: str) -> str | None:
    """Return what the call raises, None where it works as far as anybody can tell."""
    module, call = use.module, use.call
    if call is None or not call.args or uses_another_keras(module, use.facts):
        return None  # a weight of tf_keras is a `tf.Variable`, and its tensors are its own
    first = passed(call, "x", 0)
    if name in ON_VARIABLE and first is not None and _is_variable(module, first):
        return ON_VARIABLE[name]
    if name not in ON_SYMBOLIC or module.context_of(call) in RUN_WITH_VALUES:
        return None
    symbolic = any(holds_symbolic(module, each.value) for each in call.args)
    return ON_SYMBOLIC[name] if symbolic else None


def _is_variable(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it surely is a ``keras.Variable``: a weight, or an optimizer's learning rate.

    A ``tf.Variable`` is none: the functions are TensorFlow's, and work on it.
    """
    found = module.type_of(node)
    if found is not None:
        return found.kind is Kind.VARIABLE and not found.is_tf_variable
    if not isinstance(node, cst.Attribute) or node.attr.value not in _RATES:
        return False
    owner = module.type_of(node.value)
    return owner is not None and owner.kind is Kind.OPTIMIZER
