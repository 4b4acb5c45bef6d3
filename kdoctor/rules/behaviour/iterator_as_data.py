"""`model.fit(zip(images, masks))`: generators are the only iterators that Keras 3 accepts.

## What it does
Reports an iterator that is not a generator and is passed as data to `fit`, `evaluate`, `predict`,
or as `validation_data`: the result of `zip`, `map`, `filter` or `itertools`, the iterator of a
`tf.data.Dataset`, an instance of a class of the file with `__next__`, and a generator that a
decorator of the file turns into such an object (`@threadsafe_generator`).

## Why it breaks
Keras 2 accepted any object with `__next__`. Keras 3 checks for a Python generator, the result of a
function with `yield`: `ValueError: Unrecognized data type: x=<zip object at 0x7f5924>`.

## What to write instead
A generator over it: `model.fit((batch for batch in pairs))`. It yields the same batches one by one,
and works on Keras 2 as well.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: fourteen kinds of iterators in `fit`, as `validation_data`,
in `evaluate` and in `predict`.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to import Allocation, Path, points_to_of
from kdoctor.analysis.models.user_classes import methods_in
from kdoctor.analysis.queries import Argument
from kdoctor.analysis.queries.generators import data, fed_by
from kdoctor.analysis.training.generators import FED
from kdoctor.keras_api.tensorflow_aliases import FIRST, SECOND
from kdoctor.model import Confidence, Edit, Finding, Hole, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes

# `iter(x)` may be a generator, of a class whose `__iter__` yields; `enumerate` gives no batches.
_BUILTINS: Final = frozenset({"filter", "map", "reversed", "zip"})
_MADE_BY: Final = "itertools."
_OF_A_DATASET: Final = "as_numpy_iterator"
_DATASETS: Final = tuple(f"{way}data." for way in ("tensorflow.", *FIRST, *SECOND))
_MAX_DEPTH: Final = 24  # calls one upon the other: `Dataset.range(3).map(…).batch(2)`


@rule(
    "KD459",
    severity=Severity.ERROR,
    since="3.0",
    look_for=data(*FED).beside(
        fed_by(*_BUILTINS, "iter", "itertools", _OF_A_DATASET, objects_with="__next__")
    ),
)
def check(given: Argument) -> Finding | None:
    """Report each such iterator where it is given to a model."""
    module, node = given.module, given.node
    made = points_to_of(module).of(node)
    if not made or not all(_is_iterator(module, each) for each in made):
        return None
    sort = min(module.source(each.call.func) for each in made)
    place = module.outer_span(node)
    hole = Hole(place, Precedence.LAMBDA, precedence_of(node))
    return given.finding(
        f"`{sort}` returns an iterator that is not a generator, which Keras 3 does not accept: "
        "ValueError: Unrecognized data type",
        symbol="keras.Model.fit",
        confidence=Confidence.LIKELY,
        help=f"Write `(batch for batch in {module.source(node)})`; instead of the iterator of a "
        "`Dataset`, pass the dataset itself to iterate over it in every epoch.",
        fix=given.fix("Wrap it in a generator", Edit(place, ("(batch for batch in ", hole, ")"))),
    )


def _is_iterator(module: Module, made: Allocation, depth: int = 0) -> bool:
    """Say whether a call, or a function of the file that it calls, gives such an iterator."""
    function = points_to_of(module).function_called(made.call.func)
    if function is None or function.name.value == "__init__" or function.decorators:
        return not made.part and _gives_one(module, made.call)
    if depth > _MAX_DEPTH or any(isinstance(each, cst.Yield) for each in own_nodes(function.body)):
        return False
    for value in points_to_of(module).returned_by(made.call):
        part = _part(value, made.part)
        inside = frozenset() if part is None else points_to_of(module).made_in_function(part)
        if not inside or not all(_is_iterator(module, each, depth + 1) for each in inside):
            return False
    return bool(points_to_of(module).returned_by(made.call))


def _part(value: cst.BaseExpression, path: Path) -> cst.BaseExpression | None:
    """Return a part of what is written out."""
    for index in path:
        if not isinstance(value, cst.Tuple | cst.List) or not isinstance(index, int):
            return None
        if index >= len(value.elements) or not all(
            isinstance(each, cst.Element) for each in value.elements
        ):
            return None
        value = value.elements[index].value
    return value


def _gives_one(module: Module, call: cst.Call) -> bool:
    """Say whether a call surely gives an iterator that is no generator."""
    function = call.func
    name = module.qualified(function)
    if name is not None:
        return name.startswith(_MADE_BY)
    if isinstance(function, cst.Attribute) and function.attr.value == _OF_A_DATASET:
        return True
    if isinstance(function, cst.Name) and is_builtin(module, function):
        return function.value in _BUILTINS or (
            function.value == "iter" and len(call.args) == 1
            and _is_a_dataset(module, call.args[0].value)
        )  # fmt: skip
    return _has_next(module, call) or _is_wrapped(module, call)


def _is_a_dataset(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is what `tf.data` gives, and what its methods make of that."""
    for _ in range(_MAX_DEPTH):
        node = value_of(module, node)
        if not isinstance(node, cst.Call):
            return False
        name = module.qualified(node.func)
        if name is not None:
            return name.startswith(_DATASETS)
        if not isinstance(node.func, cst.Attribute):
            return False
        node = node.func.value
    return False


