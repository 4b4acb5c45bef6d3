"""`model.predict([[1.0, 2.0]])`: lists of numbers are no longer accepted as data.

## What it does
Reports literal lists of numbers or strings that are passed as data to `fit`, `evaluate` and
`predict`.

## Why it breaks
Keras 2 converted them to an array. Keras 3 treats a list as a list of inputs, each an array:
`ValueError: Unrecognized data type: x=[[1.0, 2.0]] (of type <class 'list'>)`.

## What to write instead
`np.array([[1.0, 2.0]])`. Strings are passed as `tf.constant(["a"])`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with each method.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, literal, literal_of, speller_at, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.method_calls import model_method_calls
from kdoctor.analysis.training.generators import is_a_librarys
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Edit, Finding, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts

_DATA = {"fit": ("x", "y"), "evaluate": ("x", "y"), "predict": ("x",)}


def _may_get_lists(quick: QuickFacts, _: TargetFacts) -> bool:
    given = (
        called.argument(name, place)
        for method, names in _DATA.items()
        for called in quick.calls_by_leaf.get(method, ())
        for place, name in enumerate(names)
    )
    return any(
        isinstance(value, ast.List) and _holds_data(literal_of(value))
        for each in given
        for value in quick.values_of(each)
    )


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each list that is passed as data."""
    for use, call in model_method_calls(module, _DATA):
        if is_a_librarys(module, use):
            continue
        lists = [
            given.value
            for position, name in enumerate(_DATA[use.member])
            if (given := argument(call, name, position)) is not None
            and _is_data(value_of(module, given.value))
        ]
        if lists:
            yield _finding(module, use, lists)


def _is_data(node: cst.BaseExpression) -> bool:
    """Say whether a list holds numbers, or lists of numbers; or text."""
    return isinstance(node, cst.List) and _holds_data(literal(node))


def _holds_data(value: object) -> bool:
    parts = _parts(value)
    if not parts:
        return False
    return all(isinstance(e, int | float) for e in parts) or _is_text(parts)


def _is_text(parts: list[object]) -> bool:
    return all(isinstance(each, str) for each in parts)


def _parts(value: object) -> list[object]:
    """Return the elements of a list, and of lists in it where it has nothing else."""
    while isinstance(value, list) and value and all(isinstance(e, list) for e in value):
        value = [each for part in value for each in part]
    return value if isinstance(value, list) else []


def _finding(module: Module, use: MemberUse, lists: list[cst.BaseExpression]) -> Finding:
    shown = module.source(lists[0])
    text = any(_is_text(_parts(literal(value_of(module, each)))) for each in lists)
    spelled, need = speller_at(module, use.node).spell("numpy.array")
    edits = []
    for each in lists:
        span = module.outer_span(each)
        edits.append(Edit(span, (f"{spelled}(", Hole(span), ")")))
    return rule.finding(
        module.place(lists[0]),
        "a list is a list of inputs, but its elements are not arrays: ValueError: Unrecognized "
        f"data type: x={shown if isinstance(lists[0], cst.List) else '…'} (of type <class "
        "'list'>)",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}",
        confidence=use.confidence,
        help="Write `tf.constant([…])`." if text else "Write `np.array([…])`.",
        fix=NoFix("strings have to be passed as a TensorFlow tensor")
        if text
        else rule.fix("Convert it to an array", *edits, imports=(need,)),
    )


rule = Rule(
    code="KD410",
    name="python-lists-as-data",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*_DATA) & Trigger(_may_get_lists),
    since="3.0",
)

_MODEL = (
    "import keras\nimport numpy as np\n\n"
    "model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse')\n"
)
_ERROR = "ValueError: Unrecognized data type: x="

VALID = [
    _MODEL + "model.predict(np.array([[1.0, 2.0]]))",
    _MODEL + "model.predict([x, y])\nmodel.predict([np.ones((1, 2))])\nmodel.predict(x)",
    # What a library makes of text is its own matter.
    (
        "import keras\nimport keras_hub\n\n"
        "model = keras_hub.models.BertTextClassifier.from_preset(name)\n"
        "model.compile(loss=keras.losses.SparseCategoricalCrossentropy())\n"
        "model.fit(['one', 'two'], [0, 1])\nmodel.predict(['one'])"
    ),
    "import keras\nfrom sklearn.svm import SVC\nSVC().fit([[1.0]], [1])",
    "import tf_keras\ntf_keras.Sequential().predict([[1.0]])",
]
INVALID = [
    Example(
        before=_MODEL + "model.predict([[1.0, 2.0]], verbose=0)",
        after=_MODEL + "model.predict(np.array([[1.0, 2.0]]), verbose=0)",
        raises=f"{_ERROR}[[1.0, 2.0]] (of type <class 'list'>)",
    ),
    Example(
        before=_MODEL + "xs = [[1, 2], [3, 4]]\nys = [1, 2]\nmodel.fit(xs, ys, verbose=0)",
        after=_MODEL
        + "xs = [[1, 2], [3, 4]]\nys = [1, 2]\nmodel.fit(np.array(xs), np.array(ys), verbose=0)",
        raises=_ERROR,
    ),
    Example(
        before="from tensorflow import keras\n\n"
        "model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])\n"
        "print(model.predict([100.0], verbose=0))",
        after="import numpy as np\nfrom tensorflow import keras\n\n"
        "model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])\n"
        "print(model.predict(np.array([100.0]), verbose=0))",
        raises=f"{_ERROR}[100.0] (of type <class 'list'>)",
    ),
    # Text goes in as a tensor of TensorFlow: an array of it is refused, too.
    Example(
        before=_MODEL + "model.predict([['one'], ['two']], verbose=0)",
        raises=f"{_ERROR}[['one'], ['two']] (of type <class 'list'>)",
    ),
]
