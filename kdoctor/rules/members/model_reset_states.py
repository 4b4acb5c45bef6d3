"""``model.reset_states()``: only layers have it on Keras 3.

## What it does
Reports `.reset_states()` on a model.

## Why it breaks
Up to Keras 2 a model passed the call on to its stateful layers, including those of nested models.
Keras 3 models have no such method: `AttributeError: 'Sequential' object has no attribute
'reset_states'`. Recurrent layers still have it; metrics have `reset_state`.

## What to write instead
A function that does what the old method did:

    def reset_states(model):
        for layer in model.layers:
            if isinstance(layer, keras.Model) and not hasattr(layer, "reset_states"):
                reset_states(layer)
            elif hasattr(layer, "reset_states") and getattr(layer, "stateful", True):
                layer.reset_states()

A loop over `model.layers` alone is not enough: it silently skips the layers of nested models, and a
`Bidirectional` that is not stateful raises `AttributeError: Layer must be stateful.`

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, layer by layer: LSTM, GRU, ConvLSTM2D, Bidirectional, each
stateful and not, in a model, and nested one and two levels deep. A custom layer that has
`reset_states` but no `stateful` is always reset; Keras 2 checked whether anything in it was
stateful. The fix is unsafe if the file has such a class.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import (
    kind_of_class,
    lineage_with_keras_3_base,
    methods_in,
)
from kdoctor.analysis.queries import Read, reads
from kdoctor.keras_api import Presence
from kdoctor.memoize import once
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.fixes.helper_definition import helper_edits, top_statement
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_MEMBER = "reset_states"
_STATEFUL = "stateful"
HELPER = '''def reset_states(model):
    """Do what `model.reset_states()` of Keras 2 did, in inner models, too."""
    for layer in model.layers:
        if isinstance(layer, {model}) and not hasattr(layer, "reset_states"):
            reset_states(layer)
        elif hasattr(layer, "reset_states") and getattr(layer, "stateful", True):
            layer.reset_states()'''


@rule("KD208", severity=Severity.ERROR, since="3.0", look_for=reads(_MEMBER, on=Kind.MODEL))
def check(read: Read) -> Finding:
    """Report each use that the user's own model does not define."""
    return read.finding(
        f"a model no longer has `{_MEMBER}`: {attribute_error(read.owner, _MEMBER)}",
        symbol=symbol(read.owner, _MEMBER),
        help="Reset the stateful layers, including those of nested models: `kdoctor rules "
        "KD208` shows the function.",
        fix=_fix(read),
    )


def _is_it(use: MemberUse) -> bool:
    is_of_a_model = use.owner.kind is Kind.MODEL and use.member == _MEMBER
    return is_of_a_model and not use.owner_defines


def _fix(read: Read) -> Fix | NoFix:
    """Call a function of the file that does what the method did."""
    module, call, owner = read.module, read.called, read.node.value
    if call is None or call.args:
        return NoFix("it is not called here" if call is None else "it is called with arguments")
    span = module.span(call)
    if "#" in module.text[module.outer_span(owner).end : span.end]:
        return NoFix("there is a comment in the call")
    before = top_statement(module, _first(module))
    written, need = speller_at(module, before).spell("keras.Model")
    helper = helper_edits(module, before, _MEMBER, HELPER.format(model=written))
    here, top = module.scope_of(call).owner(_MEMBER), module.scope_of(module.tree)
    if helper is None or (here is not None and here is not top):
        return NoFix(
            f"`{_MEMBER}` cannot be added to this file: the name is taken, or Keras is "
            "not available there"
        )
    model = Hole(module.outer_span(owner), Precedence.ANY, precedence_of(owner))
    edit = Edit(span, (f"{_MEMBER}(", model, ")"), Precedence.PRIMARY)
    return read.fix(
        f"Call `{_MEMBER}`, a new function in this file that does what the method did",
        *helper,
        edit,
        imports=[need],
        unsafe_because=_always_reset(module, read.facts),
    )


@once
def _first(module: Module) -> cst.CSTNode:
    """Return the first use of the file: the function stands above it."""
    return min((each.node for each in module.members if _is_it(each)), key=module.span)


def _always_reset(module: Module, facts: TargetFacts) -> str:
    """Tell of a class whose layers Keras 2 may have passed over; "" where there is none."""
    for node in module.nodes(cst.ClassDef):
        if _MEMBER not in methods_in(node) or _speaks_of_stateful(node):
            continue
        if not _may_be_a_layer(module, node):
            continue
        made = lineage_with_keras_3_base(module, facts, node)[1]
        if made is None or facts.member(made, _STATEFUL) is not Presence.EXISTS:
            return (
                f"`{node.name.value}.{_MEMBER}` is always called; Keras 2 called it only if "
                "something in the layer was stateful"
            )
    return ""


