"""`LSTM(4)(inputs=x)`: recurrent layers now call their input `sequences`, and have no `constants`.

## What it does
Reports calls of Keras recurrent layers (`LSTM`, `GRU`, `RNN`, `Bidirectional`, the `ConvLSTM`s,
`SimpleRNNCell`) that pass their input as `inputs=`, or that pass `constants=`.

## Why it breaks
In Keras 2 the input of every layer was called `inputs`. In Keras 3 recurrent layers call it
`sequences`, and their cells call it `sequence`: `TypeError: missing a required argument:
'sequences'`. `constants=`, which passed the same tensors to every step of a cell, was removed:
`TypeError: got an unexpected keyword argument 'constants'`.

## What to write instead
Pass the input by position, which works on both: `LSTM(4)(x, mask=mask)`. Values that are the same
for every step can be repeated and concatenated to the input, or stored in the cell.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with each of these layers, symbolically and with values. All
other Keras layers accept `inputs=` on both. The names are read from the release.
"""

from __future__ import annotations

from typing import Final

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.queries import Argument, Instance, applications
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.members.call_of_recurrent_layer import RECURRENT
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_INPUT: Final = "inputs"
_CONSTANTS: Final = "constants"
_CALLS: Final = applications(
    [Instance(Kind.LAYER, cls) for cls in RECURRENT | {"SimpleRNNCell"}]
).even(hidden=True)


@rule(
    "KD324",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_CALLS.argument(_INPUT) | _CALLS.argument(_CONSTANTS),
)
def check(given: Argument) -> Finding | None:
    """Report each keyword that such a layer does not take."""
    takes = _parameters(given)
    if not takes or given.keyword in takes:
        return None
    if given.keyword == _INPUT:
        error = f"missing a required argument: '{takes[0]}'"
        fix = _by_position(given, takes[0])
    else:
        error = f"got an unexpected keyword argument '{given.keyword}'"
        fix = _left_out(given)
    return given.finding(
        f"calling `{given.cls}` with `{given.keyword}=` no longer works: TypeError: {error}",
        at=given.arg,
        symbol=f"{given.cls}.call({given.keyword})",
        help=f"{fix.title}."
        if isinstance(fix, Fix)
        else "Concatenate what is the same for each step to the input, or store it in the cell.",
        fix=fix,
    )


def _parameters(given: Argument) -> list[str] | None:
    """Return what the ``call`` of a recurrent layer of Keras 3 itself takes."""
    layer, facts = given.owner, given.facts
    if layer is None or layer.qualified is None or not layer.is_of_imported_class:
        return None
    if not is_keras_3(facts, layer.qualified):
        return None
    found = facts.lookup(layer.qualified)
    qualified = found.moved_to[0] if found.moved_to else found.qualified
    signature = facts.signature(f"{qualified}.call")
    return None if signature is None else [each.name for each in signature.parameters]


def _by_position(given: Argument, first: str) -> Fix | NoFix:
    assert given.arg.keyword is not None
    place = given.module.span(given.arg.keyword)
    if given.call.args[0] is given.arg:
        edit = Edit(Span(place.start, given.module.outer_span(given.node).start), ("",))
        return given.fix("Pass the input by position", edit)
    return given.fix(f"Write `{first}=` instead of `{_INPUT}=`", Edit(place, (first,)))


def _left_out(given: Argument) -> Fix | NoFix:
    """Leave out ``constants=None``, which says nothing."""
    edits = None
    if literal(given.node) is None:
        edits = remove_arguments(given.module, given.call, [given.arg])
    if edits is None:
        return NoFix("the cell must receive it in another way")
    return given.fix(f"Leave out `{_CONSTANTS}=None`", *edits)


_X = "import keras\n\nx = keras.Input((5, 3))\n"
_REQUIRED = "TypeError: missing a required argument: 'sequences'"
_SHAPE = "tuple(y.shape)"
_CELL = (
    "import keras\n\n\nclass Cell(keras.layers.Layer):\n    def __init__(self):\n"
    "        super().__init__()\n        self.state_size = self.output_size = 3\n\n"
    "    def call(self, x, states, constants):\n"
    "        return x + states[0] + constants[0], [x]\n\n\n"
    "x, c = keras.Input((5, 3)), keras.Input((3,))\n"
)

