"""``history.history["acc"]`` after ``metrics=["accuracy"]``: the key is the name you passed.

## What it does
Reports the keys `acc` and `val_acc` (or `accuracy` and `val_accuracy`) of a history and of a
callback's `logs`, and the same names as `monitor=` of a callback or in the path of a
`ModelCheckpoint`, if each `compile` in the file uses the other name. With `metrics={"caps":
"accuracy"}` these are `caps_acc` and `val_caps_acc`. The same goes for `mean_absolute_error` after
`metrics=["mae"]`, and for the squared, percentage and logarithmic errors.

## Why it breaks
Up to Keras 2.2 accuracy was always named `acc`, however it was requested, and other metrics had the
name of their function. Since 2.3 the name is the string that was passed to `compile`: `KeyError:
'acc'`. A callback that monitors the old name finds nothing: `ModelCheckpoint(monitor='val_acc')`
raises `ValueError` on Keras 3, because it cannot tell whether higher is better, and with
`mode='max'` it warns and never saves. `logs.get('acc')` is None, and a path with `{val_acc:.2f}`
cannot be formatted.

## What to write instead
The name that was passed to `compile`: `metrics=["accuracy"]` gives `accuracy` and `val_accuracy`,
`metrics=["acc"]` gives `acc` and `val_acc`. If the model has several outputs, the name of the
output comes first.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with both names of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import chain
from operator import or_

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import keyword, text, word
from kdoctor.analysis.training.logs import (
    NO_PATH,
    fields_of_paths,
    keys_of_logs,
    monitored,
)
from kdoctor.analysis.training.loss_names import LONG_NAMES
from kdoctor.analysis.triggers import Trigger
from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding, Severity
from kdoctor.rules.fixes.log_names import renamed
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.members._log_key_fallbacks import has_a_fallback
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_NAMES = {
    "acc": ("accuracy",),
    "accuracy": ("acc",),
    **{
        long: tuple(short for short, other in LONG_NAMES.items() if other == long)
        for long in LONG_NAMES.values()
        if long.startswith("mean_")
    },
}
"""What stands in the logs by the names on the right, where these are what `compile` was given."""
_GIVEN = frozenset(chain.from_iterable(_NAMES.values()))
_ANY = "|".join(sorted(_NAMES, key=len, reverse=True))
_KEY = pattern(rf"(?P<output>\w+_)?(?P<leaf>{_ANY})")
_ENDING = pattern(rf"(?<![a-zA-Z0-9])(?:{'|'.join(sorted({*_NAMES, *_GIVEN}))})(?!\w)")
_FIELD = pattern(rf"\{{((?:\w+_)?(?:{_ANY}))(?=[:!}}])")


def _writes(name: str) -> Trigger:
    return text(lambda written: name in _ENDING.findall(written))


@rule(
    "KD215",
    severity=Severity.ERROR,
    only_alone=True,
    look_for=files(
        word("compile"),
        keyword("metrics"),
        reduce(or_, (_writes(name) & _writes(each) for name in _NAMES for each in _NAMES[name])),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each key and each monitored name that no metric of the file has."""
    module = file.module
    named = _named_by_compile(module)
    if not named:
        return
    unnamed = _may_be_named(module)
    fields = ((node, name, NO_PATH) for node, name in fields_of_paths(module, _FIELD))
    keys = (
        (node, node.raw_value, what)
        for node, what in keys_of_logs(module)
        if _others(node.raw_value.removeprefix("val_")) & named
        and not has_a_fallback(module, node, _alike(node.raw_value))
    )
    watched = ((node, node.raw_value, what) for node, what in monitored(module))
    for node, old, what in (*fields, *keys, *watched):
        metric = old.removeprefix("val_")
        others = _others(metric) & named
        found = _KEY.fullmatch(metric)
        if found is None or len(others) != 1 or metric in named or found["leaf"] in unnamed:
            continue
        if not module.is_guarded(node):
            yield _finding(file, node, (old, old.removesuffix(metric) + min(others)), what)


def _others(metric: str) -> frozenset[str]:
    """Return how such a metric is called otherwise, nothing of anything else."""
    found = _KEY.fullmatch(metric)
    if found is None:
        return frozenset()
    return frozenset(f"{found['output'] or ''}{each}" for each in _NAMES[found["leaf"]])


def _alike(key: str) -> frozenset[str]:
    """Return the keys that stand beside one in the logs, under each of their names."""
    metric = key.removeprefix("val_")
    return frozenset(
        f"{prefix}{name}" for prefix in ("", "val_") for name in (metric, *_others(metric))
    )


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
        names = _named(value_of(module, metrics.value))
        if names is None:
            return None
        found |= names
    return found


def _may_be_named(module: Module) -> set[str]:
    """Return what metrics may be called that are functions, or are made in the call."""
    return {
        in_snake_case(each.value)
        for node in module.nodes(cst.Call)
        if (given := argument(node, "metrics")) is not None
        for each in descendants(value_of(module, given.value))
        if isinstance(each, cst.Name)
    }


