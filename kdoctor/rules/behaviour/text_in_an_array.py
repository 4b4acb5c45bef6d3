"""`model.predict(np.array(["some text"]))`: Keras 3 does not accept NumPy arrays of strings.

## What it does
Reports NumPy arrays of strings that are passed as inputs to `fit`, `evaluate` and `predict`, also
in a list or dict of inputs.

## Why it breaks
Keras 2 passed strings on to a model that accepts them: one with a `TextVectorization`, a
`StringLookup`, or an `Input` of strings. Keras 3 converts all arrays to numeric tensors:
`ValueError: Invalid dtype: str96`.

## What to write instead
`model.predict(tf.constant(["some text"]))`, which works on Keras 2 too. For training,
`tf.data.Dataset.from_tensor_slices((texts, labels)).batch(32)` works as well. Calling the model
directly, `model(np.array(["some text"]))`, accepts either; and Keras 3 accepts an array of objects
(`dtype=object`) with one axis.

## How we know
The documentation of TensorFlow has `model.predict(np.array([sample_text]))`. Run on Keras 3.15.1
and tf_keras 2.21 with each method.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, speller_at, value_of
from kdoctor.analysis.queries import Argument, calls, imported
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.tensors.constructors import CONVERTING
from kdoctor.analysis.training.generators import is_a_librarys
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_METHODS: Final = ("fit", "evaluate", "predict")
_MAX_DEPTH: Final = 6  # lists in lists, and names


def _may_be_text(form: object) -> bool:
    """Say whether a list may hold nothing but text, as its first element tells."""
    if not isinstance(form, list | tuple):
        return False
    while isinstance(form, list | tuple) and form:
        form = form[0]
    if isinstance(form, Expression):
        return form.kind in {"", "BinOp", "JoinedStr", "List", "Name", "Tuple"}
    return isinstance(form, str)


@rule(
    "KD479",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls(*_METHODS, on=Kind.MODEL)
    .even(hidden=True)
    .argument("x", 0)
    .beside(
        imported(*(f"numpy.{each}" for each in CONVERTING)).passing(
            "object", place=0, where=_may_be_text
        )
    ),
)
def check(given: Argument) -> Finding | None:
    """Report each call that gets such an array."""
    assert given.use is not None
    if is_a_librarys(given.module, given.use):
        return None
    arrays = [*_arrays_of_text(given.module, given.node)]
    return _finding(given, arrays) if arrays else None


def _arrays_of_text(module: Module, given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what is such an array, of what is passed: it, or parts of a list or dict."""
    value = value_of(module, given)
    parts: list[cst.BaseExpression] = [given]
    if isinstance(value, cst.List | cst.Tuple):
        parts = [each.value for each in value.elements if isinstance(each, cst.Element)]
    elif isinstance(value, cst.Dict):
        parts = [each.value for each in value.elements if isinstance(each, cst.DictElement)]
    for part in parts:
        made = value_of(module, part)
        if isinstance(made, cst.Call) and _is_of_text(module, made):
            yield part


def _is_of_text(module: Module, made: cst.Call) -> bool:
    name = module.qualified(made.func) or ""
    if not name.startswith("numpy.") or name.removeprefix("numpy.") not in CONVERTING:
        return False
    of = argument(made, "object", 0)
    # Of another type it may hold numbers; and one of objects, of one axis, Keras 3 does take.
    if of is None or is_hidden(made) or argument(made, "dtype", 1) is not None:
        return False
    return isinstance(value_of(module, of.value), cst.List | cst.Tuple) and _holds_text(
        module, of.value
    )


