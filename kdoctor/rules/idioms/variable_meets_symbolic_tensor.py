"""A variable is the left operand of an operator, and a symbolic tensor the right one.

## What it does
Reports `w * x` where `w` is known to be a `keras.Variable` and `x` a symbolic tensor: a
`keras.Input`, or the result of a layer or a `keras.ops` function. This applies to all arithmetic
operators, including `w += x`, and all comparisons; for a `tf.Variable`, to comparisons. In
`Layer.call`, in losses and metrics tensors are not symbolic, and nothing is reported.

## Why it breaks
Python asks the left operand first. A `keras.Variable` passes its value and the symbolic tensor to
the backend, which does not accept it: `ValueError: A KerasTensor cannot be used as input to a
TensorFlow function.` The other way around, `x * w`, the symbolic tensor is asked and handles it. In
Keras 2 both were TensorFlow tensors.

## What to write instead
The function of `keras.ops`: `ops.multiply(w, x)`. It accepts both kinds, in any order.

## How we know
Run on Keras 3.15.1: each operator with a `keras.Variable`, a `tf.Variable` and a tensor on either
side of a symbolic one. The function returns the values and the dtype that the operator returns for
a variable and a tensor with values, for float16, float32 and integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.symbolic import REFUSED, RUN_WITH_VALUES, SYMBOLIC, is_symbolic
from kdoctor.analysis.triggers import word
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rewrite.expression_context import span_for_a_call
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_FUNCTIONS: Final[dict[type[cst.BaseBinaryOp | cst.BaseCompOp], str]] = {
    cst.Add: "add",
    cst.Subtract: "subtract",
    cst.Multiply: "multiply",
    cst.Divide: "true_divide",
    cst.FloorDivide: "floor_divide",
    cst.Modulo: "mod",
    cst.Power: "power",
    cst.MatrixMultiply: "matmul",
    cst.Equal: "equal",
    cst.NotEqual: "not_equal",
    cst.GreaterThan: "greater",
    cst.GreaterThanEqual: "greater_equal",
    cst.LessThan: "less",
    cst.LessThanEqual: "less_equal",
}
_IN_PLACE: Final[dict[type[cst.BaseAugOp], type[cst.BaseBinaryOp]]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
    cst.FloorDivideAssign: cst.FloorDivide,
    cst.ModuloAssign: cst.Modulo,
    cst.PowerAssign: cst.Power,
}
_NO_FIX = "the expression contains a comment, or the result is not assigned to a plain name"


class _Met(Struct, frozen=True):
    """An operator that meets both, and the function of ``keras.ops`` that does the same."""

    node: cst.BinaryOperation | cst.Comparison | cst.AugAssign
    left: cst.BaseExpression
    right: cst.BaseExpression
    function: str


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each operator between a variable and a symbolic tensor."""
    if "Variable" not in module.words:
        return
    for met in _operations(module):
        compares = isinstance(met.node, cst.Comparison)
        if (
            _refuses(module, met.left, compares=compares)
            and is_symbolic(module, met.right)
            and module.context_of(met.node) not in RUN_WITH_VALUES
            and not module.is_guarded(met.node)
        ):
            yield _finding(module, met)


def _operations(module: Module) -> Iterator[_Met]:
    """Yield what Python asks its left side about."""
    for operation in module.nodes(cst.BinaryOperation):
        if type(operation.operator) in _FUNCTIONS:
            function = _FUNCTIONS[type(operation.operator)]
            yield _Met(operation, operation.left, operation.right, function)
    for compared in module.nodes(cst.Comparison):
        if len(compared.comparisons) == 1:
            second = compared.comparisons[0]
            if type(second.operator) in _FUNCTIONS:
                function = _FUNCTIONS[type(second.operator)]
                yield _Met(compared, compared.left, second.comparator, function)
    for changed in module.nodes(cst.AugAssign):
        if type(changed.operator) in _IN_PLACE:
            function = _FUNCTIONS[_IN_PLACE[type(changed.operator)]]
            yield _Met(changed, changed.target, changed.value, function)


