"""`x == 0` on a symbolic tensor compares identity in Keras 3, and is always False.

## What it does
Reports `x == 0` where `x` is known to be a symbolic tensor, the other side is a number, and the
result is used as a value: passed on, assigned, or part of a computation. In `Layer.call`, in losses
and in the function of a `Lambda`, tensors have elements to compare, and nothing is reported.

## Why it breaks
Keras 2 compared the elements when the model ran. The symbolic tensors of Keras 3 overload `<`, `>`
and `!=`, but not `==`: Python compares identity, and the result is `False` immediately.
`tf.cast(x == 0, "float32")` is zero for all data, with no warning; `tf.where(x == 0, a, b)` and
layers raise.

## What to write instead
`keras.ops.equal(x, 0)`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21. As a condition (`if x == 0:`) it was an error on Keras 2;
that is not reported.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.queries.comparisons import Comparison, comparisons
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.tensors.elements import numbers_of_scalar
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC, is_symbolic
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ASKING: Final = (
    *(cst.If, cst.While, cst.IfExp, cst.CompIf, cst.BooleanOperation, cst.Comparison),
)
"""What wants a bool, there and then."""
_PYTHONS: Final = frozenset({"all", "any", "bool", "int", "print"})


def _may_be_a_number(form: object) -> bool:
    """Say whether it is a number, or worked out: no text, no attribute and no display."""
    if isinstance(form, Expression):
        return form.kind in {"UnaryOp", "BinOp", "Call", "Subscript", "IfExp"}
    return isinstance(form, int | float)


@rule(
    "KD474",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=comparisons("==", of=Kind.TENSOR, against=_may_be_a_number).beside(SYMBOLIC),
)
def check(comparison: Comparison) -> Finding | None:
    """Report each such comparison."""
    module, node = comparison.module, comparison.node
    if not any(
        is_symbolic(module, one) and numbers_of_scalar(module, other) is not None
        for one, other in (
            (comparison.left, comparison.right),
            (comparison.right, comparison.left),
        )
    ):
        return None
    if module.context_of(node) in RUN_WITH_VALUES or _is_asked(module, node):
        return None
    told = ""
    if _is_given_to_a_layer(module, node):
        told = ": ValueError: Only input tensors may be passed as positional arguments"
    return comparison.finding(
        f"`==` on symbolic tensors compares identity in Keras 3: this is always False{told}",
        symbol="KerasTensor.__eq__",
        severity=Severity.ERROR if told else Severity.CHANGE,
        help=f"Write `{speller_at(module, node).spell('keras.ops.equal')[0]}`.",
        fix=_by_function(comparison),
    )


def _is_asked(module: Module, node: cst.Comparison) -> bool:
    """Say whether it is a condition, or the function of a ``Lambda``, or no one's value."""
    inner: cst.CSTNode = node
    for each in module.ancestors(node):
        match each:
            case cst.Lambda() | cst.UnaryOperation(operator=cst.Not()) | cst.Assert():
                return True
            case cst.IfExp() if each.test is not inner:
                pass  # it is what is chosen
            case cst.Call(func=cst.Name(value=name)) if name in _PYTHONS:
                return True
            case cst.BaseSmallStatement():
                return isinstance(each, cst.Expr) and each.value is node
            case _ if isinstance(each, _ASKING):
                return True
        inner = each
    return False


def _by_function(comparison: Comparison) -> Fix | NoFix:
    """Return the fix that writes the function that compares the elements."""
    module, node = comparison.module, comparison.node
    whole, first, second = map(module.span, (node, comparison.left, comparison.right))
    gaps = (whole.start, first.start), (first.end, second.start), (second.end, whole.end)
    if any("#" in module.text[start:end] for start, end in gaps):
        return NoFix("the expression contains a comment")
    around = _function_around(module, node)
    if around.startswith("tensorflow.") and split_root(around) is None:
        return NoFix(
            f"`{around}` does not accept a symbolic tensor: both must be functions of `keras.ops`"
        )
    is_legacy = (split_root(around) or ("", ""))[1].startswith("backend.")
    written, need = speller_at(module, node).spell("keras.ops.equal")
    return comparison.fix(
        f"Write `{written}`",
        Edit(whole, (f"{written}(", Hole(first), ", ", Hole(second), ")")),
        imports=() if need is None else (need,),
        unsafe_because="the function around it must accept symbolic tensors" if is_legacy else "",
    )


