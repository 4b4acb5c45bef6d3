"""Outputs in a dict: the logs use its keys (`price_loss`), no longer the layers' names.

## What it does
Reports keys of a history and of a callback's `logs`, `monitor=` of callbacks, and fields in the
path of a `ModelCheckpoint`, that use a layer's name, if the only functional model of the file is
created with a dict of outputs: `Model(inputs, {"price": Dense(1, name="price_head")(x)})`.

## Why it breaks
Keras 2 named the losses and metrics of an output after its layer: `price_head_loss`. Keras 3 names
them after the key of the dict: `price_loss`. So `history.history["price_head_loss"]` raises
`KeyError`, and a callback that monitors `val_price_head_loss` finds nothing.

## What to write instead
The key of the dict; or give the layer that name, which works on Keras 2 and 3.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with losses and metrics for two outputs, in dicts and lists.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.dataflow.escapes import unmutated_value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.output_names import name_of_output
from kdoctor.analysis.training.logs import is_written, names_in_logs
from kdoctor.analysis.triggers import Trigger, calls_that_make, keyword
from kdoctor.model import Confidence, Finding, Severity
from kdoctor.rules.behaviour._single_item_lists import outputs_of
from kdoctor.rules.fixes.log_names import write_log_name
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_LOSS = "loss"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each use of a name that the logs do not have."""
    keys = _keys_by_layer(module, facts)
    if not keys:
        return
    texts = {each.raw_value for each in module.nodes(cst.SimpleString)}
    for node, name, what in names_in_logs(module):
        new = _renamed(name, keys, texts)
        if new is not None and not is_written(module, name) and not module.is_guarded(node):
            yield _finding(module, node, (name, new), what)


def _keys_by_layer(module: Module, facts: TargetFacts) -> Mapping[str, str]:
    """Return what the logs call each output of the file's one model, by the name of its layer.

    Those that go by one name are left out. Nothing where there is another model, whose outputs may
    be called so, or where a key or a name is not written out.
    """
    made = [
        (call, outputs)
        for call in module.nodes(cst.Call)
        if (outputs := outputs_of(module, call)) is not None
    ]
    if len(made) != 1 or not is_keras_3(facts, module.qualified(made[0][0].func)):
        return {}
    outputs = unmutated_value_of(module, made[0][1])
    if not isinstance(outputs, cst.Dict) or len(outputs.elements) < 2:
        return {}
    names: dict[str, str] = {}
    for each in outputs.elements:
        layer = None if each.value is None else name_of_output(module, each.value)
        key = each.key if isinstance(each, cst.DictElement) else None
        if not isinstance(key, cst.SimpleString) or not isinstance(layer, str):
            return {}
        names[layer] = key.raw_value
    return {} if len(names) < len(outputs.elements) else names


def _renamed(name: str, keys: Mapping[str, str], texts: set[str]) -> str | None:
    """Return what a loss or a metric is called now, None where it is called so or is another."""
    plain = name.removeprefix("val_")
    for layer, key in keys.items():
        rest = plain.removeprefix(f"{layer}_")
        # A metric is asked for by its name somewhere: `metrics={"price": ["mae"]}`.
        is_one = plain != rest and (rest == _LOSS or rest in texts)
        if is_one and plain not in {f"{each}_{rest}" for each in keys.values()}:
            return f"{name.removesuffix(plain)}{key}_{rest}"
    return None


def _finding(module: Module, node: cst.SimpleString, names: tuple[str, str], what: str) -> Finding:
    old, new = names
    return rule.finding(
        module.place(node),
        f"the logs name an output in a dict after its key, not after its layer: {what}",
        symbol=f"History.history[{old}]",
        confidence=Confidence.LIKELY,
        help=f"Write `{new}`.",
        fix=write_log_name(module, node, old, new, rule.applicability()),
    )


