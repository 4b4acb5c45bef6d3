"""``tf.float32`` as a dtype, in code that Keras runs."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Name, references
from kdoctor.analysis.queries.run_by_keras import run_by_keras
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rules.rule import rule

# That Keras has, too, under the same name, on each backend.
_DTYPES: Final = frozenset({
    *("bfloat16", "float16", "float32", "float64", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
})  # fmt: skip
_ROOTS: Final = ("tensorflow.", "tensorflow.dtypes.")
_STRICT: Final = ("ops.", "random.")  # modules whose functions hand a dtype on to the backend
_CASTS: Final = frozenset({"ops.cast", "ops.convert_to_tensor"})  # these make a name of it
_EQUALITY: Final = (cst.Equal, cst.NotEqual)
_STANDARD: Final = "keras.backend.standardize_dtype"


def _is_dtype(_facts: TargetFacts, name: str) -> bool:
    if not name.startswith("tensorflow."):
        return False
    root, _, leaf = by_the_short_way(name).rpartition(".")
    return leaf in _DTYPES and f"{root}." in _ROOTS


@rule(
    "KD811",
    severity=Severity.ERROR,
    since="3.0",
    look_for=run_by_keras(references(*_DTYPES, where=_is_dtype)),
)
def check(name: Name) -> Finding | None:
    """Report those that Keras is given, or that a dtype is compared with."""
    node = name.node
    if not isinstance(node, cst.Name | cst.Attribute):
        return None
    parent = name.module.parent(node)
    if isinstance(parent, cst.Arg) and not parent.star:
        return _passed(name, parent)
    if isinstance(parent, cst.ComparisonTarget):
        parent = name.module.parent(parent)
    if isinstance(parent, cst.Comparison) and len(parent.comparisons) == 1:
        return _compared(name, parent)
    return None


def _passed(name: Name, given: cst.Arg) -> Finding | None:
    module = name.module
    call = module.parent(given)
    if not isinstance(call, cst.Call):
        return None
    split = split_root(module.qualified(call.func) or "")
    is_weight = isinstance(call.func, cst.Attribute) and call.func.attr.value == "add_weight"
    if split is None and not is_weight:
        return None
    called = "add_weight" if split is None else split[1]
    refuses = called.startswith(_STRICT) and called not in _CASTS
    written = name.source(name.node)
    edit = Edit(module.span(name.node), (f'"{_leaf(name)}"',), Precedence.ATOM)
    return name.finding(
        f"`{written}` is a dtype of TensorFlow: TypeError: Cannot interpret '{written}' as a data "
        "type"
        if refuses
        else f"`{written}` is a dtype of TensorFlow, which the file needs for it",
        severity=Severity.ERROR if refuses else Severity.LEGACY,
        help="Name it: Keras takes the name on each backend.",
        fix=name.fix("Write the name of the dtype", edit),
    )


def _compared(name: Name, comparison: cst.Comparison) -> Finding | None:
    """Report ``x.dtype == tf.float32``: on PyTorch it is False, whatever ``x`` is."""
    target = comparison.comparisons[0]
    other = comparison.left if target.comparator is name.node else target.comparator
    if not isinstance(target.operator, _EQUALITY) or not _is_dtype_of_something(other):
        return None
    module = name.module
    fix: Fix | NoFix
    spelled, need = speller_at(module, name.node).spell(_STANDARD)
    outer = module.outer_span(other)
    fix = name.fix(
        "Compare the names",
        Edit(outer, (f"{spelled}(", Hole(outer), ")"), Precedence.PRIMARY),
        Edit(module.span(name.node), (f'"{_leaf(name)}"',), Precedence.ATOM),
        imports=(need,),
    )
    return name.finding(
        f"`{name.source(comparison)}` compares with a dtype of TensorFlow: a dtype of PyTorch "
        "equals none",
        at=comparison,
        severity=Severity.CHANGE,
        help=f"Compare the names: `{_STANDARD}(x.dtype)` is one on each backend.",
        fix=fix,
    )


def _is_dtype_of_something(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == "dtype"


def _leaf(name: Name) -> str:
    return name.name.rpartition(".")[2]