def _has_next(module: Module, call: cst.Call) -> bool:
    """Say whether a call makes an object of a class of the file that is an iterator."""
    made = class_named(module, call.func)
    if made is None or made.decorators or made.keywords:
        return False
    if any(not _is_object(module, each.value) for each in made.bases):
        return False
    return methods_in(made).keys() >= {"__iter__", "__next__"}


def _is_object(module: Module, base: cst.BaseExpression) -> bool:
    return isinstance(base, cst.Name) and base.value == "object" and is_builtin(module, base)


def _is_wrapped(module: Module, call: cst.Call) -> bool:
    """Say whether a function of the file has one decorator, which makes such an object of it."""
    called = points_to_of(module).function_called(call.func)
    if called is None or len(called.decorators) != 1:
        return False
    decorator = called.decorators[0].decorator
    wraps = points_to_of(module).function_called(decorator)
    if wraps is None or wraps.decorators:
        return False
    inner = [each for each in wraps.body.body if isinstance(each, cst.FunctionDef)]
    if len(inner) != 1 or not all(
        isinstance(each, cst.Name) and each.value == inner[0].name.value for each in _given(wraps)
    ):
        return False
    given = _given(inner[0])
    return bool(given) and all(
        isinstance(each, cst.Call) and _has_next(module, each) for each in given
    )


def _given(function: cst.FunctionDef) -> list[cst.BaseExpression | None]:
    """Return what a function returns."""
    return [each.value for each in own_nodes(function.body) if isinstance(each, cst.Return)]


_HEAD = "import itertools\n\nimport keras\nimport numpy as np\n\n"
_MODEL = (
    "model = keras.Sequential([keras.layers.Dense(1, kernel_initializer='ones')])\n"
    "model.compile('sgd', 'mse')\n"
    "images = [np.ones((2, 3), 'float32')] * 4\nmasks = [np.ones((2, 1), 'float32')] * 4\n"
)
_FIT = "history = model.fit({}, steps_per_epoch=2, verbose=0)\n"
_LOSS = "round(history.history['loss'][0], 4)"
_FITTED = "assert len(history.history['loss']) == 1"
_OWN = (
    "class Pairs{}:\n    def __iter__(self):\n        return self\n\n"
    "    def __next__(self):\n        return np.ones((2, 3)), np.ones((2, 1))\n\n\n"
)
_SAFE = (
    "class Locked:\n    def __init__(self, inner):\n        self.inner = inner\n\n"
    "    def __iter__(self):\n        return self\n\n"
    "    def __next__(self):\n        return next(self.inner)\n\n\n"
    "def locked(function):\n    def made(*args, **kwargs):\n"
    "        return {}\n\n    return made\n\n\n"
    "@locked\ndef batches():\n    while True:\n        yield np.ones((2, 3)), np.ones((2, 1))\n\n\n"
)
_REFUSED = "ValueError: Unrecognized data type"

