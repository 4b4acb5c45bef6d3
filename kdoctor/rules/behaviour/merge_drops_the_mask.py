"""`Add` and its like drop the mask where one of their inputs has none.

## What it does
Reports `Add`, `Subtract`, `Multiply`, `Average`, `Maximum` and `Minimum` (also as functions) on a
list of tensors of which one surely has a mask, as `Embedding(mask_zero=True)` and `Masking` make
it, and another surely has none.

## Why it breaks
Keras 2 left out what has no mask, and went on with the masks that there are. Keras 3 gives no mask
at all: what follows (an `LSTM`, attention, pooling, the loss) takes the padding for data. Nothing
raises, unless a layer of one's own counts on its mask: `AttributeError: 'NoneType' object has no
attribute 'shape'`.

## What to write instead
Say in a subclass which mask goes on:

    class AddKeepingMask(keras.layers.Add):
        def compute_mask(self, inputs, mask=None):
            return None if mask is None else mask[0]

or make the same mask for the other input (`Embedding(..., mask_zero=True)` for both, where both
have the padding at the same places). `Concatenate` keeps the masks as before.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with one masked and one other input for each of the layers.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Finding, Severity
from kdoctor.rules.calls import is_keras_3, value_of
from kdoctor.rules.facts import Facts
from kdoctor.rules.masks import is_lost_anyway, is_masked
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module

MERGING = frozenset({"Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"})
"""The layers whose mask was that of the inputs that have one."""


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each layer that gets both sorts."""
    for call in module.nodes(cst.Call):
        if not call.args:
            continue
        name = _merges(module, facts, call)
        inputs = None if name is None else value_of(module, call.args[0].value)
        if name is None or not isinstance(inputs, cst.List | cst.Tuple):
            continue
        masked = {is_masked(module, each.value) for each in inputs.elements}
        if {True, False} <= masked and not (
            is_lost_anyway(module, call) or module.is_guarded(call)
        ):
            yield rule.finding(
                module.place(call.func),
                f"one input of `{name}` has a mask and another has none: Keras 2 kept the mask, "
                "Keras 3 drops it, and padding is taken for data",
                symbol=f"keras.layers.{name}.compute_mask",
                confidence=Confidence.LIKELY,
                help="Subclass the layer, and let `compute_mask(self, inputs, mask=None)` return "
                "the mask that there is, `mask[0]`; or give the other input the same mask.",
                no_fix_because="which mask is to go on is for you to say",
            )


def _merges(module: Module, facts: Facts, call: cst.Call) -> str | None:
    """Return the name of the merging layer that a call applies, as a layer or as a function."""
    layer = value_of(module, call.func)
    called = layer.func if isinstance(layer, cst.Call) else call.func
    qualified = module.qualified(called)
    split = split_root(qualified or "")
    if split is None or not is_keras_3(facts, qualified):
        return None
    parent, _, leaf = split[1].rpartition(".")
    if parent != "layers":
        return None
    if isinstance(layer, cst.Call):
        return leaf if leaf in MERGING else None
    return leaf.title() if leaf.title() in MERGING and leaf.islower() else None


rule = Rule(
    code="KD425",
    name="merge-drops-the-mask",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers={*MERGING, *(name.lower() for name in MERGING)},
    since="3.0",
)

_HEAD = "import keras\n\nwords = keras.layers.Input((4,))\nkinds = keras.layers.Input((4,))\n"
_MASKED = "a = keras.layers.Embedding(9, 3, mask_zero=True)(words)\n"
_OTHER = "b = keras.layers.Embedding(2, 3)(kinds)\n"
_HAS_MASK = "assert getattr(y, '_keras_mask', None) is not None"

VALID = [
    _HEAD + _MASKED + _OTHER + "y = keras.layers.Concatenate()([a, b])",
    # Nothing looks at a mask behind it.
    _HEAD + _MASKED + _OTHER + "y = keras.layers.Add()([a, b])\n"
    "z = keras.layers.Flatten()(y)\nk = keras.layers.Conv1D(3, 2)(y)",
    _HEAD + _MASKED + _OTHER + "y = keras.layers.Flatten()(keras.layers.add([a, b]))",
    # Both have one, neither has one, nobody knows.
    _HEAD + _MASKED + "y = keras.layers.Add()([a, keras.layers.Dropout(0.1)(a)])",
    _HEAD + _OTHER + "y = keras.layers.add([b, b])",
    _HEAD + _MASKED + "y = keras.layers.Add()([a, other])",
    (
        "from tf_keras.layers import Add, Embedding, Input\n\nx = Input((4,))\n"
        "y = Add()([Embedding(9, 3, mask_zero=True)(x), Embedding(9, 3)(x)])"
    ),
]
INVALID = [
    Example(
        before=_HEAD + _MASKED + _OTHER + "y = keras.layers.Add(name='sum')([a, b])\n",
        check=_HAS_MASK,
        on_keras_2=True,
    ),
    Example(
        before=_HEAD + "both = [\n    keras.layers.Embedding(9, 3, mask_zero=True)(words),\n"
        "    keras.layers.Embedding(2, 3)(kinds),\n]\n"
        "both[0] = keras.layers.Dropout(0.1)(both[0])\ny = keras.layers.multiply(both)\n",
        check=_HAS_MASK,
        on_keras_2=True,
    ),
]