def _named(metrics: cst.BaseExpression) -> set[str] | None:
    """Return what the metrics of one model are called, as far as they are named by a text."""
    if isinstance(metrics, cst.List | cst.Tuple):
        return _texts([each.value for each in metrics.elements])
    if not isinstance(metrics, cst.Dict):
        return None
    found: set[str] = set()
    for each in metrics.elements:
        if not isinstance(each, cst.DictElement) or not isinstance(each.key, cst.SimpleString):
            return None
        of_one = each.value
        several = of_one.elements if isinstance(of_one, cst.List | cst.Tuple) else None
        names = _texts([of_one] if several is None else [one.value for one in several])
        if names is None:
            return None
        found |= {f"{each.key.raw_value}_{name}" for name in names}
    return found


def _texts(values: Iterable[cst.BaseExpression]) -> set[str] | None:
    found: set[str] = set()
    for each in values:
        if isinstance(each, cst.SimpleString):
            found.add(each.raw_value)
        elif not isinstance(each, cst.Call | cst.Name | cst.Attribute):
            return None
    return found


def _finding(file: File, node: cst.SimpleString, names: tuple[str, str], what: str) -> Finding:
    old, new = names
    quoted = [f"{node.quote}{each}{node.quote}" for each in (new, old)]
    return file.finding(
        f"the metrics in this file have another name: {what}",
        at=node,
        symbol=f"History.history[{old}]",
        help=f"`compile` names the metric: it is `{new}`.",
        fix=file.fix(
            f"Write {quoted[0]} instead of {quoted[1]}", renamed(file.module, node, old, new)
        ),
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
    # Of an output of another name, and of one of several models.
    (
        "import keras\nmodel = keras.Sequential()\n"
        "model.compile('sgd', 'mse', metrics={'a': 'accuracy', 'b': ['mae']})\n"
        "seen = model.fit(x).history\nseen['acc'], seen['b_acc'], seen['val_a_accuracy']"
    ),
    (
        "import keras\nmodel = keras.Sequential()\n"
        "model.compile('sgd', 'mse', metrics={'a': 'accuracy', **more})\n"
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
    # The logs have it: of a function, of an object of the class, of a text.
    *(
        "import keras\nmodel = keras.Sequential()\n"
        f"model.compile('sgd', metrics={metrics})\nmodel.fit(x).history['mean_squared_error']"
        for metrics in (
            "['mse', keras.losses.mean_squared_error]",
            "['mse', keras.metrics.MeanSquaredError()]",
            "['mse', 'mean_squared_error']",
            "['mae']",
            "[keras.losses.mse]",
        )
    ),
    # No Keras ever called it so: that is somebody's own.
    (
        "import keras\nmodel = keras.Sequential()\n"
        "model.compile('sgd', metrics=['mean_absolute_error'])\nmodel.fit(x).history['mae']"
    ),
]
_MODEL = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 3)), np.ones((4, 1))\n"
    "model = keras.Sequential([keras.layers.Dense(1)])\n"
)
_ACCURACY = f"{_MODEL}model.compile('sgd', 'mse', metrics=['accuracy'])\n"
_TWO = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 3)), np.ones((4, 1))\n"
    "inputs = keras.Input((3,))\ncaps = keras.layers.Dense(1, name='caps')(inputs)\n"
    "decoded = keras.layers.Dense(3, name='decoded')(inputs)\n"
    "model = keras.Model(inputs, [caps, decoded])\n"
    "model.compile('sgd', ['mse', 'mse'], metrics={'caps': 'accuracy'})\n"
)
_SAVED = "save = keras.callbacks.ModelCheckpoint('a.keras', 'val_caps_acc', mode='max')\n"
_TRAINED = (
    "seen = model.fit(x, [y, x], validation_split=0.5, callbacks=[save], verbose=0).history\n"
)
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
    Example(
        before=f"{_MODEL}model.compile('sgd', 'mse', metrics=['mae', 'MSE'])\n"
        "stop = keras.callbacks.EarlyStopping('val_mean_squared_error', mode='min')\n"
        "history = model.fit(x, y, validation_split=0.5, callbacks=[stop], verbose=0)\n"
        "last = history.history['val_mean_absolute_error'][-1]",
        after=f"{_MODEL}model.compile('sgd', 'mse', metrics=['mae', 'MSE'])\n"
        "stop = keras.callbacks.EarlyStopping('val_MSE', mode='min')\n"
        "history = model.fit(x, y, validation_split=0.5, callbacks=[stop], verbose=0)\n"
        "last = history.history['val_mae'][-1]",
        raises="KeyError: 'val_mean_absolute_error'",
        findings=2,
        check="assert stop.best is not None",
    ),
    Example(
        before=f"{_TWO.replace('accuracy', 'mse')}seen = model.fit(x, [y, x], verbose=0).history\n"
        "last = seen['caps_mean_squared_error'][-1]",
        after=f"{_TWO.replace('accuracy', 'mse')}seen = model.fit(x, [y, x], verbose=0).history\n"
        "last = seen['caps_mse'][-1]",
        raises="KeyError: 'caps_mean_squared_error'",
    ),
    # Of one of several outputs.
    Example(
        before=f"{_TWO}{_SAVED}{_TRAINED}last = seen['caps_acc'][-1]",
        after=f"{_TWO}{_SAVED}{_TRAINED}last = seen['caps_accuracy'][-1]".replace(
            "'val_caps_acc'", "'val_caps_accuracy'"
        ),
        raises="KeyError: 'caps_acc'",
        findings=2,
    ),
]
