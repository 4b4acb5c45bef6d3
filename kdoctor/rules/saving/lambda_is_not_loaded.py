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

from typing import Final

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import (
    add_keyword,
    argument,
    is_hidden,
    keras_version,
)
from kdoctor.analysis.dataflow.points_to_by_call import PointsToByCall, points_to_by_call_of
from kdoctor.analysis.queries import Call, Instance, constructs, functions
from kdoctor.analysis.queries.forms import Expression
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.rules.saving._save_and_load_calls import (
    FileUse,
    PathUse,
    file_uses,
    is_same_path,
    model_of,
    saves,
)
from kdoctor.value_types import Kind

_ERROR = (
    "ValueError: Requested the deserialization of a `Lambda` layer whose `function` is a Python "
    "lambda"
)
_REFUSES_H5 = Version("3.11.3")
_REFUSES_COPIES = Version("3.15")
_COPY = "models.clone_model"
_SWITCH = "enable_unsafe_deserialization"


_LAMBDAS: Final = (
    constructs(Instance(Kind.LAYER, "Lambda"))
    .even(hidden=True, guarded=True)
    .argument("function", 0, where=lambda form: form == Expression("Lambda"))
)


@rule(
    "KD608",
    severity=Severity.ERROR,
    since="3.0",
    look_for=(file_uses("load") | functions(_COPY)).beside(_LAMBDAS),
)
def check(found: FileUse | Call) -> Finding | None:
    """Report each such load."""
    if _SWITCH in found.module.text:
        return None
    lambdas = frozenset(each.call for each in _LAMBDAS.find(found.module, found.facts))
    if isinstance(found, Call):
        return _copy(found, lambdas)
    return _load(found, lambdas)


def _copy(copy: Call, lambdas: frozenset[cst.Call]) -> Finding | None:
    if keras_version(copy.facts) < _REFUSES_COPIES or copy.argument("clone_function", 2):
        return None
    copied = copy.argument("model", 0)
    by_call = points_to_by_call_of(copy.module)
    if copied is None or not _has(by_call, copy.call, copied.value, lambdas):
        return None
    return copy.finding(
        f"a `Lambda` layer with a Python lambda cannot be copied: {_ERROR}",
        help="Replace the `Lambda` with a custom layer, or allow it with "
        "`keras.config.enable_unsafe_deserialization()`.",
        fix=NoFix("the replacement for the lambda is your choice"),
    )


def _load(load: FileUse, lambdas: frozenset[cst.Call]) -> Finding | None:
    module, call = load.module, load.call
    if is_hidden(call) or argument(call, "safe_mode", 3):
        return None
    by_call = points_to_by_call_of(module)
    if not any(
        is_same_path(module, each, load.use) and _holds(by_call, each, lambdas)
        for each in saves(module)
    ):
        return None
    is_keras = load.ending is not None and load.ending.text.endswith(".keras")
    if not is_keras and keras_version(load.facts) < _REFUSES_H5:
        return None
    return load.finding(
        f"a `Lambda` layer with a Python lambda cannot be loaded again: {_ERROR}",
        help="Replace the lambda with a custom layer or a named function; for a file that "
        "you trust, pass `safe_mode=False`.",
        fix=load.fix(
            "Load it with `safe_mode=False`",
            add_keyword(module, call, "safe_mode=False"),
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
