"""``input_shape=``, ``input_dim=``, ``batch_input_shape=`` and ``input_length=`` on a layer.

## What it does
Reports these arguments on Keras layers; `input_length=` on `Embedding`, on recurrent layers
(`LSTM`, `GRU`, `SimpleRNN`, `RNN`) and on `Conv1D`. Models and functions that have their own
`input_shape` (`keras.applications`, `InputLayer`) are not affected.

## Why it breaks
`input_shape=` and `input_dim=` still work on Keras 3, with a warning: `Do not pass an
`input_shape`/`input_dim` argument to a layer. When using Sequential models, prefer using an
`Input(shape)` object as the first layer in the model instead.` On any layer but the first of a
`Sequential` they are ignored, even if they are wrong. `SpatialDropout2D` refuses both: `TypeError:
SpatialDropout2D.__init__() got an unexpected keyword argument 'input_shape'`. `batch_input_shape=`
is an error: `ValueError: Unrecognized keyword arguments passed to Dense: {'batch_input_shape': (2,
4)}`. `input_length=` of an `Embedding` is ignored with a warning: a `Sequential` that starts with
such a layer has no shape and no weights until it sees data, so `summary()` shows `?`, and
`count_params()` and `load_weights()` fail.

On a recurrent layer of Keras 2, `input_dim=4` meant the shape `(None, 4)`, and together with
`input_length=5` the shape `(5, 4)`; the same held for `Conv1D` up to Keras 2.3. Keras 3 takes
`input_dim=4` as the whole shape: `ValueError: Input 0 with name 'None' of layer 'lstm' is
incompatible with the layer: expected ndim=3, found ndim=2`, and refuses `input_length=`.

## What to write instead
Write an input as the first element:

    model = keras.Sequential([keras.Input(shape=(4,)), keras.layers.Dense(3)])

Write `keras.Input(batch_shape=(2, 4))` for `batch_input_shape=(2, 4)`, and
`keras.Input(shape=(4,))` for `input_dim=4` or `input_length=4` (before a recurrent layer or a
`Conv1D`, `keras.Input(shape=(None, 4))`, or with the length in place of None). A `batch_size=`
beside them moves into the input. The input is not a layer: `model.layers` stays the same.

## How we know
Run on Keras 3.15.1, tf_keras 2.21 and Keras 2.3.1: both forms give models with the same layers,
inputs and config. The fix is safe if the shape is written out; a variable may be None, which a
layer accepts and `Input` does not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, calls_of
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.arguments._first_layer import first_layer_place
from kdoctor.rules.arguments._move_input_shape import (
    ARGUMENTS,
    calls_something,
    fix_of,
    gives_steps,
    input_first,
    is_length,
    own_parameters,
    shape_arguments,
    shape_of,
    takes_steps,
)
from kdoctor.rules.arguments._removed_examples import MOVED_WITH_THE_SHAPE
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module, Reference


def _gives_a_shape(facts: TargetFacts, name: str, keywords: Collection[str]) -> bool:
    given = set(ARGUMENTS).intersection(keywords)
    own = own_parameters(facts, name) if given else None
    return own is not None and not given <= own


@rule(
    "KD301",
    severity=Severity.LEGACY,
    since="3.0",
    look_for=calls_of(_gives_a_shape).passing(*ARGUMENTS).even(hidden=True, guarded=True),
)
def check(layer: Call) -> Iterator[Finding]:
    """Report each such argument once."""
    assert layer.reference is not None
    arguments = shape_arguments(layer.facts, layer.reference, layer.call)
    for each in arguments:
        yield _finding(layer, layer.reference, each, is_alone=len(arguments) == 1)


def _finding(layer: Call, reference: Reference, argument: cst.Arg, *, is_alone: bool) -> Finding:
    module, facts, call = layer.module, layer.facts, layer.call
    assert argument.keyword is not None
    name = argument.keyword.value
    # `Convolution1D` is a `Conv1D`, as the error calls it.
    leaf = (facts.lookup(layer.name).home or layer.name).rpartition(".")[2]
    span = module.outer_span(argument.value)
    is_plain = isinstance(argument.value, cst.Tuple | cst.List | cst.Integer)
    shown = module.text[span.start : span.end] if is_plain else "…"
    is_first = first_layer_place(module, call) is not None
    signature = facts.signature(layer.name)
    if signature is not None and not signature.takes_any_keyword:
        error = f"TypeError: {leaf}.__init__() got an unexpected keyword argument '{name}'"
        message, severity = f"`{leaf}` does not accept `{name}=`: {error}", Severity.ERROR
    elif gives_steps(reference, argument):
        message, severity = _of_steps(name, leaf, shown, is_first=is_first)
    else:
        message, severity = _message(name, leaf, shown, is_first=is_first)
    return layer.finding(
        message,
        at=argument,
        symbol=f"{layer.name}({name})",
        severity=severity,
        help=_help(module, reference, call, argument, is_first=is_first),
        fix=_moved(layer, reference, argument)
        if is_alone
        else NoFix("the layer has more than one of these arguments"),
    )


def _message(name: str, leaf: str, shown: str, *, is_first: bool) -> tuple[str, Severity]:
    match name:
        case "batch_input_shape":
            error = f"Unrecognized keyword arguments passed to {leaf}: {{'{name}': {shown}}}"
            return f"`{leaf}` does not accept `{name}=`: ValueError: {error}", Severity.ERROR
        case "input_length" if is_first:
            return (
                (
                    f"`{name}=` is ignored with a warning: the model has no shape and no weights "
                    "until it sees data"
                ),
                Severity.CHANGE,
            )
        case "input_length":
            return f"`{name}=` is ignored with a warning", Severity.LEGACY
    asked = "Keras warns and asks for `keras.Input` as the first layer"
    return f"`{name}=` on a layer is deprecated: {asked}", Severity.LEGACY


def _of_steps(name: str, leaf: str, shown: str, *, is_first: bool) -> tuple[str, Severity]:
    if name == "input_length":
        error = f"Unrecognized keyword arguments passed to {leaf}: {{'{name}': {shown}}}"
        return f"`{leaf}` does not accept `{name}=`: ValueError: {error}", Severity.ERROR
    if not is_first:
        return _message(name, leaf, shown, is_first=False)
    if leaf == "RNN":
        error = "Shapes used to initialize variables must be fully-defined"
    else:
        least, layer = ("min_", "conv1d") if leaf == "Conv1D" else ("", in_snake_case(leaf))
        error = (
            f"Input 0 with name 'None' of layer '{layer}' is incompatible with the layer: "
            f"expected {least}ndim=3, found ndim=2"
        )
    return (
        f"Keras 3 takes `{name}=` as the whole shape, without time steps: ValueError: {error}",
        Severity.ERROR,
    )


def _help(
    module: Module, reference: Reference, call: cst.Call, argument: cst.Arg, *, is_first: bool
) -> str:
    if is_length(argument) and not is_first and not takes_steps(reference):
        return "Leave it out."
    shape = shape_of(reference, call, argument).written(module)
    written = f"Write `keras.Input({shape})` as the first layer."
    is_both = is_length(argument) and not is_first
    return f"{written} Leave it out on every other layer." if is_both else written


def _moved(layer: Call, reference: Reference, argument: cst.Arg) -> Fix | NoFix:
    module, call = layer.module, layer.call
    if is_length(argument) and first_layer_place(module, call) is None:
        if not takes_steps(reference):
            return _left_out(layer, [argument])
        holder = module.parent(call)
        if isinstance(holder, cst.Call) and holder.func is call:
            shape = [each for each in call.args if each.keyword and each.keyword.value in ARGUMENTS]
            return _left_out(layer, shape)
    moved = input_first(module, reference, call, argument)
    if isinstance(moved, NoFix):
        return moved
    return fix_of(moved, check.applicability(_proofs()))


def _proofs() -> list[Example]:
    """The size of a batch that moves along is proven where it is the error: by KD303."""
    own = (each for each in INVALID if each.after and not each.unsafe)
    return [*own, *MOVED_WITH_THE_SHAPE]


def _left_out(layer: Call, arguments: list[cst.Arg]) -> Fix | NoFix:
    """Leave out what is passed over, where nothing goes with it."""
    edits = remove_arguments(layer.module, layer.call, arguments)
    if edits is None or any(calls_something(each.value) for each in arguments):
        return NoFix("there is a comment next to it, or its value calls something")
    return layer.fix("Leave out the ignored argument", *edits, proven_by=_proofs())


VALID = [
    # Keras 2 wants it so.
    "import tf_keras\ntf_keras.Sequential([tf_keras.layers.Dense(3, input_shape=(2,))])",
    "import keras\nkeras.Sequential([keras.Input(shape=(4,)), keras.layers.Dense(3)])",
    "import keras\nkeras.applications.VGG16(weights=None, input_shape=(32, 32, 3))",
    "import keras\nkeras.layers.InputLayer(input_shape=(4,))",
    "import keras\nkeras.layers.InputLayer(batch_input_shape=(2, 4))",
    "import keras\nkeras.layers.Embedding(input_dim=10, output_dim=3)",
    "import keras\nkeras.layers.Embedding(10, 3, input_length=None)",
    "import keras\nkeras.layers.ReversibleEmbedding(input_dim=10, output_dim=3)",
    "from mylayers import Dense\nimport keras\nDense(3, input_shape=(4,))",
    "import keras\nlayer = keras.layers.Dense(3)\nlayer.build(input_shape=(None, 4))",
]
INVALID = [
    Example(
        before="import keras\n\nmodel = keras.Sequential([\n"
        "    keras.layers.Dense(3, activation='relu', input_shape=(4,)),\n"
        "    keras.layers.Dense(1),\n])",
        after="import keras\n\nmodel = keras.Sequential([\n"
        "    keras.Input(shape=(4,)),\n"
        "    keras.layers.Dense(3, activation='relu'),\n"
        "    keras.layers.Dense(1),\n])",
        check="assert model.input_shape == (None, 4) and len(model.layers) == 2",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.layers.Dense(3, input_dim=4, activation='relu'))\n"
        "model.add(keras.layers.Dense(1))",
        after="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.Input(shape=(4,)))\n"
        "model.add(keras.layers.Dense(3, activation='relu'))\n"
        "model.add(keras.layers.Dense(1))",
        check="assert model.input_shape == (None, 4) and len(model.layers) == 2",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential([keras.layers.Dense(3, "
        "batch_input_shape=(2, 4))])",
        after="import keras\n\nmodel = keras.Sequential([keras.Input(batch_shape=(2, 4)), "
        "keras.layers.Dense(3)])",
        raises="ValueError: Unrecognized keyword arguments passed to Dense: "
        "{'batch_input_shape': (2, 4)}",
        check="assert model.input_shape == (2, 4)",
    ),
    Example(
        before="from tensorflow.keras.models import Sequential\n"
        "from tensorflow.keras.layers import Flatten\n\n"
        "model = Sequential([Flatten(input_shape=(28, 28))])",
        after="from tensorflow.keras.models import Sequential\n"
        "from tensorflow.keras.layers import Flatten\nfrom tensorflow.keras import Input\n\n"
        "model = Sequential([Input(shape=(28, 28)), Flatten()])",
        check="assert model.output_shape == (None, 784)",
    ),
    Example(
        before="import keras\n\nshape = (4,)\n"
        "model = keras.Sequential([keras.layers.Dense(3, input_shape=shape)])",
        after="import keras\n\nshape = (4,)\n"
        "model = keras.Sequential([keras.Input(shape=shape), keras.layers.Dense(3)])",
        unsafe=True,
    ),
    Example(
        before="import keras\n\nx = keras.Input((4,))\n"
        "y = keras.layers.Dense(3, input_shape=(5,))(x)",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.layers.Embedding(10, 3, input_length=4))\n"
        "model.add(keras.layers.Flatten())\nmodel.add(keras.layers.Dense(1))",
        after="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.Input(shape=(4,)))\n"
        "model.add(keras.layers.Embedding(10, 3))\n"
        "model.add(keras.layers.Flatten())\nmodel.add(keras.layers.Dense(1))",
        on_keras_2=True,
        check="assert model.input_shape == (None, 4) and model.count_params() == 43",
    ),
    Example(
        before="import keras\n\nx = keras.Input((4,))\n"
        "y = keras.layers.Embedding(10, 3, input_length=4, name='words')(x)",
        after="import keras\n\nx = keras.Input((4,))\n"
        "y = keras.layers.Embedding(10, 3, name='words')(x)",
        on_keras_2=True,
        check="assert tuple(y.shape) == (None, 4, 3)",
    ),
    Example(
        before="import keras\n\nlength = 4\n"
        "model = keras.Sequential([keras.layers.Embedding(10, 3, input_length=length)])",
        after="import keras\n\nlength = 4\n"
        "model = keras.Sequential([keras.Input(shape=(length,)), keras.layers.Embedding(10, 3)])",
        on_keras_2=True,
        check="assert model.output_shape == (None, 4, 3)",
    ),
    Example(
        before="import keras\n\nlength = max(4, 3)\n"
        "model = keras.Sequential([keras.layers.Embedding(10, 3, input_length=length)])",
        after="import keras\n\nlength = max(4, 3)\n"
        "model = keras.Sequential([keras.Input(shape=(length,)), keras.layers.Embedding(10, 3)])",
        unsafe=True,
        check="assert model.output_shape == (None, 4, 3)",
    ),
    # Of recurrent layers it is the last part of the shape.
    Example(
        before="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.layers.SimpleRNN(3, input_length=5, input_dim=4, activation='relu'))\n"
        "model.add(keras.layers.Dense(1))",
        after="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.Input(shape=(5, 4)))\n"
        "model.add(keras.layers.SimpleRNN(3, activation='relu'))\n"
        "model.add(keras.layers.Dense(1))",
        raises="ValueError: Unrecognized keyword arguments passed to SimpleRNN: "
        "{'input_length': 5}",
        on_keras_2=True,
        check="assert model.input_shape == (None, 5, 4)",
    ),
    Example(
        before="from tensorflow.keras import layers, models\n\n"
        "model = models.Sequential([layers.LSTM(3, input_dim=4), layers.Dense(1)])",
        after="from tensorflow.keras import Input, layers, models\n\n"
        "model = models.Sequential([Input(shape=(None, 4)), layers.LSTM(3), layers.Dense(1)])",
        raises="ValueError: Input 0 with name 'None' of layer 'lstm' is incompatible with the "
        "layer: expected ndim=3, found ndim=2",
        on_keras_2=True,
        check="assert model.input_shape == (None, None, 4)",
    ),
    Example(
        before="import keras\n\nsteps, features = 5, 4\nmodel = keras.Sequential([\n"
        "    keras.layers.GRU(3, input_dim=features, input_length=steps),\n])",
        after="import keras\n\nsteps, features = 5, 4\nmodel = keras.Sequential([\n"
        "    keras.Input(shape=(steps, features)),\n    keras.layers.GRU(3),\n])",
        raises="ValueError: Unrecognized keyword arguments passed to GRU: {'input_length': ",
        on_keras_2=True,
        unsafe=True,
        check="assert model.input_shape == (None, 5, 4)",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential([\n"
        "    keras.layers.RNN(keras.layers.LSTMCell(3), input_dim=4),\n])",
        after="import keras\n\nmodel = keras.Sequential([\n"
        "    keras.Input(shape=(None, 4)),\n"
        "    keras.layers.RNN(keras.layers.LSTMCell(3)),\n])",
        raises="ValueError: Shapes used to initialize variables must be fully-defined",
        on_keras_2=True,
        check="assert model.input_shape == (None, None, 4)",
    ),
    Example(
        before="import keras\n\nx = keras.Input((5, 4))\n"
        "y = keras.layers.LSTM(3, input_dim=4, input_length=5, name='read')(x)",
        after="import keras\n\nx = keras.Input((5, 4))\ny = keras.layers.LSTM(3, name='read')(x)",
        raises="ValueError: Unrecognized keyword arguments passed to LSTM: {'input_length': 5}",
        on_keras_2=True,
        check="assert tuple(y.shape) == (None, 3)",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential("
        "[keras.layers.LSTM(3, input_dim=4, input_length=None)])",
        after="import keras\n\nmodel = keras.Sequential("
        "[keras.Input(shape=(None, 4)), keras.layers.LSTM(3)])",
        raises="ValueError: Unrecognized keyword arguments passed to LSTM: {'input_length': ",
        on_keras_2=True,
        check="assert model.input_shape == (None, None, 4)",
    ),
    # To convolutions it was the same up to Keras 2.3.
    Example(
        before="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.layers.Conv1D(3, 2, input_dim=4))\n",
        after="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.Input(shape=(None, 4)))\nmodel.add(keras.layers.Conv1D(3, 2))\n",
        raises="ValueError: Input 0 with name 'None' of layer 'conv1d' is incompatible with the "
        "layer: expected min_ndim=3, found ndim=2",
        check="assert model.output_shape == (None, None, 3)",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential([keras.layers.Convolution1D("
        "3, 2, padding='same', input_dim=4, input_length=5)])\n",
        after="import keras\n\nmodel = keras.Sequential([keras.Input(shape=(5, 4)), "
        "keras.layers.Convolution1D(3, 2, padding='same')])\n",
        raises="ValueError: Unrecognized keyword arguments passed to Conv1D: {'input_length': 5}",
        check="assert model.output_shape == (None, 5, 3)",
    ),
    Example(
        before="from keras import layers, models\n\nmodel = models.Sequential()\n"
        "model.add(layers.SpatialDropout2D(0.2, input_shape=(5, 5, 1)))\n",
        after="from keras import Input, layers, models\n\nmodel = models.Sequential()\n"
        "model.add(Input(shape=(5, 5, 1)))\nmodel.add(layers.SpatialDropout2D(0.2))\n",
        raises="TypeError: SpatialDropout2D.__init__() got an unexpected keyword argument "
        "'input_shape'",
        on_keras_2=True,
        check="assert model.output_shape == (None, 5, 5, 1)",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.LSTM(3, input_length=5)",
        raises="ValueError: Unrecognized keyword arguments passed to LSTM: {'input_length': 5}",
    ),
]
