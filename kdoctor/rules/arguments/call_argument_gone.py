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

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, is_keras_3, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, keyword, may_hold
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.members.call_of_recurrent_layer import RECURRENT
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind, Type

_INPUT: Final = "inputs"
_CONSTANTS: Final = "constants"
_LAYERS: Final = RECURRENT | {"SimpleRNNCell"}


class _Refused(Struct, frozen=True):
    """A keyword of a call of a layer. ``first`` is what the layer calls its input."""

    layer: Type
    call: cst.Call
    given: cst.Arg
    first: str


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each keyword that such a layer does not take."""
    for call in module.nodes(cst.Call):
        for name in (_INPUT, _CONSTANTS):
            given = argument(call, name)
            # The cheaper question first: few calls pass one of them.
            if given is None or module.is_guarded(call):
                continue
            layer = module.type_of(call.func)
            takes = None if layer is None else _parameters(facts, layer)
            if layer is not None and takes and name not in takes:
                yield _finding(module, _Refused(layer, call, given, takes[0]))


def _parameters(facts: TargetFacts, layer: Type) -> list[str] | None:
    """Return what the ``call`` of a recurrent layer of Keras 3 itself takes."""
    if layer.kind is not Kind.LAYER or layer.cls not in _LAYERS or layer.qualified is None:
        return None
    if not layer.is_of_imported_class or not is_keras_3(facts, layer.qualified):
        return None
    found = facts.lookup(layer.qualified)
    qualified = found.moved_to[0] if found.moved_to else found.qualified
    signature = facts.signature(f"{qualified}.call")
    return None if signature is None else [each.name for each in signature.parameters]


def _finding(module: Module, refused: _Refused) -> Finding:
    assert refused.given.keyword is not None
    name, cls = refused.given.keyword.value, refused.layer.cls
    if name == _INPUT:
        fix: Fix | None = _by_position(module, refused)
        error = f"missing a required argument: '{refused.first}'"
    else:
        fix = _left_out(module, refused)
        error = f"got an unexpected keyword argument '{name}'"
    return rule.finding(
        module.place(refused.given),
        f"calling `{cls}` with `{name}=` no longer works: TypeError: {error}",
        symbol=f"{cls}.call({name})",
        confidence=Confidence.LIKELY,
        help=f"{fix.title}."
        if fix
        else "Concatenate what is the same for each step to the input, or store it in the cell.",
        fix=fix or NoFix("the cell must receive it in another way"),
    )


def _by_position(module: Module, refused: _Refused) -> Fix:
    assert refused.given.keyword is not None
    place = module.span(refused.given.keyword)
    if refused.call.args[0] is refused.given:
        edit = Edit(Span(place.start, module.outer_span(refused.given.value).start), ("",))
        return rule.fix("Pass the input by position", edit)
    title = f"Write `{refused.first}=` instead of `{_INPUT}=`"
    return rule.fix(title, Edit(place, (refused.first,)))


def _left_out(module: Module, refused: _Refused) -> Fix | None:
    """Leave out ``constants=None``, which says nothing."""
    if literal(refused.given.value) is not None:
        return None
    edits = remove_arguments(module, refused.call, [refused.given])
    if edits is None:
        return None
    return rule.fix(f"Leave out `{_CONSTANTS}=None`", *edits)


def _may_be_called_so(quick: QuickFacts, facts: TargetFacts) -> bool:
    asked = [each for each in quick.calls if each.keywords & {_INPUT, _CONSTANTS}]
    return bool(asked) and may_hold(
        quick,
        facts,
        lambda possible: any(
            layer.cls in _LAYERS
            for each in asked
            for layer in possible.types_in(each.node, each.node.func)
        ),
    )


rule = Rule(
    code="KD324",
    name="call-argument-gone",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword(_INPUT, _CONSTANTS) & Trigger(_may_be_called_so),
    since="3.0",
)

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
