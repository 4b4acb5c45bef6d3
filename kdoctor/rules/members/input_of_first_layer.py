"""``model.layers[0].input``: the first layer of a functional model is its `InputLayer`.

## What it does
Reports `model.layers[0].input` of a model that is not, or may not be, a `Sequential`.

## Why it breaks
On Keras 2 the `input` of an `InputLayer` was the tensor that it creates. On Keras 3 the layer has
no input, and `input` is an empty list: `AttributeError: 'list' object has no attribute 'shape'`,
`ValueError: All `inputs` values must be KerasTensors`, or a model without inputs.

## What to write instead
`model.inputs[0]`, which also works for a `Sequential`, or `layer.output` of the layer itself.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.queries import Read, reads
from kdoctor.analysis.queries.conditions import member
from kdoctor.model import Edit, Finding, Hole, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind


@rule(
    "KD229",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=reads("input", on=Kind.LAYER).beside(member("layers")),
)
def check(read: Read) -> Finding | None:
    """Report each such read."""
    module, model = read.module, _model_of_first_layer(read)
    of = None if model is None else module.type_of(model)
    if model is None or of is None or of.kind is not Kind.MODEL or of.cls == "Sequential":
        return None
    if not is_keras_3(read.facts, of.qualified):
        return None
    kept = Hole(module.outer_span(model), Precedence.PRIMARY, precedence_of(model))
    return read.finding(
        "the first layer of a functional model is its `InputLayer`, whose `input` is an empty list",
        symbol="InputLayer.input",
        help="Write `model.inputs[0]`.",
        fix=read.fix(
            "Read the model's first input instead",
            Edit(module.span(read.node), (kept, ".inputs[0]"), Precedence.PRIMARY),
            unsafe_because="the first input of a model with several inputs may not belong to the "
            "first layer",
        ),
    )


def _model_of_first_layer(read: Read) -> cst.BaseExpression | None:
    match read.node.value:
        case cst.Subscript(
            value=cst.Attribute(value=model, attr=cst.Name(value="layers")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
        ):
            return model
    return None


_MODEL = "import keras\n\nx = keras.Input((4,))\nmodel = keras.Model(x, keras.layers.Dense(2)(x))\n"
_ANY = "import keras\n\n\ndef first(model: keras.Model):\n    return model.layers[0].input{}\n"

VALID = [
    "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(2)])\nmodel.layers[0].input",
    _MODEL + "model.layers[1].input, model.layers[0].output, model.layers[-1].input",
    _MODEL + "model.inputs[0], model.input",
    "import tf_keras\n\n\ndef first(model: tf_keras.Model):\n    return model.layers[0].input",
    "def first(model):\n    return model.layers[0].input",
]
INVALID = [
    Example(
        before=f"{_MODEL}first = model.layers[0].input",
        after=f"{_MODEL}first = model.inputs[0]",
        unsafe=True,
        check="assert tuple(first.shape) == (None, 4)",
        on_keras_2=True,
    ),
    Example(
        before=_ANY.format(".shape"),
        after=_ANY.format(".shape").replace("layers[0].input", "inputs[0]"),
        unsafe=True,
        check="x = keras.Input((4,))\nassert tuple(first(keras.Model(x, x + 1))) == (None, 4)",
        on_keras_2=True,
    ),
]
