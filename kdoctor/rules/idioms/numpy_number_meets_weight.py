"""A NumPy number or array is combined with a symbolic tensor or a weight.

## What it does
Reports `np.sqrt(64.0) * x` where `x` is known to be a symbolic tensor, and
`np.sqrt(2.0) * self.kernel` and `self.kernel * np.sqrt(2.0)` with weights of layers. This applies
to all arithmetic operators, and to comparisons with NumPy on the left.

## Why it breaks
Python asks the left operand first, and NumPy converts the right one to an array. A symbolic tensor
has none: `ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype.` A
weight has none in the graph of a model: `NotImplementedError`. In eager mode the result is an
array, and no gradient flows through it: the weight is not trained, with no warning.

To the right of a weight, NumPy's float64 becomes a float64 tensor, and TensorFlow does not mix
dtypes: `TypeError: Input 'y' of 'Mul' Op has type float64 that does not match type float32`;
functions of `keras.ops` continue in float64. Keras 2 converted either to a tensor with the dtype of
the other side. With symbolic tensors this is not an error: the next layer casts its inputs.

## What to write instead
A Python number: `float(np.sqrt(64.0)) * x`. For an array, a tensor:
`keras.ops.convert_to_tensor(array, x.dtype) * x`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: each operator with `np.float32`, `np.float64`, `np.int64` and
arrays of them on either side of a symbolic tensor, and of a weight in `call`, in a graph and with
values under a tape. TensorFlow functions (`tf.multiply(w, s)`) and variables convert it to a
tensor, as before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.numpy_scalars import MAKERS, NumpyScalars, may_be_of_numpy, of_numpy
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC, is_symbolic
from kdoctor.analysis.triggers import Operator, Trigger, may_have_kind, package, some_operator, word
from kdoctor.keras_api.returns import CALLED, MEMBERS
from kdoctor.model import (
    Confidence,
    Edit,
    Finding,
    Fix,
    Hole,
    NoFix,
    Precedence,
    Severity,
)
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.idioms._numpy_examples import EQUALIZED, LAYER, TAPE
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Context, Kind

if TYPE_CHECKING:
    from kdoctor.syntax.may_types import MayTypes
    from kdoctor.syntax.symbol_table import Namespace

_OPERATORS: Final = (
    *(cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power),
    cst.MatrixMultiply,
)
_COMPARISONS: Final = (
    *(cst.Equal, cst.NotEqual, cst.GreaterThan, cst.GreaterThanEqual),
    *(cst.LessThan, cst.LessThanEqual),
)
_SYMBOLIC: Final = (
    "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype"
)
_WEIGHTS: Final = frozenset(
    name
    for given in (MEMBERS, CALLED)
    for (_, name), made in given.items()
    if Kind.VARIABLE in {made.kind, made.item.kind if made.item else None}
)
"""The members that are weights, hold some, or make one."""
_MIX_NO_DTYPES: Final = frozenset({
    "tensorflow.matmul", "tensorflow.linalg.matmul", "tensorflow.nn.conv2d",
})  # fmt: skip


class _Met(Struct, frozen=True):
    """An operator that meets both, and which side is NumPy's."""

    node: cst.CSTNode
    numpys: cst.BaseExpression
    other: cst.BaseExpression
    found: NumpyScalars
    is_first: bool


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each operator between something of NumPy and a symbolic tensor or a weight."""
    for met in _meetings(module):
        runs = module.context_of(met.node)
        if is_symbolic(module, met.other):
            if met.is_first and runs not in RUN_WITH_VALUES and not _is_in_a_lambda(module, met):
                yield _finding(module, met, _SYMBOLIC, Severity.ERROR)
        elif runs in RUN_WITH_VALUES and met.is_first:
            told = (
                "no gradient flows through it in eager mode, and a graph raises "
                "NotImplementedError: …"
            )
            in_a_graph = runs is not Context.TRAIN_LOOP
            yield _finding(module, met, told, Severity.ERROR if in_a_graph else Severity.CHANGE)
        elif runs in RUN_WITH_VALUES and met.found.is_double:
            told = "it becomes a float64 tensor, and TensorFlow does not mix dtypes: TypeError: …"
            is_sure = runs is Context.CALL and _meets_another(module, met.node)
            yield _finding(module, met, told, Severity.ERROR if is_sure else Severity.CHANGE)


def _meetings(module: Module) -> Iterator[_Met]:
    for node, left, right, is_comparison in _operations(module):
        # The cheaper question first: most operators meet neither.
        for numpys, other, is_first in ((left, right, True), (right, left, False)):
            if is_comparison and not is_first:
                continue
            if not _may_refuse(module, other) or module.is_guarded(node):
                continue
            found = of_numpy(module, numpys)
            if found is not None:
                yield _Met(node, numpys, other, found, is_first)


def _operations(
    module: Module,
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression, bool]]:
    for operation in module.nodes(cst.BinaryOperation):
        if isinstance(operation.operator, _OPERATORS):
            yield operation, operation.left, operation.right, False
    for compared in module.nodes(cst.Comparison):
        match compared.comparisons:
            case [cst.ComparisonTarget(operator=operator, comparator=second)] if isinstance(
                operator, _COMPARISONS
            ):
                yield compared, compared.left, second, True


def _may_refuse(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it surely is a symbolic tensor, or a weight of Keras."""
    found = module.type_of(node)
    if found is None:
        return False
    # TensorFlow's own variables make a tensor of the other side.
    is_weight = found.kind is Kind.VARIABLE and not found.is_tf_variable
    return is_weight or found.kind is Kind.TENSOR


