"""`class_weight` must be a dict from class to weight: not a list, an array or a dict per output.

## What it does
Reports a list, a tuple or an array passed as `class_weight` to `fit` or `train_on_batch`, including
the result of scikit-learn's `compute_class_weight`; also lists and dicts of dicts, with one dict
per output of a model.

## Why it breaks
Keras 3 looks each class up: `AttributeError: 'list' object has no attribute 'get'`, or
`'numpy.ndarray' object has no attribute 'get'`. With several outputs, `fit` raises `ValueError:
`class_weight` is only supported for Models with a single output.`, and `train_on_batch` raises an
error about the shape of an array. Keras up to 2.3 accepted a dict per output, and silently ignored
lists and arrays.

## What to write instead
A dict, if classes are numbered from 0:

    model.fit(x, y, class_weight=dict(enumerate(weights)))

For several outputs, a weight per sample, with one array per output:

    model.fit(x, [y, z], sample_weight=[weights_y[y], weights_z[z]])

The fix turns a list or an array into a dict. It is unsafe because it assumes that the classes are
0, 1, 2, … in this order, and because the weights then take effect.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, which refuses the same values with other messages; Keras
2.3.1 uses weights of one for anything that is not a dict (`keras/engine/training_utils.py`).
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.forms import DictForm, Expression
from kdoctor.model import Edit, Finding, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_METHODS = ("fit", "train_on_batch")
_NUMBERS = (cst.BaseNumber, cst.BinaryOperation, cst.UnaryOperation)
_MAKES_ARRAYS = frozenset({
    *("sklearn.utils.class_weight.compute_class_weight", "sklearn.utils.compute_class_weight"),
    *("numpy.array", "numpy.asarray", "numpy.ones"),
})  # fmt: skip


def _is_no_dict_of_numbers(form: object) -> bool:
    if isinstance(form, DictForm):
        return any(_may_be_dict(value) for _, value in form.items)
    if isinstance(form, Expression):
        return form.kind == "Call" and not form.meant.isdisjoint(_MAKES_ARRAYS)
    return isinstance(form, list | tuple)


def _may_be_dict(form: object) -> bool:
    return isinstance(form, DictForm) or (
        isinstance(form, Expression) and form.kind in {"DictComp", "Name"}
    )


@rule(
    "KD318",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls(*_METHODS, on=Kind.MODEL)
    .even(hidden=True)
    .argument("class_weight", where=_is_no_dict_of_numbers),
)
def check(weight: Argument) -> Finding | None:
    """Report each such argument."""
    if _is_for_each_output(weight):
        return _of_outputs(weight)
    kind = _kind_of(weight.value_node)
    return None if kind is None else _by_place(weight, kind)


def _is_for_each_output(weight: Argument) -> bool:
    """Say whether it is a list, a tuple or a dict with dicts in it."""
    match weight.value_node:
        case cst.List(elements=parts) | cst.Tuple(elements=parts) | cst.Dict(elements=parts):
            values = (value_of(weight.module, each.value) for each in parts)
            return any(isinstance(each, cst.Dict | cst.DictComp) for each in values)
    return False


def _kind_of(value: cst.BaseExpression) -> str | None:
    """Return how Python names what is passed, where it is a list, a tuple or an array."""
    match value:
        case cst.List():
            return "list"
        case cst.Tuple():
            return "tuple"
        case cst.Call():
            return "numpy.ndarray"
    return None


def _holds_numbers(value: cst.BaseExpression) -> bool:
    """Say whether a list or a tuple surely holds weights; an array does."""
    if not isinstance(value, cst.List | cst.Tuple):
        return True
    return all(isinstance(each.value, _NUMBERS) for each in value.elements)


def _of_outputs(weight: Argument) -> Finding:
    error = (
        "ValueError: `class_weight` is only supported for Models with a single output."
        if weight.leaf == "fit"
        else "an error about the shape of an array"
    )
    return weight.finding(
        f"`class_weight` only works for a single output: {error}",
        at=weight.arg,
        symbol=_symbol(weight),
        help="Pass `sample_weight`: one array of weights for each output.",
        fix=NoFix("the weight of each sample has to be looked up in the data"),
    )


def _by_place(weight: Argument, kind: str) -> Finding:
    span = weight.module.outer_span(weight.node)
    fix = weight.fix(
        "Turn it into a dict: `dict(enumerate(…))`",
        Edit(span, ("dict(enumerate(", Hole(span), "))")),
        unsafe_because="it assumes that the classes are 0, 1, 2, … in this order; "
        "and Keras up to 2.3 ignored such weights",
    )
    return weight.finding(
        f"`class_weight` must be a dict: AttributeError: '{kind}' object has no attribute 'get'",
        at=weight.arg,
        symbol=_symbol(weight),
        help="Pass a dict from class to weight.",
        fix=fix if _holds_numbers(weight.value_node) else NoFix("its contents are not known"),
    )


def _symbol(weight: Argument) -> str:
    return f"{weight.cls or 'Model'}.{weight.leaf}(class_weight)"


_MODEL = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 2)), np.array([0, 1, 1, 1])\n"
    "model = keras.Sequential([keras.layers.Dense(1, activation='sigmoid')])\n"
    "model.compile('sgd', 'binary_crossentropy')\n"
)
_TWO = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 2)), np.array([0, 1, 1, 1])\n"
    "image = keras.Input((2,))\n"
    "one, two = (keras.layers.Dense(1, activation='sigmoid', name=name)(image) for name in 'ab')\n"
    "model = keras.Model(image, [one, two])\nmodel.compile('sgd', ['mse', 'mse'])\n"
)
_DICT = "dict(enumerate({}))"
_NO_LIST = "AttributeError: 'list' object has no attribute 'get'"
_NO_ARRAY = "AttributeError: 'numpy.ndarray' object has no attribute 'get'"
_COMPUTED = (
    "from sklearn.utils import class_weight\n"
    + _MODEL
    + "weights = class_weight.compute_class_weight(\n"
    "    class_weight='balanced', classes=np.unique(y), y=y\n)\n"
    "model.fit(x, y, class_weight={})\n"
)
VALID = [
    _MODEL + "model.fit(x, y, class_weight={0: 3.0, 1: 1.0})",
    _MODEL + "weights = [3.0, 1.0]\nweights = dict(enumerate(weights))\n"
    "model.fit(x, y, class_weight=weights)",
    _MODEL + "heavy = 3.0\nmodel.fit(x, y, class_weight={0: heavy, 1: 1.0})",
    _MODEL + "model.fit(x, y, class_weight=None)",
    _MODEL + "model.fit(x, y, sample_weight=np.ones(4))",
    # Whatever it is.
    _MODEL + "from weights import weights\nmodel.fit(x, y, class_weight=weights)",
    # scikit-learn's own take other things.
    (
        "import keras\nfrom sklearn.svm import SVC\n\nSVC(class_weight='balanced').fit(x, y)\n"
        "forest.fit(x, y, class_weight=[1.0, 2.0])"
    ),
]
INVALID = [
    Example(
        before=_MODEL
        + "model.fit(x, y, class_weight=[3.0, 1.0], verbose=0)  # the first is rare\n",
        after=_MODEL
        + "model.fit(x, y, class_weight=dict(enumerate([3.0, 1.0])), verbose=0)"
        + "  # the first is rare\n",
        raises=_NO_LIST,
        unsafe=True,
    ),
    Example(
        before=_MODEL + "weights = np.array([3.0, 1.0])\nloss = model.train_on_batch(\n"
        "    x, y, class_weight=weights)\n",
        after=_MODEL + "weights = np.array([3.0, 1.0])\nloss = model.train_on_batch(\n"
        "    x, y, class_weight=dict(enumerate(weights)))\n",
        raises=_NO_ARRAY,
        unsafe=True,
    ),
    Example(
        before=_COMPUTED.format("weights"),
        after=_COMPUTED.format(_DICT.format("weights")),
        raises=_NO_ARRAY,
        unsafe=True,
        needs=("scikit-learn==1.9.1",),
    ),
    Example(
        before=_MODEL + "light = 1.0\nmodel.fit(x, y, class_weight=(3.0, light), verbose=0)\n",
        raises="AttributeError: 'tuple' object has no attribute 'get'",
    ),
    Example(
        before=_TWO + "heavy = {each: 3.0 for each in (0, 1)}\n"
        "model.fit(x, [y, y], class_weight=[{0: 1.0, 1: 1.0}, heavy], verbose=0)\n",
        raises="ValueError: `class_weight` is only supported for Models with a single output.",
    ),
    Example(
        before=_TWO
        + "model.fit(x, [y, y], class_weight=[{0: 1.0, 1: 1.0}, {0: 3.0, 1: 1.0}], verbose=0)\n",
        raises="ValueError: `class_weight` is only supported for Models with a single output.",
    ),
    Example(
        before=_TWO + "heavy = {0: 3.0, 1: 1.0}\n"
        "model.fit(x, [y, y], class_weight={'a': {0: 1.0, 1: 1.0}, 'b': heavy}, verbose=0)\n",
        raises="ValueError: `class_weight` is only supported for Models with a single output.",
    ),
]
