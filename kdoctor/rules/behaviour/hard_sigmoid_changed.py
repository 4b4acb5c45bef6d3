"""`hard_sigmoid` is a different function in Keras 3.

## What it does
Reports `hard_sigmoid` as an activation of Keras layers, by name or as a function, and
`keras.activations.hard_sigmoid` itself.

## Why it breaks
Keras 2 computed `clip(0.2 * x + 0.5, 0, 1)`, Keras 3 computes `relu6(x + 3) / 6`, as PyTorch does.
The slope is 1/6 instead of 1/5, and results differ by up to 0.067. New models train either way; a
model with weights trained on Keras 2 gives different outputs.

## What to write instead
The old formula, if weights from Keras 2 are used:

    @keras.saving.register_keras_serializable()
    def hard_sigmoid_2(x):
        return keras.ops.clip(0.2 * x + 0.5, 0.0, 1.0)

The fix writes it as a lambda. It is unsafe: a lambda can only be loaded with `safe_mode=False`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with `Activation`, `LSTM` and the function itself.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Argument, Name, constructs, references
from kdoctor.analysis.queries.forms import form_of
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import ReferenceKind
from kdoctor.value_types import Kind

_NAME: Final = "hard_sigmoid"
_FUNCTION: Final = "activations.hard_sigmoid"
_COMPARISONS: Final = (cst.Comparison, cst.ComparisonTarget, cst.MatchValue)
_ARGUMENTS: Final = ("activation", "recurrent_activation", "inner_activation")


def _is_called_so(form: object) -> bool:
    return form == _NAME


def _is_it(_: TargetFacts, dotted: str) -> bool:
    split = split_root(dotted)
    return split is not None and split[1] == _FUNCTION


@rule(
    "KD404",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Kind.LAYER).even(hidden=True, guarded=True).arguments(where=_is_called_so)
    | references(_NAME, where=_is_it, guarded=True),
)
def check(used: Argument | Name) -> Finding | None:
    """Report each use."""
    if isinstance(used, Argument):
        is_first = used.cls == "Activation" and used.arg is used.call.args[0]
        is_activation = used.keyword in _ARGUMENTS or (is_first and not used.keyword)
        is_wanted = is_activation and form_of(used.node) == _NAME
    else:
        above = used.module.parent(used.node)
        is_wanted = used.reference.kind is ReferenceKind.LOAD and not isinstance(
            above, _COMPARISONS
        )
    if not is_wanted:
        return None
    return used.finding(
        "`hard_sigmoid` was `clip(0.2 * x + 0.5, 0, 1)` and is now `relu6(x + 3) / 6`: results "
        "differ by up to 0.067",
        symbol=used.name,
        help="For weights from Keras 2, use the old formula: `keras.ops.clip(0.2 * x + 0.5, 0.0, "
        "1.0)`.",
        fix=_old_formula(used),
    )


def _old_formula(used: Argument | Name) -> Fix | NoFix:
    module = used.module
    if not isinstance(module.parent(used.node), cst.Arg):
        return NoFix("the function is not passed on here")
    spelled, need = speller_at(module, used.node).spell("keras.ops.clip")
    function = f"lambda x: {spelled}(0.2 * x + 0.5, 0.0, 1.0)"
    return used.fix(
        "Use the old formula",
        Edit(module.span(used.node), (function,)),
        imports=() if need is None else (need,),
        unsafe_because="a saved lambda can only be loaded with `safe_mode=False`, and a newly "
        "trained model does not need the old formula",
    )


VALID = [
    "import keras\nkeras.layers.LSTM(2, recurrent_activation='sigmoid')",
    "import keras\nkeras.layers.Dense(2, name='hard_sigmoid')",
    "import tf_keras\ntf_keras.layers.Activation('hard_sigmoid')",
    # What is asked of somebody's activation computes nothing.
    "import keras\nif given is keras.activations.hard_sigmoid:\n    slope = 6",
    ("import keras\nmatch given:\n    case keras.activations.hard_sigmoid:\n        slope = 6"),
    "import keras\n\ndef hard_sigmoid(x):\n    return x\n\nkeras.layers.Activation(hard_sigmoid)",
]
INVALID = [
    Example(
        before="import keras\n\nlayer = keras.layers.Activation('hard_sigmoid')\n",
        after="import keras\n\nlayer = keras.layers.Activation("
        "lambda x: keras.ops.clip(0.2 * x + 0.5, 0.0, 1.0))\n",
        unsafe=True,
        on_keras_2=True,
        prelude="import numpy as np\n",
        same="[round(float(v), 5) for v in np.array(layer(np.linspace(-4, 4, 9)))]",
    ),
    Example(
        before="from tensorflow.keras.layers import LSTM\n\n"
        "layer = LSTM(2, recurrent_activation='hard_sigmoid', kernel_initializer='ones')\n",
        after="from tensorflow.keras import ops\nfrom tensorflow.keras.layers import LSTM\n\n"
        "layer = LSTM(2, recurrent_activation=lambda x: ops.clip(0.2 * x + 0.5, 0.0, 1.0), "
        "kernel_initializer='ones')\n",
        unsafe=True,
        on_keras_2=True,
        prelude="import numpy as np\n",
        same="round(float(np.array(layer(np.ones((1, 1, 1), 'float32')))[0, 0]), 5)",
    ),
    Example(
        before="from keras import activations\n\nactivations.hard_sigmoid\n",
    ),
]