def _is_in_a_lambda(module: Module, met: _Met) -> bool:
    """Say whether the code is handed to a layer, as the function of a ``Lambda``."""
    return any(isinstance(each, cst.Lambda) for each in module.ancestors(met.node))


def _meets_another(module: Module, node: cst.CSTNode) -> bool:
    """Say whether what comes out meets something of `call`: an operator, or `tf.matmul(x, …)`."""
    parent = module.parent(node)
    if isinstance(parent, cst.BinaryOperation):
        other = parent.right if parent.left is node else parent.left
        found = module.type_of(other)
        return not isinstance(other, cst.BaseNumber) and found is None
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call) or len(call.args) < 2:
        return False
    return module.qualified(call.func) in _MIX_NO_DTYPES


def _finding(module: Module, met: _Met, told: str, severity: Severity) -> Finding:
    side = "left" if met.is_first else "right"
    what = "a symbolic tensor" if is_symbolic(module, met.other) else "a weight"
    shown = module.source(met.numpys)
    named = f"the NumPy value `{shown}`" if len(shown) < 40 else "a NumPy value"
    hidden = _hidden(module, met)
    fix = None if hidden else _fix(module, met)
    return rule.finding(
        module.place(met.node),
        f"{named} is to the {side} of {what}: {told}",
        symbol="KerasTensor" if is_symbolic(module, met.other) else "keras.Variable",
        confidence=Confidence.LIKELY,
        severity=severity,
        help=f"{fix.title}."
        if fix
        else "Convert it to a tensor: `keras.ops.convert_to_tensor(array, x.dtype)`.",
        fix=fix
        or NoFix(hidden or "an array has to become a tensor with the dtype of the other operand"),
    )


def _fix(module: Module, met: _Met) -> Fix | None:
    if met.found.is_one is False:
        return None
    place = module.outer_span(met.numpys)
    parts: tuple[str | Hole, ...]
    if met.found.python:
        parts = (f"{met.found.python}(", Hole(module.span(met.numpys)), ")")
        title = f"Convert it to a Python number with `{met.found.python}(…)`"
    else:
        parts = (Hole(place, Precedence.PRIMARY, precedence_of(met.numpys)), ".item()")
        title = "Convert it to a Python number with `.item()`"
    return rule.fix(
        title,
        Edit(place, parts, Precedence.PRIMARY),
        unsafe_because="" if met.found.is_one else "it may be an array, not a single number",
    )


def _hidden(module: Module, met: _Met) -> str:
    """Return why the type that the fix would write cannot be: it is another thing in the file."""
    name = met.found.python
    return "" if not name or has_builtin(module, met.node, name) else hidden_builtin(name)


