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

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import instances, literal, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import names, string, word
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Edit, Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module, ReferenceKind
from kdoctor.value_types import Kind

_NAME = "hard_sigmoid"
_FUNCTION = "activations.hard_sigmoid"
_COMPARISONS = (cst.Comparison, cst.ComparisonTarget, cst.MatchValue)
_ARGUMENTS = ("activation", "recurrent_activation", "inner_activation")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each use."""
    for reference, call, made in instances(module, Kind.LAYER, facts):
        for index, each in enumerate(call.args):
            keyword = each.keyword.value if each.keyword else None
            by_position = made.cls == "Activation" and keyword is None and index == 0
            if (keyword in _ARGUMENTS or by_position) and literal(each.value) == _NAME:
                yield _finding(module, each.value, reference.name, reference.confidence)
    for reference in module.references:
        if (
            reference.kind is ReferenceKind.LOAD
            and _is_it(facts, reference.name)
            and not isinstance(module.parent(reference.node), _COMPARISONS)
        ):
            yield _finding(module, reference.node, reference.name, reference.confidence)


def _is_it(_: TargetFacts, dotted: str) -> bool:
    split = split_root(dotted)
    return split is not None and split[1] == _FUNCTION


def _finding(module: Module, node: cst.CSTNode, symbol: str, confidence: Confidence) -> Finding:
    assert isinstance(node, cst.BaseExpression)
    spelled, need = speller_at(module, node).spell("keras.ops.clip")
    is_argument = isinstance(module.parent(node), cst.Arg)
    function = f"lambda x: {spelled}(0.2 * x + 0.5, 0.0, 1.0)"
    return rule.finding(
        module.place(node),
        "`hard_sigmoid` was `clip(0.2 * x + 0.5, 0, 1)` and is now `relu6(x + 3) / 6`: results "
        "differ by up to 0.067",
        symbol=symbol,
        confidence=confidence,
        help="For weights from Keras 2, use the old formula: `keras.ops.clip(0.2 * x + 0.5, 0.0, "
        "1.0)`.",
        fix=rule.fix(
            "Use the old formula",
            Edit(module.span(node), (function,)),
            imports=(need,),
            unsafe_because="a saved lambda can only be loaded with `safe_mode=False`, and a "
            "newly trained model does not need the old formula",
        )
        if is_argument
        else NoFix("the function is not passed on here"),
    )


rule = Rule(
    code="KD404",
    name="hard-sigmoid-changed",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=string(_NAME) | (word(_NAME) & names(_is_it)),
    since="3.0",
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
