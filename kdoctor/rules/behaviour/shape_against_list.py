"""The shape of a symbolic tensor is a tuple, and no tuple equals a list.

## What it does
Reports `x.shape == [None, 3]` and `x.shape[1:] + [2]` on symbolic tensors, and
`isinstance(x.shape, tf.TensorShape)`.

## Why it breaks
Keras 2 gave a `TensorShape`, which equals a list and adds to one. Keras 3 gives a tuple:
comparisons with a list are always false, `isinstance` is false, and adding raises `TypeError: can
only concatenate tuple (not "list") to tuple`.

## What to write instead
Tuples, which a `TensorShape` equals too: `x.shape == (None, 3)`; `isinstance(x.shape, tuple)`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.keras_api.tensorflow_ways import ways_also_by_1
from kdoctor.kinds import Kind
from kdoctor.model import Confidence, Edit, Finding, Fix, Severity, Span
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.symbolic import SYMBOLIC
from kdoctor.rules.triggers import Trigger, member
from kdoctor.syntax import Module
from kdoctor.syntax.glimpse import Glimpse

_TYPES = ways_also_by_1("tensorflow.TensorShape")
_ADDING = 'TypeError: can only concatenate tuple (not "list") to tuple'


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each shape that meets a list."""
    for use in module.members:
        if use.owner.kind is not Kind.TENSOR or use.member != "shape" or use.owner_defines:
            continue
        shape = _with_slice(module, use.node)
        parent = module.parent(shape)
        if module.is_guarded(shape):
            continue
        if _is_type_check(module, shape, parent):
            yield _type_check(module, shape)
            continue
        other = _other_side(module, shape, parent)
        if isinstance(other, cst.List):
            adds = isinstance(parent, cst.BinaryOperation)
            yield _meets(module, facts, shape, other, adds=adds)


def _with_slice(module: Module, shape: cst.Attribute) -> cst.BaseExpression:
    """Return ``x.shape[1:]`` where the shape is sliced, for that is a tuple too."""
    parent = module.parent(shape)
    is_slice = (
        isinstance(parent, cst.Subscript)
        and parent.value is shape
        and len(parent.slice) == 1
        and isinstance(parent.slice[0].slice, cst.Slice)
    )
    return parent if is_slice and isinstance(parent, cst.Subscript) else shape


def _other_side(
    module: Module, shape: cst.BaseExpression, parent: cst.CSTNode | None
) -> cst.BaseExpression | None:
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Add):
        return parent.right if parent.left is shape else parent.left
    if isinstance(parent, cst.ComparisonTarget):
        whole = module.parent(parent)
        is_equality = isinstance(parent.operator, cst.Equal | cst.NotEqual)
        return whole.left if is_equality and isinstance(whole, cst.Comparison) else None
    if isinstance(parent, cst.Comparison) and parent.left is shape:
        first = parent.comparisons[0]
        is_equality = isinstance(first.operator, cst.Equal | cst.NotEqual)
        return first.comparator if is_equality else None
    return None


def _is_type_check(module: Module, shape: cst.BaseExpression, parent: cst.CSTNode | None) -> bool:
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call) or len(call.args) != 2 or call.args[0].value is not shape:
        return False
    if any(each.star or each.keyword for each in call.args):
        return False
    is_it = isinstance(call.func, cst.Name) and call.func.value == "isinstance"
    return is_it and module.qualified(call.args[1].value) in _TYPES


def _type_check(module: Module, shape: cst.BaseExpression) -> Finding:
    return rule.finding(
        module.place(shape),
        "the shape of a symbolic tensor is a tuple: this is False on Keras 3",
        symbol="KerasTensor.shape",
        confidence=Confidence.LIKELY,
        help="Write `isinstance(x.shape, tuple)`.",
        no_fix_because="what is done with the shape then must be changed with it",
    )


def _meets(
    module: Module, facts: Facts, shape: cst.BaseExpression, other: cst.List, *, adds: bool
) -> Finding:
    span = module.span(other)
    single = len(other.elements) == 1 and module.comma_after(other.elements[0]) is None
    comma = "," if single else ""
    fixable = bool(other.elements)
    return rule.finding(
        module.place(other),
        f"the shape is a tuple: {_ADDING}"
        if adds
        else "the shape is a tuple, and equals no list: this is the same answer whatever the shape",
        symbol="KerasTensor.shape",
        confidence=Confidence.LIKELY,
        severity=Severity.ERROR if adds else Severity.CHANGE,
        help="Write a tuple.",
        fix=Fix(
            "Write a tuple",
            (
                Edit(Span(span.start, span.start + 1), ("(",)),
                Edit(Span(span.end - 1, span.end), (f"{comma})",)),
            ),
            facts.applicability(*(each for each in INVALID if each.after)),
        )
        if fixable
        else None,
        no_fix_because=None if fixable else f"`{module.source(shape)}` meets an empty list",
    )


def _may_meet(glimpse: Glimpse, _: Facts) -> bool:
    nodes = glimpse.nodes
    added = (each for each in nodes.get(ast.BinOp, ()) if isinstance(each.op, ast.Add))
    sides = [
        *((each.left, each.right) for each in added),
        *((each.left, *each.comparators) for each in nodes.get(ast.Compare, ())),
    ]
    return any(
        any(isinstance(each, ast.List) for each in several) and any(map(_is_shape, several))
        for several in sides
    ) or any(
        called.places > 1 and _is_shape(called.node.args[0])
        for called in glimpse.calls_by_leaf.get("isinstance", ())
        if "TensorShape" in glimpse.words
    )


def _is_shape(node: ast.expr) -> bool:
    whole = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(whole, ast.Attribute) and whole.attr == "shape"


rule = Rule(
    code="KD415",
    name="shape-against-list",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=member("shape") & Trigger(_may_meet) & SYMBOLIC,
    since="3.0",
)

_X = "import keras\n\nx = keras.layers.Input((3,))\n"

VALID = [
    _X + "x.shape == (None, 3)\nx.shape[1:] + (2,)\nlist(x.shape) == [None, 3]\nx.shape[0] == [1]",
    "import numpy as np\nimport keras\nnp.ones((2,)).shape == [2]",
    "import keras\n\ndef check(x):\n    return x.shape == [None, 3]",
    "import tf_keras\nx = tf_keras.Input((3,))\nx.shape == [None, 3]",
]
INVALID = [
    Example(
        before=_X + "fits = x.shape == [None, 3]\n",
        after=_X + "fits = x.shape == (None, 3)\n",
        on_keras_2=True,
        check="assert fits",
    ),
    Example(
        before=_X + "wider = x.shape[1:] + [2]\n",
        after=_X + "wider = x.shape[1:] + (2,)\n",
        raises=_ADDING,
        on_keras_2=True,
        same="tuple(wider)",
    ),
    Example(
        before="import tensorflow as tf\n" + _X + "old = isinstance(x.shape, tf.TensorShape)\n",
        check="assert not old",
    ),
]