def _function_around(module: Module, node: cst.CSTNode) -> str:
    """Return the dotted name of the function that gets a value, "" of what has none."""
    given = module.parent(node)
    call = module.parent(given) if isinstance(given, cst.Arg) else None
    return (module.qualified(call.func) or "") if isinstance(call, cst.Call) else ""


def _is_given_to_a_layer(module: Module, node: cst.CSTNode) -> bool:
    given = module.parent(node)
    call = module.parent(given) if isinstance(given, cst.Arg) and not given.keyword else None
    layer = module.type_of(call.func) if isinstance(call, cst.Call) else None
    return layer is not None and layer.kind is Kind.LAYER


_X = "import keras\nimport tensorflow as tf\n\nx = keras.Input((3,))\n"
_OPS = "import keras\nfrom keras import ops\n\nx = keras.Input((3,))\n"
_GIVES = "np.asarray(keras.Model(x, y)(np.array([[0.0, 1.0, 2.0]], 'float32'))).tolist()"

VALID = [
    # These are known.
    _OPS + "y = x != 0, x > 0, x >= 0, ops.equal(x, 0)",
    # Python is to know it now; the first was an error on Keras 2.
    _OPS + "if x == 0:\n    pass\nassert not x == 1\nsame = bool(x == 0)\nx == 0",
    _OPS
    + "found = [each for each in (x, 3) if each == 3]\na = 1 if x == 0 else 2\nb = x == 0 or x",
    # Whether it is the same object; and a size.
    _OPS + "z = x\nsame = x == z\nis_wide = x.shape[1] == 3\nis_none = x == None\nis_it = x == 'x'",
    # Tensors with elements.
    (
        "import keras\n\n\nclass Mask(keras.layers.Layer):\n    def call(self, x):\n"
        "        return keras.ops.cast(x == 0, 'float32')"
    ),
    _OPS + "y = keras.layers.Lambda(lambda t: keras.ops.cast(t == 0, 'float32'))(x)",
    "import keras\n\n\ndef mask(x):\n    return keras.ops.cast(x == 0, 'float32')",
    "import keras\n\nx = keras.ops.ones((2, 3))\ny = keras.ops.cast(x == 1, 'float32')",
    (_X + "y = tf.cast(x == 0, 'float32')").replace("keras", "tf_keras"),
]
INVALID = [
    # It is zero, and nothing says so.
    Example(
        before=_X + "mask = tf.cast(x == 0, 'float32')\ny = x + mask\n",
        prelude="import numpy as np\n",
        on_keras_2=True,
        same=_GIVES,
    ),
    Example(
        before=_X + "y = keras.layers.Activation('linear')(1.0 == x)\n",
        after=_X + "y = keras.layers.Activation('linear')(keras.ops.equal(1.0, x))\n",
        prelude="import numpy as np\n",
        raises="ValueError: Only input tensors may be passed as positional arguments",
        on_keras_2=True,
        same=_GIVES,
    ),
    Example(
        before=_OPS + "pad = -1 + 1\nkeep = 1.0 - ops.cast(\n    x == pad,  # filled up\n"
        "    'float32'\n)\ny = x + keep\n",
        after=_OPS + "pad = -1 + 1\nkeep = 1.0 - ops.cast(\n    ops.equal(x, pad),  # filled up\n"
        "    'float32'\n)\ny = x + keep\n",
        prelude="import numpy as np\n",
        check=f"assert {_GIVES} == [[0.0, 2.0, 3.0]]",
    ),
    Example(
        before=_OPS + "y = ops.where((x) == 0 if ops else None, 1.0, x)\n",
        after=_OPS + "y = ops.where(ops.equal(x, 0) if ops else None, 1.0, x)\n",
        prelude="import numpy as np\n",
        check=f"assert {_GIVES} == [[1.0, 1.0, 2.0]]",
    ),
]
