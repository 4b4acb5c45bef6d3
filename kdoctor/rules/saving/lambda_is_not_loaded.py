"""A model with `Lambda(lambda …)` is saved or copied, and Keras refuses to recreate it.

## What it does
Reports `load_model` (without `safe_mode=`) of a file that the same program writes, if the saved
model certainly has a `Lambda` layer with a Python lambda; also `clone_model` of such a model.

## Why it breaks
A lambda is saved as bytecode, and Keras refuses to run bytecode from a file: `ValueError: Requested
the deserialization of a `Lambda` layer whose `function` is a Python lambda. This carries a
potential risk of arbitrary code execution and thus it is disallowed by default.` Keras 2 refused it
for `.keras` files only; Keras 3 also refuses it for `.h5` since 3.11.3, and for copies made by
`clone_model` since 3.15.

## What to write instead
Use a custom layer registered with `@keras.saving.register_keras_serializable()`, or a named
function passed as `custom_objects={"name": function}`. For a file that you trust, use
`load_model(path, safe_mode=False)`. For copies, call `keras.config.enable_unsafe_deserialization()`
first.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with both formats. The fix is unsafe: `safe_mode=False` runs
code stored in the file. The release since which copies are refused was found by reading 3.14.0 and
3.15.0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import (
    add_keyword,
    argument,
    instances,
    is_hidden,
    is_keras_3,
    keras_version,
    value_of,
)
from kdoctor.analysis.dataflow.points_to_by_call import PointsToByCall, points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.saving._save_and_load_calls import PathUse, is_same_path, loads, model_of, saves
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ERROR = (
    "ValueError: Requested the deserialization of a `Lambda` layer whose `function` is a Python "
    "lambda"
)
_REFUSES_H5 = Version("3.11.3")
_REFUSES_COPIES = Version("3.15")
_COPY = "models.clone_model"
_SWITCH = "enable_unsafe_deserialization"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such load."""
    if _SWITCH in module.text:
        return
    lambdas = frozenset(_lambdas(module, facts))
    if not lambdas:
        return
    yield from _loads(module, facts, lambdas)
    if keras_version(facts) >= _REFUSES_COPIES:
        yield from _copies(module, facts, lambdas)


def _copies(module: Module, facts: TargetFacts, lambdas: frozenset[cst.Call]) -> Iterator[Finding]:
    by_call = points_to_by_call_of(module)
    for each in module.references:
        call = each.call
        if call is None or not each.name.endswith(_COPY) or not is_keras_3(facts, each.name):
            continue
        if is_hidden(call) or argument(call, "clone_function", 2) or module.is_guarded(call):
            continue
        copied = argument(call, "model", 0)
        if copied is not None and _has(by_call, call, copied.value, lambdas):
            yield rule.finding(
                module.place(call),
                f"a `Lambda` layer with a Python lambda cannot be copied: {_ERROR}",
                symbol=each.name,
                confidence=each.confidence,
                help="Replace the `Lambda` with a custom layer, or allow it with "
                "`keras.config.enable_unsafe_deserialization()`.",
                fix=NoFix("the replacement for the lambda is your choice"),
            )


def _loads(module: Module, facts: TargetFacts, lambdas: frozenset[cst.Call]) -> Iterator[Finding]:
    by_call = points_to_by_call_of(module)
    written = [*saves(module)]
    for use in loads(module):
        if is_hidden(use.call) or argument(use.call, "safe_mode", 3):
            continue
        if not any(
            is_same_path(module, each, use) and _holds(by_call, each, lambdas) for each in written
        ):
            continue
        if module.is_guarded(use.call):
            continue
        is_keras = use.ending is not None and use.ending.text.endswith(".keras")
        if not is_keras and keras_version(facts) < _REFUSES_H5:
            continue
        yield rule.finding(
            module.place(use.call),
            f"a `Lambda` layer with a Python lambda cannot be loaded again: {_ERROR}",
            symbol=use.symbol,
            confidence=use.confidence,
            help="Replace the lambda with a custom layer or a named function; for a file that "
            "you trust, pass `safe_mode=False`.",
            fix=rule.fix(
                "Load it with `safe_mode=False`",
                add_keyword(module, use.call, "safe_mode=False"),
                unsafe_because="it runs code stored in the file",
            ),
        )


def _holds(by_call: PointsToByCall, save: PathUse, layers: frozenset[cst.Call]) -> bool:
    """Say whether a model that is saved surely has one of these layers in it."""
    model = model_of(save)
    return model is not None and _has(by_call, save.call, model, layers)


def _has(
    by_call: PointsToByCall, at: cst.Call, model: cst.BaseExpression, layers: frozenset[cst.Call]
) -> bool:
    made = [by_call.made(model, frame) for frame in by_call.runs(at)]
    return any(each is not None and not layers.isdisjoint(by_call.inside(each)) for each in made)


