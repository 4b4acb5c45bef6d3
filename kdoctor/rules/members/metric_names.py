"""``history.history["acc"]`` after ``metrics=["accuracy"]``: a metric is called what you called it.

## What it does
Reports the keys `acc` and `val_acc` (or `accuracy` and `val_accuracy`) of a history and of the
`logs` of a callback, and the same as `monitor=` of a callback or in the path of a
`ModelCheckpoint`, where each `compile` of the file names the metric the other way.

## Why it breaks
Up to Keras 2.2 the name of the accuracy was `acc`, however it was asked for. Since 2.3 it is the
text that was passed to `compile`: `KeyError: 'acc'`. A callback that monitors such a name finds
nothing to monitor: `ModelCheckpoint(monitor='val_acc')` is `ValueError` on Keras 3 while it cannot
tell which way is up, and with `mode='max'` it warns and never saves. `logs.get('acc')` is None, and
a path with `{val_acc:.2f}` cannot be written out.

## What to write instead
The name that `compile` was given: `metrics=["accuracy"]` gives `accuracy` and `val_accuracy`,
`metrics=["acc"]` gives `acc` and `val_acc`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with both names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

import libcst as cst

from kdoctor.model import Confidence, Finding, Fix, Severity
from kdoctor.rules.calls import argument, value_of
from kdoctor.rules.facts import Facts
from kdoctor.rules.logs import NO_PATH, fields_of_paths, keys_of_logs, monitored, renamed
from kdoctor.rules.members._fallbacks import has_a_fallback
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import Trigger, word
from kdoctor.syntax import Module
from kdoctor.syntax.glimpse import Called, Glimpse

_NAMES = {"acc": "accuracy", "accuracy": "acc"}
_KEYS = frozenset(f"{prefix}{name}" for prefix in ("", "val_") for name in _NAMES)
_FIELD = re.compile(r"\{((?:val_)?acc(?:uracy)?)(?=[:!}])")


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each key and each monitored name that no metric of the file has."""
    named = _named_by_compile(module)
    if named is None or len(named & _NAMES.keys()) != 1:
        return
    for node, name in fields_of_paths(module, _FIELD):
        metric = name.removeprefix("val_")
        if metric not in named and not module.is_guarded(node):
            new = name.removesuffix(metric) + _NAMES[metric]
            yield _finding(module, facts, node, name, new, NO_PATH)
    keys = [
        (node, what)
        for node, what in keys_of_logs(module)
        if node.raw_value.removeprefix("val_") in _NAMES and not has_a_fallback(module, node, _KEYS)
    ]
    for node, what in (*keys, *monitored(module)):
        old = node.raw_value
        metric = old.removeprefix("val_")
        if metric in _NAMES and metric not in named and not module.is_guarded(node):
            new = old.removesuffix(metric) + _NAMES[metric]
            yield _finding(module, facts, node, old, new, what)


def _named_by_compile(module: Module) -> set[str] | None:
    """Return the metrics that are named in this file, None where one is not written out."""
    found: set[str] = set()
    for node in module.nodes(cst.Call):
        if not isinstance(node.func, cst.Attribute):
            continue
        if node.func.attr.value != "compile" or module.qualified(node.func) is not None:
            continue
        metrics = argument(node, "metrics")
        if metrics is None:
            if any(each.star for each in node.args) or len(node.args) > 2:
                return None
            continue
        value = value_of(module, metrics.value)
        if not isinstance(value, cst.List | cst.Tuple):
            return None
        for each in value.elements:
            if isinstance(each.value, cst.SimpleString):
                found.add(each.value.raw_value)
            elif not isinstance(each.value, cst.Call | cst.Name | cst.Attribute):
                return None
    return found


def _may_be_called_otherwise(glimpse: Glimpse, _: Facts) -> bool:
    """Say whether a `compile` names such a metric, and something is asked for such a name."""
    return any(map(partial(_names_accuracy, glimpse), glimpse.calls_of("compile"))) and (
        any(_is_name(each.slice) for each in glimpse.nodes.get(ast.Subscript, ()))
        or any(map(_is_name, chain.from_iterable(each.values for each in glimpse.calls)))
        or any(map(_FIELD.search, glimpse.strings))
    )


def _names_accuracy(glimpse: Glimpse, called: Called) -> bool:
    return called.is_attribute and any(
        isinstance(value, ast.List | ast.Tuple) and any(map(_is_name, value.elts))
        for value in glimpse.values_of(called.argument("metrics"))
    )


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (
        isinstance(node.value, str) and node.value.removeprefix("val_") in _NAMES
    )


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module, facts: Facts, node: cst.SimpleString, old: str, new: str, what: str
) -> Finding:
    quoted = [f"{node.quote}{each}{node.quote}" for each in (new, old)]
    proof = facts.applicability(*(each for each in INVALID if each.after))
    return rule.finding(
        module.place(node),
        f"the metrics of this file are called otherwise: {what}",
        symbol=f"History.history[{old}]",
        confidence=Confidence.LIKELY,
        help=f"`compile` names the metric, and so it is `{new}`.",
        fix=Fix(
            f"Write {quoted[0]} instead of {quoted[1]}",
            (renamed(module, node, old, new),),
            proof,
        ),
    )


rule = Rule(
    code="KD215",
    name="metric-names",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=word("acc", "val_acc")
    & word("accuracy", "val_accuracy")
    & word("compile")
    & Trigger(_may_be_called_otherwise),
)

