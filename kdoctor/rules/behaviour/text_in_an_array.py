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

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, speller_at, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.method_calls import model_method_calls
from kdoctor.analysis.tensors.constructors import CONVERTING
from kdoctor.analysis.training.generators import is_a_librarys
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts

_METHODS: Final = ("fit", "evaluate", "predict")
_MAX_DEPTH: Final = 6  # lists in lists, and names


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each call that gets such an array."""
    for use, call in model_method_calls(module, _METHODS):
        if is_a_librarys(module, use):
            continue
        given = argument(call, "x", 0)
        arrays = [] if given is None else [*_arrays_of_text(module, given.value)]
        if arrays:
            yield _finding(module, use, arrays)


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


def _finding(module: Module, use: MemberUse, arrays: list[cst.BaseExpression]) -> Finding:
    spelled, need = speller_at(module, use.node).spell("tensorflow.constant")
    return rule.finding(
        module.place(arrays[0]),
        "Keras 3 does not accept NumPy arrays of strings: ValueError: Invalid dtype: str",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}",
        confidence=use.confidence,
        help="Use `tf.constant(…)`.",
        fix=rule.fix(
            "Convert it to a tensor",
            *(_edit(module, each, spelled) for each in arrays),
            imports=(need,),
        ),
    )


def _edit(module: Module, array: cst.BaseExpression, spelled: str) -> Edit:
    """Write the other function where the array is made on the spot, or put it around."""
    if isinstance(array, cst.Call) and len(array.args) == 1 and array.args[0].keyword is None:
        return Edit(module.span(array.func), (spelled,))
    span = module.outer_span(array)
    return Edit(span, (f"{spelled}(", Hole(span), ")"))


def _may_get_text(quick: QuickFacts, _: TargetFacts) -> bool:
    given = (
        value
        for method in _METHODS
        for called in quick.calls_by_leaf.get(method, ())
        for value in quick.values_of(called.argument("x", 0))
    )
    return any(
        isinstance(inner, ast.Call) and _may_be_of_text(quick, inner)
        for each in given
        for inner in quick.reached([each])
    )


def _may_be_of_text(quick: QuickFacts, made: ast.Call) -> bool:
    names = {each.removeprefix("numpy.") for each in quick.meant_by(made.func)}
    return not names.isdisjoint(CONVERTING) and any(
        isinstance(each, ast.JoinedStr)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str))
        for each in quick.reached(made.args)
    )


rule = Rule(
    code="KD479",
    name="text-in-an-array",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*_METHODS) & Trigger(_may_get_text),
    since="3.0",
)

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
