"""`keras.utils.normalize(x, axis=0)` divides an array by norms of the wrong axis.

## What it does
Reports `keras.utils.normalize` of a NumPy array with `axis=0`.

## Why it breaks
Keras 3 evaluates `axis or -1`, and applies the norms of the first axis to the last: `ValueError:
operands could not be broadcast together with shapes (6,4) (4,1)`. If the sizes happen to fit, as
with a square array, each number is divided by the norm of another column, with no warning.

## What to write instead
The same axis counted from the end: `normalize(x, axis=-2)` for an array with two axes,
`normalize(x, axis=-x.ndim)` for any.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21. Other axes work as before, and lists and tensors are
normalized by other code.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.queries import Argument, functions
from kdoctor.analysis.tensors.constructors import ArrayForm
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.model import Finding, Severity
from kdoctor.rules.rule import Example, rule


def _is_zero(form: object) -> bool:
    return form == 0 and type(form) is int


@rule(
    "KD465",
    severity=Severity.ERROR,
    since="3.0",
    look_for=functions("utils.normalize").passing("x", place=0).argument("axis", 1, where=_is_zero),
)
def check(axis: Argument) -> Finding | None:
    """Report each such axis."""
    x = axis.argument("x", 0)
    if not isinstance(axis.node, cst.Integer):
        return None  # a name may stand for other axes, too
    array = None if x is None else ranks_of(axis.module).of(x.value)
    if array is None or array.form is not ArrayForm.ARRAY or (array.axes or 0) < 2:
        return None
    new = f"-{array.axes}"
    return axis.finding(
        "the norms of the first axis are applied to the last: ValueError: operands could not be "
        "broadcast together with shapes, or wrong numbers if the sizes fit",
        at=axis.arg,
        symbol=axis.name,
        help=f"Count the axis from the end: the array has {array.axes}, so the first is {new}.",
        fix=axis.fix(
            f"Write `{new}` instead of `0`", replace_expression(axis.module, axis.node, new)
        ),
    )


_ARRAY = "import keras\nimport numpy as np\n\nx = np.arange(24.0).reshape({})\n"
_USE = "y = keras.utils.normalize(x, {})\n"

VALID = [
    _ARRAY.format("(6, 4)") + _USE.format("axis=1"),
    _ARRAY.format("(6, 4)") + _USE.format("axis=-2"),
    _ARRAY.format("(6, 4)") + "y = keras.utils.normalize(x)\n",
    # One axis is the last, too.
    _ARRAY.format("-1") + _USE.format("axis=0"),
    # A list and a tensor are normalized by other code; of others nothing is known.
    "import keras\n\ny = keras.utils.normalize([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], axis=0)\n",
    "import keras\n\nx = keras.ops.ones((6, 4))\n" + _USE.format("axis=0"),
    "import keras\n\n\ndef scaled(x):\n    return keras.utils.normalize(x, axis=0)\n",
    # Other functions of that name.
    _ARRAY.format("(6, 4)") + "from sklearn.preprocessing import normalize\n\n"
    "y = normalize(x, axis=0)\n",
    (_ARRAY.format("(6, 4)") + _USE.format("axis=0")).replace("keras", "tf_keras"),
]


def _example(shape: str, old: str, new: str, array: str = _ARRAY) -> Example:
    return Example(
        before=array.format(shape) + _USE.format(old),
        after=array.format(shape) + _USE.format(new),
        raises="ValueError: operands could not be broadcast together with shapes",
        on_keras_2=True,
        same="np.asarray(y).round(6).tolist()",
    )


INVALID = [
    _example("(6, 4)", "axis=0", "axis=-2"),
    _example("(6, 4)", "0", "-2"),
    _example("(2, 3, 4)", "axis=0, order=1", "axis=-3, order=1"),
    # Made by a function.
    _example(
        "(6, 4)",
        "axis=0",
        "axis=-2",
        "import keras\nimport numpy as np\n\n\ndef made():\n"
        "    return np.arange(24.0).reshape({})\n\n\nx = made()\n",
    ),
]
