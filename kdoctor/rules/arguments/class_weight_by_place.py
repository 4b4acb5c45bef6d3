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

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.method_calls import model_method_calls
from kdoctor.analysis.triggers import Trigger, attribute, keyword
from kdoctor.model import Edit, Finding, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts

_METHODS = ("fit", "train_on_batch")
_NUMBERS = (cst.BaseNumber, cst.BinaryOperation, cst.UnaryOperation)
_MAKES_ARRAYS = frozenset({
    *("sklearn.utils.class_weight.compute_class_weight", "sklearn.utils.compute_class_weight"),
    *("numpy.array", "numpy.asarray", "numpy.ones"),
})  # fmt: skip


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such argument."""
    for use, call in model_method_calls(module, _METHODS):
        given = argument(call, "class_weight")
        if given is None:
            continue
        value = value_of(module, given.value)
        if _is_for_each_output(module, value):
            yield _of_outputs(module, use, given)
        else:
            made = _made(module, value)
            if made is not None:
                yield _by_place(module, use, given, made, is_known=_holds_numbers(value))


def _is_for_each_output(module: Module, value: cst.BaseExpression) -> bool:
    """Say whether it is a list, a tuple or a dict with dicts in it."""
    match value:
        case cst.List(elements=parts) | cst.Tuple(elements=parts) | cst.Dict(elements=parts):
            values = (value_of(module, each.value) for each in parts)
            return any(isinstance(each, cst.Dict | cst.DictComp) for each in values)
    return False


def _made(module: Module, value: cst.BaseExpression) -> str | None:
    """Return how Python names what is passed, where it is a list, a tuple or an array."""
    match value:
        case cst.List():
            return "list"
        case cst.Tuple():
            return "tuple"
        case cst.Call() if module.qualified(value.func) in _MAKES_ARRAYS:
            return "numpy.ndarray"
    return None


def _holds_numbers(value: cst.BaseExpression) -> bool:
    """Say whether a list or a tuple surely holds weights; an array does."""
    if not isinstance(value, cst.List | cst.Tuple):
        return True
    return all(isinstance(each.value, _NUMBERS) for each in value.elements)


def _of_outputs(module: Module, use: MemberUse, given: cst.Arg) -> Finding:
    error = (
        "ValueError: `class_weight` is only supported for Models with a single output."
        if use.member == "fit"
        else "an error about the shape of an array"
    )
    return rule.finding(
        module.place(given),
        f"`class_weight` only works for a single output: {error}",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}(class_weight)",
        confidence=use.confidence,
        help="Pass `sample_weight`: one array of weights for each output.",
        fix=NoFix("the weight of each sample has to be looked up in the data"),
    )


def _by_place(
    module: Module, use: MemberUse, given: cst.Arg, made: str, *, is_known: bool
) -> Finding:
    span = module.outer_span(given.value)
    fix = rule.fix(
        "Turn it into a dict: `dict(enumerate(…))`",
        Edit(span, ("dict(enumerate(", Hole(span), "))")),
        unsafe_because="it assumes that the classes are 0, 1, 2, … in this order; "
        "and Keras up to 2.3 ignored such weights",
    )
    return rule.finding(
        module.place(given),
        f"`class_weight` must be a dict: AttributeError: '{made}' object has no attribute 'get'",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}(class_weight)",
        confidence=use.confidence,
        help="Pass a dict from class to weight.",
        fix=fix if is_known else NoFix("its contents are not known"),
    )


def _may_be_no_dict(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether something else than a dict of numbers may be passed."""
    given = (called.argument("class_weight") for called in quick.calls_with("class_weight"))
    return any(_is_asked(quick, value) for each in given for value in quick.values_of(each))


def _is_asked(quick: QuickFacts, value: ast.expr) -> bool:
    if isinstance(value, ast.Dict):
        inner = (each for part in value.values for each in quick.values_of(part))
        return any(isinstance(each, ast.Dict | ast.DictComp) for each in inner)
    if isinstance(value, ast.Call):
        return not _MAKES_ARRAYS.isdisjoint(quick.meant_by(value.func))
    return isinstance(value, ast.List | ast.Tuple)


rule = Rule(
    code="KD318",
    name="class-weight-by-place",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword("class_weight") & attribute(*_METHODS) & Trigger(_may_be_no_dict),
    since="3.0",
)

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
