"""A generator yields bare arrays to `predict`: Keras 3 requires tuples.

## What it does
Reports `yield x` in generators (functions, and methods of the file's classes) that are passed to
`predict` or `predict_generator`, where `x` is known not to be a tuple: the result of a NumPy
function, a difference or a quotient, a dict.

## Why it breaks
Keras 2 treated anything but a tuple as the inputs. Keras 3 checks: `ValueError: When passing a
Python generator to a Keras model, the generator must return a tuple, either (input,) or (inputs,
targets) or (inputs, targets, sample_weights).` A `Sequence` may still return an array.

## What to write instead
`yield (x,)`, which works on Keras 2 as well.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.dataflow.uses import names_with_spelling, reads_of
from kdoctor.analysis.queries.forms import DictForm, Expression
from kdoctor.analysis.queries.generators import Generator, generators
from kdoctor.analysis.training.generators import PREDICTS
from kdoctor.model import Finding, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module

_ARRAYS: Final = frozenset(
    {
        *("arange", "array", "asarray", "ascontiguousarray", "clip", "concatenate", "empty"),
        *("expand_dims", "full", "hstack", "linspace", "load", "moveaxis", "ones", "ones_like"),
        *("pad", "random.normal", "random.rand", "random.randint", "random.randn"),
        *("random.random", "random.uniform", "repeat", "reshape", "rollaxis", "squeeze", "stack"),
        *("swapaxes", "tile", "transpose", "vstack", "zeros", "zeros_like"),
    }
)
# No tuple takes part in these.
_OF_NUMBERS: Final = (cst.Divide, cst.FloorDivide, cst.Power, cst.Subtract)
_MAX_DEPTH: Final = 4  # names and operations within each other


def _may_be_no_tuple(form: object) -> bool:
    return isinstance(form, DictForm) or (
        isinstance(form, Expression) and form.kind in {"BinOp", "Call", "DictComp", "Name"}
    )


@rule(
    "KD455",
    severity=Severity.ERROR,
    since="3.0",
    look_for=generators(*PREDICTS, yielding=_may_be_no_tuple),
)
def check(function: Generator) -> Iterator[Finding]:
    """Report each array that is yielded to `predict` by itself."""
    given = [each.value for each in function.yields]
    batches = [each for each in given if isinstance(each, cst.BaseExpression)]
    # One that gives tuples as well may be told when to, or asks for the version.
    if len(batches) < len(given) or not {*PREDICTS}.issuperset(function.feeds):
        return
    if not all(_is_no_tuple(function.module, each) for each in batches):
        return
    is_sure = _is_for_nothing_else(function)
    for batch in batches:
        yield function.finding(
            "a batch must be a tuple: ValueError: When passing a Python generator to a Keras "
            "model, the generator must return a tuple, either (input,) or (inputs, targets) or "
            "(inputs, targets, sample_weights).",
            at=batch,
            symbol="keras.Model.predict",
            help="Write `yield (x,)`.",
            fix=function.fix(
                "Yield a tuple",
                replace_expression(function.module, batch, f"({function.source(batch)},)"),
                unsafe_because=""
                if is_sure
                else "other consumers of the generator get a tuple too",
            ),
        )


def _is_for_nothing_else(generator: Generator) -> bool:
    """Say whether all that a generator function makes goes to `predict`, by whatever name."""
    module, function = generator.module, generator.node
    called = {each.func for each in generator.calls}
    for name in names_with_spelling(module, function.name.value):
        if name is not function.name and not {name, module.parent(name)} & called:
            return False
    for call in generator.calls:
        target = module.parent(call)
        kept = target.targets[0].target if isinstance(target, cst.Assign) else None
        if isinstance(kept, cst.Name) and len(list(reads_of(module, kept))) > 1:
            return False
        if not isinstance(kept, cst.Name) and not isinstance(target, cst.Arg):
            return False
    return True


def _is_no_tuple(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Say whether a value is surely an array, a number, or a dict."""
    if depth > _MAX_DEPTH:
        return False
    if isinstance(node, cst.Dict | cst.DictComp):
        return True
    if isinstance(node, cst.Call):
        name = module.qualified(node.func) or ""
        return name.startswith("numpy.") and name.removeprefix("numpy.") in _ARRAYS
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, _OF_NUMBERS) or any(
            _is_no_tuple(module, each, depth + 1) for each in (node.left, node.right)
        )
    if not isinstance(node, cst.Name):
        return False
    bindings = module.bindings_at(node)
    return bool(bindings) and all(
        each.value is not None
        and not each.path
        and isinstance(module.parent(each.node), cst.AssignTarget | cst.AnnAssign)
        and _is_no_tuple(module, each.value, depth + 1)
        for each in bindings
    )