def _may_be_called_so(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether outputs are in a dict, and a layer's name is in front of something in a text."""
    outputs = (
        value
        for _, called in calls_that_make(quick, facts, Kind.MODEL, "Functional")
        for value in quick.values_of(called.argument("outputs", 1))
    )
    if not any(isinstance(each, ast.Dict) for each in outputs):
        return False
    names = {
        each.value
        for called in quick.calls_with("name")
        if isinstance(each := called.argument("name"), ast.Constant) and isinstance(each.value, str)
    }
    return any(f"{name}_" in text for name in names for text in quick.strings)


rule = Rule(
    code="KD480",
    name="output-called-by-its-key",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword("name") & Trigger(_may_be_called_so),
    since="3.0",
)

_DATA = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 3)), np.ones((4, 1))\n"
    "data = {'price': y, 'rooms': y}\ninputs = keras.Input((3,))\n"
)
_HEADS = (
    "price = keras.layers.Dense(1, name='price_head')(inputs)\n"
    "rooms = keras.layers.Dense(1, name='rooms_head')(inputs)\n"
)
_MODEL = (
    _DATA + _HEADS + "model = keras.Model(inputs, {'price': price, 'rooms': rooms})\n"
    "model.compile('sgd', {'price': 'mse', 'rooms': 'mse'}, metrics={'price': ['mae']})\n"
)
_FIT = "history = model.fit(x, data, validation_split=0.5, verbose=0).history\n"

VALID = [
    _MODEL + _FIT + "history['price_loss'], history['val_price_mae'], history['loss']",
    # Layers called like the keys.
    _MODEL.replace("_head", "") + _FIT + "history['price_loss']",
    # In a list they are called by their layers, as before.
    _MODEL.replace("{'price': price, 'rooms': rooms}", "[price, rooms]")
    + _FIT
    + "history['price_head_loss']",
    # Another model may have such an output; a name that is not known; one output is `loss` alone.
    _MODEL + "other = keras.Model(inputs, [price, rooms])\n" + _FIT + "history['price_head_loss']",
    _MODEL.replace("name='price_head'", "name=given") + _FIT + "history['price_head_loss']",
    _MODEL.replace(", 'rooms': rooms}", "}") + _FIT + "history['price_head_loss']",
    # A name of one's own.
    _MODEL + _FIT + "history['price_head_of_state']",
    _MODEL + _FIT + "seen = {'price_head_loss': 1}\nseen['price_head_loss']",
    _MODEL.replace("import keras", "import tf_keras as keras")
    + _FIT
    + "history['price_head_loss']",
]
INVALID = [
    Example(
        before=f"{_MODEL}{_FIT}"
        "both = len(history['price_head_loss'] + history[\"val_price_head_mae\"])",
        after=f"{_MODEL}{_FIT}both = len(history['price_loss'] + history[\"val_price_mae\"])",
        raises="KeyError: 'price_head_loss'",
        findings=2,
        on_keras_2=True,
        same="both",
    ),
    Example(
        before=f"{_MODEL}save = keras.callbacks.ModelCheckpoint(\n"
        "    'a.keras', monitor='rooms_head_loss', mode='min', save_best_only=True)\n"
        "model.fit(x, data, callbacks=[save], verbose=0)",
        after=f"{_MODEL}save = keras.callbacks.ModelCheckpoint(\n"
        "    'a.keras', monitor='rooms_loss', mode='min', save_best_only=True)\n"
        "model.fit(x, data, callbacks=[save], verbose=0)",
        on_keras_2=True,
        same="__import__('os').path.exists('a.keras')",
    ),
    Example(
        before=f"{_MODEL}seen = []\n\n\nclass Watch(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        seen.append(logs.get('price_head_loss') is not None)\n\n\n"
        "model.fit(x, data, callbacks=[Watch()], verbose=0)",
        after=f"{_MODEL}seen = []\n\n\nclass Watch(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        seen.append(logs.get('price_loss') is not None)\n\n\n"
        "model.fit(x, data, callbacks=[Watch()], verbose=0)",
        on_keras_2=True,
        same="seen",
    ),
]