def _may_be_a_layer(module: Module, node: cst.ClassDef) -> bool:
    """Say whether it is made from a layer or model, or from something that is not known."""
    if all(module.source(each.value) == "object" for each in node.bases):
        return False
    return kind_of_class(module, node) in (Kind.LAYER, Kind.MODEL, None)


def _speaks_of_stateful(node: cst.ClassDef) -> bool:
    names = (each.attr for each in descendants(node) if isinstance(each, cst.Attribute))
    return any(each.value == _STATEFUL for each in names)


VALID = [
    "import keras\nkeras.layers.LSTM(3, stateful=True).reset_states()",
    (
        "import keras\nmodel = keras.Sequential()\nfor layer in model.layers:\n"
        "    if hasattr(layer, 'reset_states'):\n        layer.reset_states()"
    ),
    "import tf_keras\ntf_keras.Sequential().reset_states()",
    "import keras\nagent.reset_states()",
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def reset_states(self):\n"
        "        pass\n\n\nMine().reset_states()"
    ),
    (
        "import keras\nmodel = keras.Sequential()\nif hasattr(model, 'reset_states'):\n"
        "    model.reset_states()"
    ),
]
_TOP = "import keras\n\n"
_KERAS_2 = f"{_TOP[:-1]}import tensorflow as tf\n\n"
_IN_FILE = HELPER.format(model="keras.Model")
_MODEL = (
    "lstm = keras.layers.LSTM(3, stateful=True)\n"
    "model = keras.Sequential([keras.Input(batch_shape=(2, 4, 5)), lstm])\n"
    "model(keras.ops.ones((2, 4, 5)))\n"
)
_OLD = (
    "lstm = keras.layers.LSTM(3, stateful=True, return_sequences=True)\n"
    "both = keras.layers.Bidirectional(keras.layers.LSTM(2))\n"
    "{}model(tf.ones((2, 4, 5)))\n"
    "before = float(tf.reduce_sum(tf.abs(lstm.states[0])))\n"
    "{}after = float(tf.reduce_sum(tf.abs(lstm.states[0])))\n"
)
_FLAT = "model = keras.Sequential([lstm, both])\n"
_NESTED = "model = keras.Sequential([keras.Sequential([lstm]), both])\n"
_GONE = "AttributeError: 'Sequential' object has no attribute 'reset_states'"
_MINE = (
    "\n\nclass Mine(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "        self.lstm = keras.layers.LSTM(3, stateful=True)\n\n"
    "    def build(self, shape):\n        self.lstm.build(shape)\n\n"
    "    def call(self, x):\n        return self.lstm(x)\n\n"
    "    def reset_states(self):\n        self.lstm.reset_states()\n\n\n"
    "mine = Mine()\nmodel = keras.Sequential([mine])\nmodel(tf.ones((2, 4, 5)))\n"
)
INVALID = [
    Example(
        before=_KERAS_2 + _OLD.format(_FLAT, "model.reset_states()  # from the start\n"),
        after=_KERAS_2
        + _OLD.format(
            _FLAT, f"\n\n{_IN_FILE}\n\n\nreset_states(model)  # from the start\n"
        ).replace("\n\n\n\ndef", "\n\n\ndef"),
        raises=_GONE,
        check="assert before > 0 and after == 0",
        on_keras_2=True,
    ),
    Example(
        before=_KERAS_2 + _OLD.format(_NESTED, "model.reset_states()\n"),
        after=_KERAS_2 + _OLD.format(_NESTED, f"\n\n{_IN_FILE}\n\n\nreset_states(model)\n"),
        raises=_GONE,
        check="assert before > 0 and after == 0",
        on_keras_2=True,
    ),
    Example(
        before=f"{_TOP}{_MODEL}layer = 3\nfor epoch in range(2):\n    if epoch:\n"
        "        done = 1; model.reset_states()\n    print(layer)",
        after=f"{_TOP}{_MODEL}layer = 3\n\n\n{_IN_FILE}\n\n\nfor epoch in range(2):\n"
        "    if epoch:\n        done = 1; reset_states(model)\n    print(layer)",
        raises=_GONE,
    ),
    Example(
        before=f"{_KERAS_2[:-1]}{_MINE}model.reset_states()\n",
        after=f"{_KERAS_2[:-1]}{_MINE}\n\n{_IN_FILE}\n\n\nreset_states(model)\n",
        raises=_GONE,
        unsafe=True,
        check="assert float(tf.reduce_sum(tf.abs(mine.lstm.states[0]))) == 0",
        on_keras_2=True,
    ),
    Example(before=f"{_TOP}{_MODEL}reset = model.reset_states", raises=_GONE),
]