_HEAD = "import keras\nimport numpy as np\n\n"
_MODEL = (
    "\nmodel = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse')\n"
)
_PREDICT = "result = model.predict(batches(), steps=2, verbose=0)\n"
_ARRAY = "def batches():\n    while True:\n        yield {}\n"
_NAMED = (
    "def batches():\n    while True:\n        x = load() / 255.0\n"
    "        x = np.expand_dims(x, 0)\n        yield {}\n\n\n"
    "def load():\n    return np.ones(3)\n"
)
_OF_A_CLASS = (
    "class Images:\n    def batches(self):\n        for _ in range(4):\n"
    "            yield {}\n" + _MODEL
    + "result = model.predict(Images().batches(), steps=2, verbose=0)\n"
)  # fmt: skip
_SHAPE = "assert result.shape[1] == 1"
_NO_TUPLE = "ValueError: When passing a Python generator to a Keras model, the generator must"

VALID = [
    _HEAD + _ARRAY.format("(np.ones((2, 3)),)") + _MODEL + _PREDICT,
    # It may be a tuple.
    _HEAD + _ARRAY.format("made()") + _MODEL + _PREDICT,
    _HEAD + _ARRAY.format("2 * made") + _MODEL + _PREDICT,
    _HEAD + "def batches(x):\n    for _ in range(2):\n        yield x\n" + _MODEL
    + "model.predict(batches(rows))",
    # It gives tuples as well, where it is told to.
    (
        _HEAD + "def batches(wrap=True):\n    x = np.ones((2, 3))\n    if wrap:\n"
        "        yield (x,)\n    else:\n        yield x\n" + _MODEL + _PREDICT
    ),
    # A class below gives something else.
    _HEAD + "class Rows:\n    def batches(self):\n        yield np.ones((2, 3))\n\n"
    "    def run(self, model):\n        model = keras.Model()\n"
    "        model.predict(self.batches())\n\n\nclass Pairs(Rows):\n"
    "    def batches(self):\n        yield (np.ones((2, 3)),)\n",
    # No generator for a model.
    _HEAD + _ARRAY.format("np.ones((2, 3))") + _MODEL + "model.predict(next(batches()))",
    _HEAD.replace("import keras", "import tf_keras as keras") + _ARRAY.format("np.ones((2, 3))")
    + _MODEL + _PREDICT,
    # A sequence may give arrays.
    (
        "import keras\nimport numpy as np\n\n\nclass Rows(keras.utils.Sequence):\n"
        "    def __getitem__(self, index):\n        return np.ones((2, 3))\n"
    ),
]  # fmt: skip
INVALID = [
    Example(
        before=_HEAD + _ARRAY.format("np.ones((2, 3))") + _MODEL + _PREDICT,
        after=_HEAD + _ARRAY.format("(np.ones((2, 3)),)") + _MODEL + _PREDICT,
        raises=_NO_TUPLE,
        on_keras_2=True,
        check=_SHAPE,
    ),
    Example(
        before=_HEAD + _NAMED.format("x") + _MODEL + _PREDICT,
        after=_HEAD + _NAMED.format("(x,)") + _MODEL + _PREDICT,
        raises=_NO_TUPLE,
        on_keras_2=True,
        check=_SHAPE,
    ),
    Example(
        before=_HEAD + _OF_A_CLASS.format("np.ones((2, 3)) - 0.5"),
        after=_HEAD + _OF_A_CLASS.format("(np.ones((2, 3)) - 0.5,)"),
        raises=_NO_TUPLE,
        on_keras_2=True,
        check=_SHAPE,
    ),
    # The generator is used for something else as well.
    Example(
        before=_HEAD + _ARRAY.format("np.ones((2, 3))") + _MODEL
        + "first = next(batches())\n" + _PREDICT,
        after=_HEAD + _ARRAY.format("(np.ones((2, 3)),)") + _MODEL
        + "first = next(batches())\n" + _PREDICT,
        raises=_NO_TUPLE,
        on_keras_2=True,
        check=_SHAPE,
        unsafe=True,
    ),
]  # fmt: skip