def _may_meet(quick: QuickFacts, facts: TargetFacts) -> bool:
    def meets(possible: MayTypes, node: Operator, space: Namespace) -> bool:
        if isinstance(node, ast.BinOp):
            sides = [(node.left, node.right), (node.right, node.left)]
        else:
            sides = [(node.left, node.comparators[0])]
        return any(
            may_be_of_numpy(quick, possible.symbol_table, numpys)
            and may_have_kind(possible, other, space, {Kind.TENSOR, Kind.VARIABLE})
            for numpys, other in sides
        )

    return not MAKERS.isdisjoint(quick.calls_by_meaning) and some_operator(quick, facts, meets)


rule = Rule(
    code="KD523",
    name="numpy-number-meets-weight",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=package("numpy") & (SYMBOLIC | word("Variable", *_WEIGHTS)) & Trigger(_may_meet),
    since="3.0",
)

_X = "import keras\nimport numpy as np\n\nx = keras.Input((3,))\n"
_GIVES = (
    "[round(float(each), 4) for each in np.ravel(keras.Model(x, y)(np.ones((1, 3), 'float32')))]"
)
_OUT = "np.asarray(model(np.ones((1, 3), 'float32'))).round(4).tolist()"
_GRAPH = "NotImplementedError: "
_MIXED = "TypeError: "

