"""`loss([0, 1], predictions)`: a loss is called with a list and an array, or with two lists.

## What it does
Reports calls of Keras' own loss objects (`keras.losses.…()`) where targets or predictions are a
literal list or tuple of numbers, and the other one is an array, a tensor, or a list with a
different structure: `SparseCategoricalCrossentropy()([1, 2], [[0.1, 0.9, 0.0], [0.1, 0.8, 0.1]])`.

## Why it breaks
Keras 2 converted each to a tensor. Keras 3 treats a list as several arrays, here of one number
each, and requires targets and predictions to have the same structure:
`ValueError: Expected an instance of list, got <tf.Tensor: …>`, or
`Structures don't have the same nested structure.` Two lists with the same structure work.

## What to write instead
`loss(np.array([0, 1]), predictions)`.

## How we know
The documentation of Keras 2 had such lists. Each loss of Keras 3.15.1 and of tf_keras 2.21 was
called that way; the code of 3.0.0, 3.3.3 and 3.6.0 treats lists as several arrays too.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3, speller_at, value_of
from kdoctor.analysis.queries import Call, applications, constructs
from kdoctor.analysis.queries.forms import is_display
from kdoctor.analysis.tensors.constructors import (
    CONVERTING,
    FLAT,
    OF_A_SHAPE,
    OF_A_SIZE,
    OF_EACH_AXIS,
)
from kdoctor.analysis.tensors.tensorflow_calls import computes_tensor
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_ARGUMENTS: Final = (("y_true", 0), ("y_pred", 1))
_OF_NUMPY: Final = frozenset({*CONVERTING, *FLAT, *OF_A_SHAPE, *OF_A_SIZE, *OF_EACH_AXIS})
_ARRAY: Final = "array"
_NUMBER: Final = "number"
_SPARSE: Final = "SparseCategoricalCrossentropy"
_STRUCTURES: Final = "Structures don't have the same nested structure."
_OTHER_AXES: Final = "if the two differ in rank, Keras 3 computes a different loss"


@rule(
    "KD478",
    severity=Severity.ERROR,
    since="3.0",
    look_for=applications(Kind.LOSS)
    .passing_one_of(_ARGUMENTS, where=is_display)
    .beside(constructs(Kind.LOSS)),
)
def check(call: Call) -> Finding | None:
    """Report each such call."""
    loss = call.owner
    # The class must be Keras' own.
    if loss is None or not loss.is_of_imported_class or not is_keras_3(call.facts, loss.qualified):
        return None
    given = [each.value for one in _ARGUMENTS if (each := call.argument(*one)) is not None]
    forms = [_form(call.module, each) for each in given]
    if len(forms) < len(_ARGUMENTS) or None in forms or forms[0] == forms[1]:
        return None
    lists = [each for each in given if not isinstance(value_of(call.module, each), cst.Call)]
    return call.finding(
        "a loss treats a list as several arrays, and targets and predictions differ in "
        f"structure: {_error(*forms)}",
        at=lists[0],
        symbol=f"keras.losses.{call.cls}",
        help="Wrap it in `np.array(…)`.",
        fix=_as_arrays(call, given, lists),
    )


def _form(module: Module, node: cst.BaseExpression) -> object:
    """Return the form in which Keras 3 sees an argument, None where that is not known."""
    value = value_of(module, node)
    if isinstance(value, cst.Call):
        name = module.qualified(value.func)
        is_array = name is not None and (
            computes_tensor(name)
            or (name.startswith("numpy.") and name.removeprefix("numpy.") in _OF_NUMPY)
        )
        return _ARRAY if is_array else None
    return _form_of(literal(value)) if isinstance(value, cst.List | cst.Tuple) else None


def _form_of(value: object) -> object:
    """Return the form of a display of numbers: what it is, and the forms of its elements."""
    if isinstance(value, bool | int | float):
        return _NUMBER
    if not isinstance(value, list | tuple):
        return None
    parts = [_form_of(each) for each in value]
    return None if None in parts or not parts else (type(value).__name__, *parts)


def _error(targets: object, predictions: object) -> str:
    """Return what Keras 3 says of these forms, as far as it is one thing."""
    if isinstance(targets, tuple) and predictions == _ARRAY:
        return f"ValueError: Expected an instance of {targets[0]}, got <tf.Tensor"
    is_deep = isinstance(predictions, tuple) and isinstance(predictions[1], tuple)
    if targets == _ARRAY or (is_deep and _is_flat_beside(targets, predictions)):
        return f"ValueError: {_STRUCTURES}"
    return "a ValueError"


def _is_flat_beside(one: object, other: object) -> bool:
    """Say whether one is a display of numbers, of as many elements as the other, and as that."""
    if not isinstance(one, tuple) or not isinstance(other, tuple) or len(one) != len(other):
        return False
    return one[0] == other[0] and set(one[1:]) == {_NUMBER}


def _as_arrays(
    call: Call, given: list[cst.BaseExpression], lists: list[cst.BaseExpression]
) -> Fix | NoFix:
    spelled, need = speller_at(call.module, call.node.func).spell("numpy.array")
    spans = [call.module.outer_span(each) for each in lists]
    depths = [_depth(call.module, each) for each in given]
    is_same = call.cls == _SPARSE or (None not in depths and depths[0] == depths[1])
    return call.fix(
        "Convert it to an array",
        *(Edit(span, (f"{spelled}(", Hole(span), ")")) for span in spans),
        imports=() if need is None else (need,),
        unsafe_because="" if is_same else _OTHER_AXES,
    )


def _depth(module: Module, node: cst.BaseExpression) -> int | None:
    """Return the number of axes of a display, or of what an array is made of."""
    value = value_of(module, node)
    if isinstance(value, cst.Call):
        inner = value.args[0].value if value.args and not value.args[0].star else None
        value = inner if isinstance(inner, cst.List | cst.Tuple) else value
    form = _form_of(literal(value)) if isinstance(value, cst.List | cst.Tuple) else None
    depth = 0
    while isinstance(form, tuple):
        depth, form = depth + 1, form[1] if len(form) > 1 else None
    return depth or None


_HEAD = "import keras\nimport numpy as np\n\n"
_TF = "import numpy as np\nimport tensorflow as tf\n\n"
_SCCE = "loss = keras.losses.SparseCategoricalCrossentropy()\n"
_ROWS = "[[0.05, 0.95, 0.0], [0.1, 0.8, 0.1]]"
_SAME = "round(float(value), 5)"


def _example(before: str, after: str, raises: str, *, unsafe: bool = False) -> Example:
    return Example(
        before=before,
        after=after,
        raises=f"ValueError: {raises}",
        unsafe=unsafe,
        on_keras_2=True,
        same=_SAME,
    )


VALID = [
    # Of one form.
    _HEAD + "keras.losses.BinaryCrossentropy()([0.0, 1.0], [0.2, 0.7])",
    _HEAD + "keras.losses.MeanSquaredError()([[1.0], [2.0]], [[1.5], [2.5]])",
    _HEAD + _SCCE + f"loss(np.array([1, 2]), np.array({_ROWS}))",
    # Not known, and a loss that is a function: it makes arrays of them.
    _HEAD + _SCCE + "loss([1, 2], predictions)\nloss(targets, model(images))",
    _HEAD + _SCCE + "loss([a, b], np.array([[0.1, 0.9], [0.2, 0.8]]))",
    _HEAD + f"keras.losses.sparse_categorical_crossentropy([1, 2], {_ROWS})",
    _HEAD + f"keras.metrics.SparseCategoricalAccuracy()([1, 2], {_ROWS})",
    _HEAD + "keras.losses.MeanSquaredError('mse', [1.0], np.ones(2))",
    # A class of one's own, and Keras 2.
    _HEAD + "class Mine(keras.losses.Loss):\n    def __call__(self, y_true, y_pred):\n"
    "        return y_pred - y_true\n\n\nMine()([1.0], np.array([2.0]))",
    "import tf_keras\nimport numpy as np\ntf_keras.losses.MeanSquaredError()([1.0], np.ones(1))",
]  # fmt: skip
INVALID = [
    _example(
        _HEAD + _SCCE + f"value = loss([1, 2], {_ROWS})",
        _HEAD + _SCCE + f"value = loss(np.array([1, 2]), np.array({_ROWS}))",
        _STRUCTURES,
    ),
    _example(
        _TF + f"y_true = [1, 2]\ny_pred = {_ROWS}\n"
        "scce = tf.keras.losses.SparseCategoricalCrossentropy()\nvalue = scce(y_true, y_pred)",
        _TF + f"y_true = [1, 2]\ny_pred = {_ROWS}\n"
        "scce = tf.keras.losses.SparseCategoricalCrossentropy()\n"
        "value = scce(np.array(y_true), np.array(y_pred))",
        _STRUCTURES,
    ),
    _example(
        _HEAD + "value = keras.losses.BinaryCrossentropy()([0, 1], np.array([0.2, 0.7]))",
        _HEAD + "value = keras.losses.BinaryCrossentropy()(np.array([0, 1]), np.array([0.2, 0.7]))",
        "Expected an instance of list, got <tf.Tensor",
    ),
    _example(
        "import tensorflow as tf\n\n"
        "value = tf.keras.losses.Huber()(y_pred=tf.constant([[0.5, 1.5]]), y_true=[[1.0, 0.0]])",
        "import numpy as np\nimport tensorflow as tf\n\nvalue = tf.keras.losses.Huber()"
        "(y_pred=tf.constant([[0.5, 1.5]]), y_true=np.array([[1.0, 0.0]]))",
        "Expected an instance of list, got <tf.Tensor",
    ),
    # How many axes the array has is not known.
    _example(
        _HEAD + "zeros = np.zeros((2, 1))\n"
        "value = keras.losses.MeanAbsoluteError()(zeros, [[1.0], [2.0]])",
        _HEAD + "zeros = np.zeros((2, 1))\n"
        "value = keras.losses.MeanAbsoluteError()(zeros, np.array([[1.0], [2.0]]))",
        _STRUCTURES,
        unsafe=True,
    ),
]  # fmt: skip