def _holds_text(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Say whether it surely is text, or a list of nothing else."""
    value = value_of(module, node)
    match value:
        case cst.SimpleString():
            return not value.prefix.lower().startswith(("b", "br", "rb"))
        case cst.ConcatenatedString() | cst.FormattedString():
            return True
        case cst.BinaryOperation(operator=cst.Add() | cst.Multiply()) if depth < _MAX_DEPTH:
            return _holds_text(module, value.left, depth + 1)
        case cst.List() | cst.Tuple() if depth < _MAX_DEPTH and value.elements:
            return all(
                isinstance(each, cst.Element) and _holds_text(module, each.value, depth + 1)
                for each in value.elements
            )
    return False


def _finding(given: Argument, arrays: list[cst.BaseExpression]) -> Finding:
    module = given.module
    spelled, need = speller_at(module, given.call).spell("tensorflow.constant")
    return given.finding(
        "Keras 3 does not accept NumPy arrays of strings: ValueError: Invalid dtype: str",
        at=arrays[0],
        symbol=given.name.removeprefix("keras."),
        help="Use `tf.constant(…)`.",
        fix=given.fix(
            "Convert it to a tensor",
            *(_edit(module, each, spelled) for each in arrays),
            imports=() if need is None else (need,),
        ),
    )


def _edit(module: Module, array: cst.BaseExpression, spelled: str) -> Edit:
    """Write the other function where the array is made on the spot, or put it around."""
    if isinstance(array, cst.Call) and len(array.args) == 1 and array.args[0].keyword is None:
        return Edit(module.span(array.func), (spelled,))
    span = module.outer_span(array)
    return Edit(span, (f"{spelled}(", Hole(span), ")"))


_HEAD = "import numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras\n\n"
_LAYERS = (
    "words = keras.layers.TextVectorization(8, output_mode='multi_hot')\n"
    "words.adapt(['good', 'bad'])\ndense = keras.layers.Dense(1, kernel_initializer='ones')\n"
)
_MODEL = (
    _HEAD
    + _LAYERS
    + "model = keras.Sequential([keras.Input((1,), dtype='string'), words, dense])\n"
    + "model.compile('sgd', 'mse')\n"
)
_NUMBERS = "import keras\nimport numpy as np\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
_SAME = "round(float(result[0][0]), 5)"


def _example(before: str, after: str, text: str = "Invalid dtype: str") -> Example:
    return Example(
        before=before, after=after, raises=f"ValueError: {text}", on_keras_2=True, same=_SAME
    )


VALID = [
    _MODEL + "model.predict(tf.constant(['good']))\nmodel(np.array(['good']))",
    _MODEL + "words(np.array(['good']))\nwords.adapt(np.array(['good', 'bad']))",
    _MODEL + "model.predict(tf.data.Dataset.from_tensor_slices(np.array(['good'])).batch(1))",
    # Numbers, and what may be.
    _NUMBERS + "model.predict(np.array([[1.0], [2.0]]))",
    _NUMBERS + "model.predict(np.array(['1.0', '2.0'], dtype='float32'))",
    _MODEL + "model.predict(np.array(['good', 'bad'], dtype=object))",
    _NUMBERS + "model.predict(np.array(rows))\nmodel.predict(np.array([row]))",
    _NUMBERS + "model.predict(np.array([[1.0]]), 'auto')",
    _NUMBERS + "model.predict(np.array([len('text')]))\nmodel.predict(np.array([b'ab'[0]]))",
    _NUMBERS + "def told(text='some'):\n    return model.predict(np.array([text]))",
    # No model of Keras, and one that a library made.
    ("import numpy as np\nfrom sklearn.svm import SVC\nimport keras\n"
    "SVC().fit(np.array(['a', 'b']), [0, 1])"),
    ("import keras\nimport keras_hub\nimport numpy as np\n"
    "model = keras_hub.models.BertTextClassifier.from_preset(name)\nmodel.compile()\n"
    "model.predict(np.array(['one']))"),
    # Keras 2.
    (_MODEL + "model.predict(np.array(['good']))").replace(
        "from tensorflow import keras", "import tf_keras as keras"
    ),
]  # fmt: skip
_INPUTS = (
    "\ntext = keras.Input((1,), dtype='string', name='text')\n"
    "age = keras.Input((1,), name='age')\n"
    "hashed = keras.layers.Hashing(4, output_mode='one_hot')(text)\n"
    "joined = keras.layers.concatenate([hashed, age])\n"
    "dense = keras.layers.Dense(1, kernel_initializer='ones')\n"
    "model = keras.Model([text, age], dense(joined))\n"
    "result = model.predict({{'text': {}, 'age': np.ones((1, 1))}}, verbose=0)"
)
INVALID = [
    _example(
        _MODEL + "sample = ('good. '\n          'bad!')\n"
        "result = model.predict(np.array([sample]), verbose=0)",
        _MODEL.replace("import numpy as np\n", "") + "sample = ('good. '\n          'bad!')\n"
        "result = model.predict(tf.constant([sample]), verbose=0)",
    ),
    _example(
        _MODEL + "texts = np.array([['good'], ['bad ' * 3]])\n"
        "result = [[model.evaluate(texts, np.zeros((2, 1)), verbose=0)]]",
        _MODEL + "texts = np.array([['good'], ['bad ' * 3]])\n"
        "result = [[model.evaluate(tf.constant(texts), np.zeros((2, 1)), verbose=0)]]",
    ),
    _example(
        _MODEL + "texts = ['good', f'ba{str()}d']\n"
        "history = model.fit(x=np.asarray(texts), y=np.zeros(2), verbose=0)\n"
        "result = [history.history['loss']]",
        _MODEL + "texts = ['good', f'ba{str()}d']\n"
        "history = model.fit(x=tf.constant(texts), y=np.zeros(2), verbose=0)\n"
        "result = [history.history['loss']]",
    ),
    # One of several inputs, and no TensorFlow in the file yet.
    _example(
        "from tensorflow import keras\nimport numpy as np\n"
        + _INPUTS.format("np.array([['good']])"),
        "from tensorflow import keras\nimport numpy as np\nimport tensorflow as tf\n"
        + _INPUTS.format("tf.constant([['good']])"),
    ),
]  # fmt: skip