def _refuses(module: Module, node: cst.BaseExpression, *, compares: bool) -> bool:
    found = module.type_of(node)
    refusing = ("Variable", "ResourceVariable") if compares else ("Variable",)
    return found is not None and found.kind is Kind.VARIABLE and found.cls in refusing


def _finding(module: Module, met: _Met) -> Finding:
    fix = _fix(module, met)
    return rule.finding(
        module.place(met.node),
        f"the variable `{module.source(met.left)}` is to the left of a symbolic tensor: {REFUSED}",
        symbol="keras.Variable",
        confidence=Confidence.LIKELY,
        help=f"{fix.title}." if fix else f"Use `keras.ops.{met.function}`.",
        fix=fix or NoFix(_NO_FIX),
    )


def _fix(module: Module, met: _Met) -> Fix | None:
    whole = span_for_a_call(module, met.node)
    first, second = module.span(met.left), module.span(met.right)
    gaps = (whole.start, first.start), (first.end, second.start), (second.end, whole.end)
    if any("#" in module.text[start:end] for start, end in gaps):
        return None
    written, need = speller_at(module, met.node).spell(f"keras.ops.{met.function}")
    start = ""
    if isinstance(met.node, cst.AugAssign):
        # A variable has no way to change in place: the name gets the result.
        if not isinstance(met.left, cst.Name):
            return None
        start = f"{met.left.value} = "
    parts = (f"{start}{written}(", Hole(first), ", ", Hole(second), ")")
    return rule.fix(f"Write `{written}`", Edit(whole, parts), imports=(need,))


rule = Rule(
    code="KD519",
    name="variable-meets-symbolic-tensor",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=SYMBOLIC & word("Variable"),
    since="3.0",
)

_HEAD = "import keras\nfrom keras import ops\n\nx = keras.Input((3,))\nw = keras.Variable(0.5)\n"
_GIVES = "made = keras.Model(x, y)(ops.convert_to_tensor([[0.5, 2.0, -3.0]])).numpy().tolist()\n"