def _lambdas(module: Module, facts: TargetFacts) -> Iterator[cst.Call]:
    for _, call, made in instances(module, Kind.LAYER, facts):
        given = argument(call, "function", 0) if made.cls == "Lambda" else None
        if given is not None and isinstance(value_of(module, given.value), cst.Lambda):
            yield call


rule = Rule(
    code="KD608",
    name="lambda-is-not-loaded",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=word("load_model", "clone_model")
    & word("Lambda")
    & Trigger(lambda quick, _: ast.Lambda in quick.nodes),
    since="3.0",
)

_DOUBLE = (
    "import keras\n\nmodel = keras.Sequential([\n    keras.Input((2,)),\n"
    "    keras.layers.Lambda(lambda x: x * 2),\n])\n"
)

_BUILT = (
    "import keras\n\nPATH = 'a.keras'\n\n\ndef built():\n    x = keras.Input((2,))\n"
    "    y = keras.layers.Lambda(lambda y: y * 2)(x)\n    return keras.Model(x, y)\n\n\n"
    "def keep(model):\n    model.save(PATH)\n\n\nkeep(built())\n"
    "again = keras.models.load_model(PATH{})"
)

VALID = [
    # Copied by a function of one's own, or allowed; another model.
    _DOUBLE + "keras.models.clone_model(model, clone_function=lambda layer: layer)",
    _DOUBLE + "keras.config.enable_unsafe_deserialization()\nkeras.models.clone_model(model)",
    _DOUBLE + "plain = keras.Sequential([keras.layers.Dense(1)])\nkeras.models.clone_model(plain)",
    (_DOUBLE + "keras.models.clone_model(model)").replace(
        "import keras", "import tf_keras as keras"
    ),
    _DOUBLE + "model.save('a.keras')\nkeras.models.load_model('a.keras', safe_mode=False)",
    _DOUBLE + "model.save('a.keras')\nkeras.models.load_model('b.keras')",
    _DOUBLE + "keras.config.enable_unsafe_deserialization()\nmodel.save('a.keras')\n"
    "keras.models.load_model('a.keras')",
    # Another model, of the same name.
    "import keras\n\nmodel = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
    "model.save('a.keras')\nkeras.models.load_model('a.keras')\n"
    + _DOUBLE.removeprefix("import keras\n\n")
    + "model.save('b.keras')",
    # A class of one's own is made by its code, which makes the layer anew.
    (
        "import keras\n\n\nclass Double(keras.Model):\n    def __init__(self, **kwargs):\n"
        "        super().__init__(**kwargs)\n"
        "        self.double = keras.layers.Lambda(lambda x: x * 2)\n\n"
        "    def call(self, x):\n        return self.double(x)\n\n\n"
        "model = Double()\nmodel.build((None, 2))\nmodel.save('a.keras')\n"
        "keras.models.load_model('a.keras', custom_objects={'Double': Double})"
    ),
    # A part of a model that has one, before it.
    (
        "import keras\n\nx = keras.Input((2,))\nfirst = keras.layers.Dense(2)(x)\n"
        "whole = keras.Model(x, keras.layers.Lambda(lambda y: y * 2)(first))\n"
        "part = keras.Model(x, whole.layers[1].output)\npart.save('a.keras')\n"
        "keras.models.load_model('a.keras')"
    ),
    (
        "import keras\n\ndef double(x):\n    return x * 2\n\n"
        "model = keras.Sequential([keras.Input((2,)), keras.layers.Lambda(double)])\n"
        "model.save('a.keras')\n"
        "keras.models.load_model('a.keras', custom_objects={'double': double})"
    ),
]
INVALID = [
    Example(
        before=_DOUBLE + "model.save('a.h5')\nagain = keras.models.load_model('a.h5')",
        after=_DOUBLE
        + "model.save('a.h5')\nagain = keras.models.load_model('a.h5', safe_mode=False)",
        raises=_ERROR,
        unsafe=True,
        check="assert float(again(keras.ops.ones((1, 2)))[0, 0]) == 2.0",
    ),
    # A functional model that one function makes and another saves; the path is in a variable.
    Example(
        before=_BUILT.format(""),
        after=_BUILT.format(", safe_mode=False"),
        raises=_ERROR,
        unsafe=True,
        check="assert float(again(keras.ops.ones((1, 2)))[0, 0]) == 2.0",
    ),
    # A model around its outputs, by the functions of `keras.saving`.
    Example(
        before=_DOUBLE + "outer = keras.Model(model.inputs, model.outputs)\n"
        "keras.saving.save_model(outer, 'a.keras')\nagain = keras.saving.load_model('a.keras')",
        after=_DOUBLE + "outer = keras.Model(model.inputs, model.outputs)\n"
        "keras.saving.save_model(outer, 'a.keras')\n"
        "again = keras.saving.load_model('a.keras', safe_mode=False)",
        raises=_ERROR,
        unsafe=True,
    ),
    # A copy.
    Example(
        before=_DOUBLE + "again = keras.models.clone_model(model)",
        raises=_ERROR,
        on_keras_2=True,
    ),
]