VALID = [
    (
        "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse', metrics=['acc'])\n"
        "model.fit(x).history['val_acc']"
    ),
    (
        "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse', metrics=metrics)\n"
        "model.fit(x).history['acc']"
    ),
    # Nobody knows what these logs are, and these names are metrics.
    (
        "import keras\n\n\nclass Stop:\n    def on_epoch_end(self, epoch, logs=None):\n"
        "        logs.get('acc')\n\n\nclass Seen(keras.callbacks.Callback):\n"
        "    def seen(self, logs):\n        return logs['acc']\n\n\n"
        "model.compile('sgd', metrics=['accuracy'])\n"
        "keras.callbacks.ModelCheckpoint('{val_accuracy:.2f}.keras')"
    ),
    # Both are there.
    (
        "import keras\na.compile('sgd', 'mse', metrics=['acc'])\n"
        "b.compile('sgd', 'mse', metrics=['accuracy'])\nb.fit(x).history['acc']"
    ),
    (
        "import keras\nmodel = keras.Sequential()\n"
        "model.compile('sgd', 'mse', metrics=['accuracy'])\nresults['acc'], logs.get('acc')"
    ),
    (
        "import keras\nmodel = keras.Sequential()\n"
        "model.compile('sgd', 'mse', metrics={'a': 'acc'})\n"
        "model.fit(x).history['a_acc']"
    ),
    (
        "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse')\n"
        "model.fit(x).history['acc']"
    ),
    (
        "import keras\nmodel.compile('sgd', metrics=['accuracy'])\n"
        "keras.callbacks.EarlyStopping('val_loss')"
    ),
    # The file knows both names.
    *(
        "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', metrics=['accuracy'])\n"
        f"h = model.fit(x)\n{read}"
        for read in (
            "h.history['acc'] if 'acc' in h.history else h.history['accuracy']",
            "h.history.get('accuracy', h.history.get('acc'))",
            "h.history.get('acc', h.history.get('accuracy'))",
            "h.history.get('acc') or h.history['accuracy']",
            "if 'acc' in h.history:\n    h.history['acc']\nelse:\n    h.history['accuracy']",
            "if 'accuracy' not in h.history:\n    print(h.history['acc'])",
            "try:\n    h.history['acc']\nexcept KeyError:\n    h.history['accuracy']",
            "try:\n    h.history['accuracy']\nexcept (KeyError, TypeError):\n    h.history['acc']",
        )
    ),
]
_MODEL = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 3)), np.ones((4, 1))\n"
    "model = keras.Sequential([keras.layers.Dense(1)])\n"
)
_ACCURACY = f"{_MODEL}model.compile('sgd', 'mse', metrics=['accuracy'])\n"
INVALID = [
    Example(
        before=f"{_ACCURACY}history = model.fit(x, y, validation_split=0.5, verbose=0)\n"
        "both = history.history['acc'] + history.history[\"val_acc\"]",
        after=f"{_ACCURACY}history = model.fit(x, y, validation_split=0.5, verbose=0)\n"
        "both = history.history['accuracy'] + history.history[\"val_accuracy\"]",
        raises="KeyError: 'acc'",
        findings=2,
        check="assert len(both) == 2",
    ),
    Example(
        before=f"{_MODEL}model.compile('sgd', 'mse', metrics=['acc', 'mae'])\n"
        "seen = model.fit(x, y, verbose=0).history\nlast = seen['accuracy'][-1]",
        after=f"{_MODEL}model.compile('sgd', 'mse', metrics=['acc', 'mae'])\n"
        "seen = model.fit(x, y, verbose=0).history\nlast = seen['acc'][-1]",
        raises="KeyError: 'accuracy'",
    ),
    Example(
        before=f"{_ACCURACY}save = keras.callbacks.ModelCheckpoint('a.keras', 'val_acc', 0, True)\n"
        "model.fit(x, y, validation_split=0.5, callbacks=[save], verbose=0)",
        after=f"{_ACCURACY}"
        "save = keras.callbacks.ModelCheckpoint('a.keras', 'val_accuracy', 0, True)\n"
        "model.fit(x, y, validation_split=0.5, callbacks=[save], verbose=0)",
        raises="ValueError: ModelCheckpoint callback received monitor=val_acc",
        check="assert save.best is not None",
    ),
    Example(
        before=f"{_ACCURACY}stop = keras.callbacks.EarlyStopping(monitor='acc', mode='max')\n"
        "model.fit(x, y, callbacks=[stop], verbose=0)",
        after=f"{_ACCURACY}stop = keras.callbacks.EarlyStopping(monitor='accuracy', mode='max')\n"
        "model.fit(x, y, callbacks=[stop], verbose=0)",
        check="assert stop.best is not None",
    ),
    Example(
        before="import keras\n\nseen = []\n\n\nclass Seen(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n        seen.append(logs.get('acc'))\n\n\n"
        f"{_ACCURACY}model.fit(x, y, callbacks=[Seen()], verbose=0)",
        after="import keras\n\nseen = []\n\n\nclass Seen(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        seen.append(logs.get('accuracy'))\n\n\n"
        f"{_ACCURACY}model.fit(x, y, callbacks=[Seen()], verbose=0)",
        check="assert seen[-1] is not None",
    ),
    Example(
        before=f"{_ACCURACY}"
        "save = keras.callbacks.ModelCheckpoint('best-{epoch}-{val_acc:.2f}.keras')\n"
        "model.fit(x, y, validation_split=0.5, callbacks=[save], verbose=0)",
        after=f"{_ACCURACY}"
        "save = keras.callbacks.ModelCheckpoint('best-{epoch}-{val_accuracy:.2f}.keras')\n"
        "model.fit(x, y, validation_split=0.5, callbacks=[save], verbose=0)",
        raises="KeyError: 'Failed to format this callback filepath",
    ),
]
