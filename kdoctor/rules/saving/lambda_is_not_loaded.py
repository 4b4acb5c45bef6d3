"""A model with `Lambda(lambda …)` is saved, and `load_model` refuses it.

## What it does
Reports `load_model` (without `safe_mode=`) of a file that the same program writes, where the
program makes a `Lambda` layer of a Python lambda.

## Why it breaks
A lambda is saved as bytecode, and running bytecode out of a file is refused: `ValueError: Requested
the deserialization of a `Lambda` layer whose `function` is a Python lambda. This carries a
potential risk of arbitrary code execution and thus it is disallowed by default.` Keras 2 refused it
for `.keras` files only; Keras 3 does for `.h5` too, from 3.11.3 on.

## What to write instead
A layer of your own, registered with `@keras.saving.register_keras_serializable()`, or a function
with a name, passed as `custom_objects={"name": function}`. For a file that you trust,
`load_model(path, safe_mode=False)`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with both formats. The fix is unsafe: `safe_mode=False` runs
code that is in the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst
from packaging.version import Version

from kdoctor.kinds import Kind
from kdoctor.model import Applicability, Finding, Fix, Severity
from kdoctor.rules.calls import (
    argument,
    instances,
    is_hidden,
    keras_version,
    value_of,
    with_keyword,
)
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.saving._uses import is_saved_here, loads
from kdoctor.rules.triggers import Trigger, word
from kdoctor.syntax import Module

_ERROR = (
    "ValueError: Requested the deserialization of a `Lambda` layer whose `function` is a Python "
    "lambda"
)
_REFUSES_H5 = Version("3.11.3")
_SWITCH = "enable_unsafe_deserialization"


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each such load."""
    if _SWITCH in module.text or not any(_lambdas(module, facts)):
        return
    for use in loads(module):
        if is_hidden(use.call) or argument(use.call, "safe_mode", 3):
            continue
        if not is_saved_here(module, use.ending) or module.is_guarded(use.call):
            continue
        is_h5 = use.ending is not None and use.ending.text.endswith((".h5", ".hdf5"))
        if is_h5 and keras_version(facts) < _REFUSES_H5:
            continue
        yield rule.finding(
            module.place(use.call),
            f"the model is saved with a `Lambda` of a Python lambda: {_ERROR}",
            symbol=use.symbol,
            confidence=use.confidence,
            help="Make the lambda a layer of your own or a function with a name; for a file that "
            "you trust write `safe_mode=False`.",
            fix=Fix(
                "Load it with `safe_mode=False`",
                (with_keyword(module, use.call, "safe_mode=False"),),
                Applicability.UNSAFE,
                unsafe_because="it runs code that is in the file",
            ),
        )


def _lambdas(module: Module, facts: Facts) -> Iterator[cst.Call]:
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
    triggers=word("load_model")
    & word("Lambda")
    & Trigger(lambda glimpse, _: ast.Lambda in glimpse.nodes),
    since="3.0",
)

_DOUBLE = (
    "import keras\n\nmodel = keras.Sequential([\n    keras.Input((2,)),\n"
    "    keras.layers.Lambda(lambda x: x * 2),\n])\n"
)

VALID = [
    _DOUBLE + "model.save('a.keras')\nkeras.models.load_model('a.keras', safe_mode=False)",
    _DOUBLE + "model.save('a.keras')\nkeras.models.load_model('b.keras')",
    _DOUBLE + "keras.config.enable_unsafe_deserialization()\nmodel.save('a.keras')\n"
    "keras.models.load_model('a.keras')",
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
]