VALID = [
    # The symbolic tensor is asked first, and the next layer casts.
    _X
    + "y = x * np.sqrt(64.0)\nz = keras.layers.Dense(2)(x) / np.sqrt(2.0)\nb = x > np.float32(1)",
    # Python's numbers; NumPy's constants are such.
    _X + "y = np.pi * x\nz = float(np.sqrt(2.0)) * x\nb = np.sqrt(2.0).item() * x\nc = 2 * x",
    # No NumPy any more, or not for sure.
    _X + "y = keras.ops.convert_to_tensor(np.ones(3), 'float32') * x\nz = np.random.rand() * x",
    "import keras\nimport numpy as np\n\n\ndef scaled(x, by):\n    return by * x, np.sqrt(2.0) * x",
    _X + "\n\ndef scaled(by):\n    return (by / np.sqrt(2.0)) * x",
    # In layers tensors have another nature.
    LAYER.format("np.sqrt(2.0) * x"),
    LAYER.format("(tf.matmul(x, self.kernel) + self.shift) * self.scale"),
    _X + "y = keras.layers.Lambda(lambda t: np.sqrt(2.0) * t)(x)",
    # Of 32 bits, whole, or Python's: the weight stays what it is.
    LAYER.format("x @ (self.kernel * np.float32(2.0)) + self.shift * np.int64(2)"),
    LAYER.format("tf.matmul(x, self.kernel * float(np.sqrt(2.0)))"),
    # A function of TensorFlow makes a tensor of it.
    LAYER.format("tf.matmul(x, tf.multiply(self.kernel, np.sqrt(2.0)))"),
    # Of one number of the user's nobody knows how many bits it has.
    LAYER.format("tf.matmul(x, self.kernel * np.sqrt(self.units))"),
    # It may have been set to something else.
    EQUALIZED.format("self.kernel * self.scale").replace("np.sqrt(1.6 / n)", "made_of(n)"),
    (
        EQUALIZED.format("self.kernel * self.scale").replace(
            "    def call(",
            "    def reset(self, scale):\n        self.scale = scale\n\n    def call(",
        )
    ),
    # No weights: a number by the same name, and TensorFlow's own variable.
    (
        "import numpy as np\nfrom keras.layers import Layer\n\n\nclass Mine(Layer):\n"
        "    def __init__(self, gamma=2.0):\n        super().__init__()\n"
        "        self.gamma = gamma\n        self.beta = 0.5\n\n    def call(self, x):\n"
        "        return x * (np.sqrt(2.0) * self.gamma + self.beta * np.sqrt(2.0))"
    ),
    (
        "import numpy as np\nimport tensorflow as tf\nfrom keras.layers import Layer\n\n\n"
        "class Mine(Layer):\n    def build(self, _):\n        self.w = tf.Variable(1.0)\n\n"
        "    def call(self, x):\n        return x * (np.sqrt(2.0) * self.w)"
    ),
    # What weights are outside of layers may well be an array.
    "import keras\nimport numpy as np\n\nprint(np.sqrt(2.0) * keras.layers.Dense(2).kernel)",
    (_X + "y = np.sqrt(64.0) * x").replace("keras", "tf_keras"),
]
INVALID = [
    Example(
        before=_X + "y = np.sqrt(64.0) * x\n",
        after=_X + "y = float(np.sqrt(64.0)) * x\n",
        raises=_SYMBOLIC,
        on_keras_2=True,
        same=_GIVES,
    ),
    # What comes of it, by a name.
    Example(
        before=_X + "scale = 1.0 / np.sqrt(2 * 8)\ny = 1.0 - (scale - keras.layers.ReLU()(x))\n",
        after=_X
        + "scale = 1.0 / np.sqrt(2 * 8)\ny = 1.0 - (float(scale) - keras.layers.ReLU()(x))\n",
        raises=_SYMBOLIC,
        on_keras_2=True,
        same=_GIVES,
    ),
    Example(
        before=_X + "y = 0.5 * x * (1.0 + np.sqrt(2 / np.pi) * (x + np.float32(0.25) * x))\n",
        after=_X + "y = 0.5 * x * (1.0 + float(np.sqrt(2 / np.pi)) * (x + float(np.float32(0.25))"
        " * x))\n",
        raises=_SYMBOLIC,
        findings=2,
        on_keras_2=True,
        same=_GIVES,
    ),
    Example(
        before=_X + "y = np.int64(2) + x\ny = -np.prod((2, 3)) + y\n",
        after=_X + "y = int(np.int64(2)) + x\ny = (-np.prod((2, 3))).item() + y\n",
        raises=_SYMBOLIC,
        findings=2,
        on_keras_2=True,
        same=_GIVES,
    ),
    Example(
        before=_X + "y = (\n    np.float32(0.5)  # half\n    < x\n)\n",
        after=_X + "y = (\n    float(np.float32(0.5))  # half\n    < x\n)\n",
        raises=_SYMBOLIC,
        on_keras_2=True,
        same=_GIVES,
    ),
    # It may be an array.
    Example(
        before=_X + "\n\ndef scaled(by):\n    return np.sqrt(by) * x\n\n\ny = scaled(4.0)\n",
        after=_X + "\n\ndef scaled(by):\n    return float(np.sqrt(by)) * x\n\n\ny = scaled(4.0)\n",
        raises=_SYMBOLIC,
        unsafe=True,
        on_keras_2=True,
        same=_GIVES,
    ),
    Example(
        before=_X + "y = np.array([1.0, 2.0, 3.0]) * x\n",
        raises=_SYMBOLIC,
        on_keras_2=True,
    ),
    Example(
        before=LAYER.format("tf.matmul(x, np.sqrt(4.0) * self.kernel)"),
        after=LAYER.format("tf.matmul(x, float(np.sqrt(4.0)) * self.kernel)"),
        raises=_GRAPH,
        on_keras_2=True,
        same=_OUT,
    ),
    Example(
        before=LAYER.format("tf.matmul(x, self.kernel * self.scale)"),
        after=LAYER.format("tf.matmul(x, self.kernel * float(self.scale))"),
        raises=_MIXED,
        on_keras_2=True,
        same=_OUT,
    ),
    Example(
        before=LAYER.format("tf.matmul(x, self.kernel) + self.shift / np.float64(2.0)"),
        after=LAYER.format("tf.matmul(x, self.kernel) + self.shift / float(np.float64(2.0))"),
        raises=_MIXED,
        on_keras_2=True,
        same=_OUT,
    ),
    Example(
        before=LAYER.format("tf.matmul(x, self.kernel) + np.ones(2) * self.shift"),
        raises=_GRAPH,
        on_keras_2=True,
    ),
    # The same rate for all weights, as in GANs: what `build` sets is there by then.
    Example(
        before=EQUALIZED.format("self.kernel * self.scale"),
        after=EQUALIZED.format("self.kernel * float(self.scale)"),
        raises="TypeError: ",
        on_keras_2=True,
        same="out.round(4).tolist()",
    ),
    # No gradient.
    Example(
        before=TAPE.format("np.float32(2.0) * layer.kernel"),
        after=TAPE.format("float(np.float32(2.0)) * layer.kernel"),
        on_keras_2=True,
        same="None if gradient is None else gradient.numpy().tolist()",
    ),
]
