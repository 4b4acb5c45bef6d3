"""Unnamed inputs are called `input_layer`, not `input_1`; unnamed models `functional`.

## What it does
Reports `model.get_layer("input_1")` of models that the program builds itself, and
`get_layer("model_1")` where they are known to contain a `keras.Model(inputs, outputs)` without a
name.

## Why it breaks
Keras 2 named inputs `input_1`, `input_2`, …; Keras 3 names them `input_layer`, `input_layer_1`, …:
`ValueError: No such layer: input_1.` `model`, `model_1`, … became `functional`, `functional_1`, ….
All other layers are named as before.

## What to write instead
An explicit name, `keras.Input((4,), name="image")`, `keras.Model(x, y, name="encoder")`, or
`model.inputs[0]`. The fix writes the new name; it is unsafe, as the number depends on what was
built before.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21; the default names of 123 layer classes were compared.
"""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.queries import Argument, Instance, calls
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_OLD: Final = pattern(r"input_([1-9]\d*)|model(_[1-9]\d*)?")


def _is_old(form: object) -> bool:
    return isinstance(form, str) and _OLD.fullmatch(form) is not None


@rule(
    "KD413",
    severity=Severity.ERROR,
    since="3.0",
    # Only a model that is built here: a loaded one keeps its names.
    look_for=calls("get_layer", on=Instance(Kind.MODEL, "Functional"))
    .even(hidden=True)
    .argument("name", 0, where=_is_old),
)
def check(name: Argument) -> Finding | None:
    """Report each old name."""
    module, text = name.module, name.node
    match = _OLD.fullmatch(str(literal(text)))
    if not isinstance(text, cst.SimpleString) or not match or _is_given(module, match[0]):
        return None
    assert name.use is not None
    if not match[1] and not _has_a_model(module, name.use.node.value):
        return None
    new = _new_name(match)
    kind, base = ("inputs", "input_layer") if match[1] else ("models", "functional")
    return name.finding(
        f"{kind} are named `{base}`: ValueError: No such layer: {match[0]}.",
        symbol="Functional.get_layer",
        help=f"Give it an explicit name, or write `{new}`.",
        fix=name.fix(
            f"Write `{new}`",
            Edit(module.span(text), (f"{text.quote}{new}{text.quote}",)),
            unsafe_because="the number depends on what was built before",
        ),
    )


def _has_a_model(module: Module, owner: cst.BaseExpression) -> bool:
    """Say whether a model without a name surely is in what the expression is."""
    if any(each.name.value == "Model" for each in module.nodes(cst.ClassDef)):
        return False  # which goes by that name on Keras 3, too
    by_call = points_to_by_call_of(module)
    made = [by_call.made(owner, frame) for frame in by_call.runs(owner)]
    return bool(made) and all(
        each is not None
        and any(
            call is not each.call and _is_unnamed_model(module, call)
            for call in by_call.inside(each)
        )
        for each in made
    )


def _is_unnamed_model(module: Module, call: cst.Call) -> bool:
    name = module.qualified(call.func)
    made = module.oracle.class_type(name) if name else None
    return (
        made is not None
        and made.cls == "Functional"
        and argument(call, "name", 2) is None
        and not is_hidden(call)
    )


def _is_given(module: Module, name: str) -> bool:
    return re.search(rf"(?<!get_layer\()name\s*=\s*['\"]{name}['\"]", module.text) is not None


def _new_name(match: re.Match[str]) -> str:
    if not match[1]:
        return f"functional{match[2] or ''}"
    number = int(match[1]) - 1
    return f"input_layer_{number}" if number else "input_layer"


_MODEL = (
    "import keras\n\nkeras.backend.clear_session()\nx = keras.layers.Input((2,))\n"
    "model = keras.Model(x, keras.layers.Dense(1)(x))\n"
)

_NESTED = (
    "import keras\n\nkeras.backend.clear_session()\nx = keras.layers.Input((2,))\n"
    "first = keras.Model(x, keras.layers.Dense(1)(x){})\n"
    "second = keras.Model(x, keras.layers.Dense(3)(x))\n"
    "both = keras.Model(x, [first(x), second(x)])\n"
)

VALID = [
    # It has that name; there is no model inside, or it is not known.
    _NESTED.format(", name='model'") + "part = both.get_layer('model')",
    _NESTED.format("") + "part = both.get_layer('functional')",
    _MODEL + "part = model.get_layer('model')",
    "import keras\n\ndef first(model):\n    return model.get_layer('model_1')",
    "import keras\n\nboth = keras.models.load_model('old.h5')\nboth.get_layer('model_1')",
    # A class of one's own of that name.
    "import keras\n\n\nclass Model(keras.Model):\n    pass\n\n\n"
    + _NESTED.format("").removeprefix("import keras\n\n")
    + "part = both.get_layer('model')",
    (_NESTED.format("") + "both.get_layer('model')").replace(
        "import keras", "import tf_keras as keras"
    ),
    _MODEL + "model.get_layer('dense_1')\nmodel.get_layer(name='input_layer')",
    (
        "import keras\nx = keras.layers.Input((2,), name='input_1')\n"
        "model = keras.Model(x, keras.layers.Dense(1)(x))\nmodel.get_layer('input_1')"
    ),
    # The name is in the file.
    "import keras\nmodel = keras.models.load_model('old.h5')\nmodel.get_layer('input_1')",
    "import keras\n\ndef first(model):\n    return model.get_layer('input_1')",
    "import tf_keras\nmodel = tf_keras.Model(x, y)\nmodel.get_layer('input_1')",
]
INVALID = [
    Example(
        before=_MODEL + "first = model.get_layer('input_1')",
        after=_MODEL + "first = model.get_layer('input_layer')",
        raises="ValueError: No such layer: input_1.",
        unsafe=True,
    ),
    Example(
        before=_NESTED.format("") + "part = both.get_layer('model_1')",
        after=_NESTED.format("") + "part = both.get_layer('functional_1')",
        raises="ValueError: No such layer: model_1.",
        unsafe=True,
        on_keras_2=True,
        same="part.output_shape",
    ),
    Example(
        before=_NESTED.format("") + "part = both.get_layer(name='model')",
        after=_NESTED.format("") + "part = both.get_layer(name='functional')",
        raises="ValueError: No such layer: model.",
        unsafe=True,
        on_keras_2=True,
        same="part.output_shape",
    ),
]
