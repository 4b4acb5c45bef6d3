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

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_keras_3, literal, literal_of, replace_expression
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.constructors import ArrayForm
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.analysis.triggers import calls
from kdoctor.keras_api import split_root
from kdoctor.model import Finding, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall

_NAME: Final = "utils.normalize"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such axis."""
    for each in module.references:
        split = split_root(each.name)
        if each.call is None or split is None or split[1] != _NAME:
            continue
        x, axis = argument(each.call, "x", 0), argument(each.call, "axis", 1)
        if (
            x is None
            or axis is None
            or literal(axis.value) != 0
            or not is_keras_3(facts, each.name)
        ):
            continue
        if not isinstance(axis.value, cst.Integer) or module.is_guarded(each.call):
            continue
        array = ranks_of(module).of(x.value)
        if array is None or array.form is not ArrayForm.ARRAY or (array.axes or 0) < 2:
            continue
        new = f"-{array.axes}"
        yield rule.finding(
            module.place(axis),
            "the norms of the first axis are applied to the last: ValueError: operands could not "
            "be broadcast together with shapes, or wrong numbers if the sizes fit",
            symbol=each.name,
            confidence=each.confidence,
            help=f"Count the axis from the end: the array has {array.axes}, so the first is {new}.",
            fix=rule.fix(
                f"Write `{new}` instead of `0`", replace_expression(module, axis.value, new)
            ),
        )


def _may_be_first(_: TargetFacts, called: QuickCall) -> bool:
    axis = called.argument("axis", 1)
    return axis is not None and literal_of(axis) == 0


rule = Rule(
    code="KD465",
    name="normalize-along-the-first",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=calls(_may_be_first, "normalize"),
    since="3.0",
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