VALID = [
    # The symbolic tensor is asked.
    _HEAD + "y = x * w, x @ keras.Variable([[1.0]] * 3), x > w",
    # No variable any more.
    _HEAD + "y = (w + 1.0) * x, -w * x, w.value * x",
    # TensorFlow's own variables take no part in it.
    "import keras\nimport tensorflow as tf\n\nx = keras.Input((3,))\ny = tf.Variable(0.5) * x",
    # Tensors with values.
    (
        "import keras\nfrom keras import ops\n\nw = keras.Variable(0.5)\n"
        "y = w * ops.ones((3,)), w * w"
    ),
    (
        "import keras\n\nscale = keras.Variable(0.5)\n\n\nclass Scale(keras.layers.Layer):\n"
        "    def call(self, x):\n        return scale * keras.layers.Dense(2)(x)"
    ),
    _HEAD + "y = keras.layers.Lambda(lambda t: w * keras.ops.square(t))(x)",
]
INVALID = [
    Example(
        before=_HEAD + "y = w * x\n",
        after=_HEAD + "y = ops.multiply(w, x)\n",
        raises=REFUSED,
        check=_GIVES + "assert made == [[0.25, 1.0, -1.5]]",
    ),
    Example(
        before=_HEAD + "y = (1.0 + (w - x)) / 2.0 + w / (x ** 2.0)\n",
        after=_HEAD + "y = (1.0 + ops.subtract(w, x)) / 2.0 + ops.true_divide(w, x ** 2.0)\n",
        raises=REFUSED,
        findings=2,
        check=_GIVES + "assert made[0][:2] == [2.5, -0.125]",
    ),
    Example(
        before=_HEAD + "y = w + x\nz = w ** x\nm = w % x\nf = w // x\n",
        after=_HEAD + "y = ops.add(w, x)\nz = ops.power(w, x)\n"
        "m = ops.mod(w, x)\nf = ops.floor_divide(w, x)\n",
        raises=REFUSED,
        findings=4,
        check="made = keras.Model(x, [y, z, m, f])(ops.convert_to_tensor([[1.0, 2.0, -3.0]]))\n"
        "w = ops.convert_to_tensor(0.5)\nt = ops.convert_to_tensor([[1.0, 2.0, -3.0]])\n"
        "for one, other in zip(made, [w + t, w ** t, w % t, w // t]):\n"
        "    assert one.numpy().tolist() == other.numpy().tolist()",
    ),
    Example(
        before=_HEAD + "y = [w < x, w <= x, w > x, w >= x, w == x, w != x]\n",
        after=_HEAD + "y = [ops.less(w, x), ops.less_equal(w, x), ops.greater(w, x), "
        "ops.greater_equal(w, x), ops.equal(w, x), ops.not_equal(w, x)]\n",
        raises=REFUSED,
        findings=6,
        check="made = keras.Model(x, y)(ops.convert_to_tensor([[0.5, 2.0, -3.0]]))\n"
        "assert [each.numpy().tolist() for each in made] == [\n"
        "    [[False, True, False]], [[True, True, False]], [[False, False, True]],\n"
        "    [[True, False, True]], [[True, False, False]], [[False, True, True]],\n]",
    ),
    # TensorFlow's own variables refuse comparisons.
    Example(
        before="import keras\nimport tensorflow as tf\n\nx = keras.Input((3,))\n"
        "w = tf.Variable(0.5)\ny = w < x\n",
        after="import keras\nimport tensorflow as tf\n\nx = keras.Input((3,))\n"
        "w = tf.Variable(0.5)\ny = keras.ops.less(w, x)\n",
        raises=REFUSED,
        check="made = keras.Model(x, y)(keras.ops.convert_to_tensor([[0.5, 2.0, -3.0]]))\n"
        "assert made.numpy().tolist() == [[False, True, False]]",
    ),
    Example(
        before="import keras\n\nx = keras.Input((3, 3))\n"
        "w = keras.Variable([[1.0, 2.0, 3.0]] * 3)\ny = w @ x\n",
        after="import keras\n\nx = keras.Input((3, 3))\n"
        "w = keras.Variable([[1.0, 2.0, 3.0]] * 3)\ny = keras.ops.matmul(w, x)\n",
        raises=REFUSED,
        check="made = keras.Model(x, y)(keras.ops.ones((1, 3, 3)))\n"
        "assert made.numpy().tolist() == [[[6.0] * 3] * 3]",
    ),
    # A loss that is summed up.
    Example(
        before=_HEAD + "loss = keras.Variable(0.0)\n"
        "loss = loss + 0.5 * ops.sum(ops.square(x), axis=-1)\n",
        after=_HEAD + "loss = keras.Variable(0.0)\n"
        "loss = ops.add(loss, 0.5 * ops.sum(ops.square(x), axis=-1))\n",
        raises=REFUSED,
        check="made = keras.Model(x, loss)(ops.convert_to_tensor([[1.0, 2.0, 3.0]]))\n"
        "assert made.numpy().tolist() == [7.0]",
    ),
    Example(
        before=_HEAD + "total = w\ntotal += x\n",
        after=_HEAD + "total = w\ntotal = ops.add(total, x)\n",
        raises=REFUSED,
        check="made = keras.Model(x, total)(ops.ones((1, 3))).numpy().tolist()\n"
        "assert made == [[1.5] * 3] and float(w) == 0.5",
    ),
    Example(
        before=_HEAD + "y = (\n    w\n    * x  # weighted\n)\n",
        raises=REFUSED,
        after=_HEAD + "y = (\n    ops.multiply(w, x)  # weighted\n)\n",
        check="assert y.shape == (None, 3)",
    ),
    Example(before=_HEAD + "y = (\n    w  # the weight\n    * x\n)\n", raises=REFUSED),
]