VALID = [
    _X + "y = keras.layers.LSTM(4)(x, mask=None)",
    # All others take it, and models do.
    _X + "y = keras.layers.Dense(4)(inputs=x)\ny = keras.layers.Resizing(2, 2)(inputs=x)\n"
    "y = keras.layers.TimeDistributed(keras.layers.Dense(2))(inputs=x)\n"
    "y = keras.Model(inputs=x, outputs=y)(inputs=x)\n"
    "y = keras.layers.GRUCell(2)(inputs=keras.ops.ones((2, 3)), states=[keras.ops.ones((2, 2))])",
    # What the user's own takes is their matter.
    _X + "\n\nclass Mine(keras.layers.LSTM):\n"
    "    def __call__(self, inputs, constants=None):\n        return super().__call__(inputs)\n\n\n"
    "y = Mine(4)(inputs=x, constants=None)\n",
    # It makes the layer, or nobody knows what is called.
    "import keras\n\n\ndef made(layer, x):\n    return layer(inputs=x, constants=[x])",
    _X + "try:\n    y = keras.layers.GRU(4)(inputs=x)\nexcept TypeError:\n"
    "    y = keras.layers.GRU(4)(x)",
    (_X + "y = keras.layers.LSTM(4)(inputs=x)").replace("keras", "tf_keras"),
]
INVALID = [
    Example(
        before=_X + "y = keras.layers.LSTM(4)(inputs=x)",
        after=_X + "y = keras.layers.LSTM(4)(x)",
        raises=_REQUIRED,
        on_keras_2=True,
        same=_SHAPE,
    ),
    Example(
        before="from tensorflow import keras\n\nx = keras.Input((5, 3))\nm = keras.Input((5,), "
        "dtype='bool')\nh, c = keras.Input((4,)), keras.Input((4,))\n"
        "lstm = keras.layers.LSTM(4, return_state=True)\n"
        "y, *states = lstm(\n    inputs=(x),  # the steps\n    mask=m, initial_state=[h, c]\n)",
        after="from tensorflow import keras\n\nx = keras.Input((5, 3))\nm = keras.Input((5,), "
        "dtype='bool')\nh, c = keras.Input((4,)), keras.Input((4,))\n"
        "lstm = keras.layers.LSTM(4, return_state=True)\n"
        "y, *states = lstm(\n    (x),  # the steps\n    mask=m, initial_state=[h, c]\n)",
        raises=_REQUIRED,
        on_keras_2=True,
        same=_SHAPE,
    ),
    Example(
        before=_X + "y = keras.layers.Bidirectional(keras.layers.GRU(4))(mask=None, inputs=x)",
        after=_X + "y = keras.layers.Bidirectional(keras.layers.GRU(4))(mask=None, sequences=x)",
        raises=_REQUIRED,
        on_keras_2=True,
        same=_SHAPE,
    ),
    # In a layer of one's own.
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Layer):\n    def __init__(self):\n"
        "        super().__init__()\n        self.gru = keras.layers.GRU(4)\n\n"
        "    def call(self, x):\n        return self.gru(inputs=x)\n\n\n"
        "y = Mine()(keras.Input((5, 3)))",
        after="import keras\n\n\nclass Mine(keras.layers.Layer):\n    def __init__(self):\n"
        "        super().__init__()\n        self.gru = keras.layers.GRU(4)\n\n"
        "    def call(self, x):\n        return self.gru(x)\n\n\n"
        "y = Mine()(keras.Input((5, 3)))",
        raises="TypeError: ",
        on_keras_2=True,
        same=_SHAPE,
    ),
    Example(
        before=_X.replace("(5, 3)", "(5, 8, 8, 3)")
        + "y = keras.layers.ConvLSTM2D(2, 3, recurrent_activation='sigmoid')(inputs=x)",
        after=_X.replace("(5, 3)", "(5, 8, 8, 3)")
        + "y = keras.layers.ConvLSTM2D(2, 3, recurrent_activation='sigmoid')(x)",
        raises=_REQUIRED,
        on_keras_2=True,
        same=_SHAPE,
    ),
    Example(
        before="import keras\n\nx, s = keras.ops.ones((2, 3)), keras.ops.ones((2, 4))\n"
        "y, _ = keras.layers.SimpleRNNCell(4)(inputs=x, states=[s])",
        after="import keras\n\nx, s = keras.ops.ones((2, 3)), keras.ops.ones((2, 4))\n"
        "y, _ = keras.layers.SimpleRNNCell(4)(x, states=[s])",
        raises="TypeError: missing a required argument: 'sequence'",
    ),
    Example(
        before=_X + "y = keras.layers.RNN(keras.layers.LSTMCell(4))(x, constants=None)",
        after=_X + "y = keras.layers.RNN(keras.layers.LSTMCell(4))(x)",
        raises="TypeError: got an unexpected keyword argument 'constants'",
        on_keras_2=True,
        same=_SHAPE,
    ),
    Example(
        before=_CELL + "y = keras.layers.RNN(Cell())(x, constants=[c])",
        raises="TypeError: got an unexpected keyword argument 'constants'",
        on_keras_2=True,
    ),
]