VALID = [
    _HEAD + _MODEL + _FIT.format("(batch for batch in zip(images, masks))"),
    # A list is made of it, or a part of it is given.
    _HEAD + _MODEL + "model.fit(list(zip(images, masks))[0][0], masks[0])",
    _HEAD + _MODEL + "x, y = zip(*[(1, 2), (3, 4)])\nmodel.fit(np.array(x), np.array(y))",
    _HEAD + _MODEL + "pairs = zip(images, masks)\nfor x, y in pairs:\n    model.fit(x, y)",
    _HEAD + "def both():\n    yield zip([], [])\n\n\n" + _MODEL + _FIT.format("both()"),
    _HEAD + "def both(a=None):\n    if a:\n        return zip(a, a)\n    return load()\n\n\n"
    + _MODEL + _FIT.format("both()"),
    _HEAD + "def both(a):\n    return zip(a, a), load()\n\n\n" + _MODEL
    + "_, pairs = both([])\n" + _FIT.format("pairs"),
    # No model of Keras, and another Keras.
    _HEAD + "from sklearn.svm import SVC\n\nSVC().fit(zip([1], [2]))",
    (_HEAD + _MODEL + _FIT.format("zip(images, masks)")).replace(
        "import keras\n", "import tf_keras as keras\n"
    ),
    # It may be something else.
    _HEAD + _MODEL + "pairs = zip(images, masks) if images else load()\nmodel.fit(pairs)",
    _HEAD + "from loading import zip\n\n" + _MODEL + _FIT.format("zip(images, masks)"),
    _HEAD + _MODEL + "def train(data=None):\n    model.fit(data or zip(images, masks))",
    # `iter` of what yields is a generator; a `Sequence` with `__next__` is one that Keras takes.
    _HEAD + _MODEL + _FIT.format("iter(load())"),
    _HEAD + _OWN.format("(keras.utils.Sequence)") + _MODEL + _FIT.format("Pairs()"),
    _HEAD + _OWN.format("").replace("__next__", "next") + _MODEL + _FIT.format("Pairs()"),
    # What the decorator makes is a generator.
    _HEAD + _SAFE.format("(each for each in function(*args, **kwargs))") + _MODEL
    + _FIT.format("batches()"),
    _HEAD + _SAFE.format("Locked(function(*args, **kwargs))").replace("@locked", "@locked(3)")
    + _MODEL + _FIT.format("batches()"),
    # The code asks which Keras it runs on.
    _HEAD + _MODEL + "try:\n    model.fit(zip(images, masks))\nexcept ValueError:\n    pass",
]  # fmt: skip


def _example(head: str, given: str, call: str = _FIT, check: str = _FITTED) -> Example:
    return Example(
        before=_HEAD + head + call.format(given),
        after=_HEAD + head + call.format(f"(batch for batch in {given})"),
        raises=_REFUSED,
        on_keras_2=True,
        check=check,
        same=_LOSS if check == _FITTED else "",
    )


INVALID = [
    _example(_MODEL, "zip(images, masks)"),
    _example(f"{_MODEL}pairs = zip(images, masks)\n", "pairs"),
    _example(f"{_MODEL}pairs = itertools.cycle(zip(images, masks))\n", "pairs"),
    _example(
        f"{_MODEL}pairs = map(lambda x, y: (x, y), images, masks)\n",
        "pairs",
        "loss = model.evaluate({}, steps=2, verbose=0)\n",
        "assert loss > 0",
    ),
    _example(
        f"{_MODEL}pairs = zip(images, masks)\n",
        "pairs",
        "result = model.predict({}, steps=2, verbose=0)\n",
        "assert result.shape == (4, 1)",
    ),
    # A function makes it, and two are given.
    _example(
        f"def pairs(images, masks):\n    return zip(images, masks)\n\n\n{_MODEL}",
        "pairs(images, masks)",
    ),
    Example(
        before=_HEAD + _MODEL + "history = model.fit(\n    zip(images, masks),  # both\n"
        "    validation_data=zip(images, masks),\n    verbose=0,\n)\n",
        after=_HEAD + _MODEL + "history = model.fit(\n"
        "    (batch for batch in zip(images, masks)),  # both\n"
        "    validation_data=(batch for batch in zip(images, masks)),\n    verbose=0,\n)\n",
        raises=_REFUSED,
        on_keras_2=True,
        check="assert len(history.history['val_loss']) == 1",
        findings=2,
    ),
    # Of two that a function makes.
    _example(
        "def both(images, masks):\n    return zip(images, masks), zip(images, masks)\n\n\n"
        f"{_MODEL}pairs, others = both(images, masks)\n",
        "others",
    ),
    # Classes of the file's own.
    _example(_OWN.format("") + _MODEL, "Pairs()"),
    _example(_OWN.format("(object)") + _MODEL + "pairs = Pairs()\n", "pairs"),
    _example(_SAFE.format("Locked(function(*args, **kwargs))") + _MODEL, "batches()"),
    # The iterators of a dataset.
    _example(
        f"import tensorflow as tf\n\n{_MODEL}"
        "data = tf.data.Dataset.from_tensor_slices((np.ones((8, 3)), np.ones((8, 1))))\n"
        "data = data.batch(2)\n",
        "iter(data.repeat())",
    ),
    _example(
        f"import tensorflow as tf\n\n{_MODEL}"
        "data = tf.data.Dataset.from_tensor_slices((np.ones((8, 3)), np.ones((8, 1))))\n",
        "data.batch(2).as_numpy_iterator()",
    ),
]
