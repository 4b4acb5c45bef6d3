"""`history.history["lr"]`: the learning rate is now logged as `learning_rate`.

## What it does
Reports the key `lr` of a history, and of the `logs` of a callback, in a file that creates a
`LearningRateScheduler` or a `ReduceLROnPlateau`.

## Why it breaks
These two callbacks write the learning rate into the logs of each epoch. In Keras 2 the key was
`lr`, in Keras 3 it is `learning_rate`: `KeyError: 'lr'`, and `logs.get("lr")` is None.

## What to write instead
`history.history["learning_rate"]`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with both callbacks.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import instances
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.logs import is_written, keys_of_logs
from kdoctor.analysis.triggers import string, word
from kdoctor.model import Confidence, Finding, Severity
from kdoctor.rules.fixes.log_names import write_log_name
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_OLD, _NEW = "lr", "learning_rate"
_WRITERS = ("LearningRateScheduler", "ReduceLROnPlateau")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such key where only Keras can have written it."""
    asked = [each for each in keys_of_logs(module) if each[0].raw_value == _OLD]
    if not asked or not _is_written_by_keras(module, facts) or _is_own(module):
        return
    for node, what in asked:
        if not module.is_guarded(node):
            yield _finding(module, node, what)


def _is_written_by_keras(module: Module, facts: TargetFacts) -> bool:
    return any(made.cls in _WRITERS for _, _, made in instances(module, Kind.CALLBACK, facts))


def _is_own(module: Module) -> bool:
    """Say whether the file may write that key itself, by a callback or a metric so called."""
    return is_written(module, _OLD) or any(
        each.name.value == _OLD for each in module.nodes(cst.FunctionDef)
    )


def _finding(module: Module, node: cst.SimpleString, what: str) -> Finding:
    return rule.finding(
        module.place(node),
        f"the learning rate is logged as `{_NEW}`: {what}",
        symbol=f"History.history[{_OLD}]",
        confidence=Confidence.LIKELY,
        help=f"Use `{_NEW}`.",
        fix=write_log_name(module, node, _OLD, _NEW, rule.applicability()),
    )


rule = Rule(
    code="KD441",
    name="rate-in-logs",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=string(_OLD) & word(*_WRITERS),
    since="3.0",
)

_MODEL = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 3)), np.ones((4, 1))\n"
    "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
)
_SLOWER = "slower = keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))\n"

VALID = [
    _MODEL + "model.fit(x, y).history['lr']",
    _MODEL + _SLOWER + "model.fit(x, y, callbacks=[slower]).history['learning_rate']",
    _MODEL + _SLOWER + "settings = {'lr': 1}\nprint(settings['lr'])",
    # Somebody else writes it.
    (
        "import keras\n\n\nclass Rate(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n        logs['lr'] = 0.1\n\n\n"
        f"{_MODEL}{_SLOWER}model.fit(x, y, callbacks=[Rate()]).history['lr']"
    ),
    (
        "import keras\n\n\nclass Rate(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n        logs.update({'lr': 0.1})\n\n\n"
        f"{_MODEL}{_SLOWER}model.fit(x, y, callbacks=[Rate()]).history['lr']"
    ),
    (
        f"{_MODEL}{_SLOWER}\n\ndef lr(y_true, y_pred):\n    return 0.1\n\n\n"
        "model.compile('sgd', 'mse', metrics=[lr])\nmodel.fit(x, y).history['lr']"
    ),
    (_MODEL + _SLOWER).replace("import keras", "import tf_keras as keras")
    + "model.fit(x, y, callbacks=[slower]).history['lr']",
]
INVALID = [
    Example(
        before=f"{_MODEL}{_SLOWER}history = model.fit(x, y, verbose=0, callbacks=[slower])\n"
        'rates = history.history["lr"]',
        after=f"{_MODEL}{_SLOWER}history = model.fit(x, y, verbose=0, callbacks=[slower])\n"
        'rates = history.history["learning_rate"]',
        raises="KeyError: 'lr'",
        on_keras_2=True,
        same="[round(float(each), 5) for each in rates]",
    ),
    Example(
        before="from tensorflow import keras\n\nseen = []\n\n\n"
        "class Seen(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n        seen.append(logs.get('lr'))\n\n\n"
        f"{_MODEL.replace('import keras', 'from tensorflow import keras')}"
        "slower = keras.callbacks.ReduceLROnPlateau('loss')\n"
        "model.fit(x, y, verbose=0, callbacks=[slower, Seen()])",
        after="from tensorflow import keras\n\nseen = []\n\n\n"
        "class Seen(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        seen.append(logs.get('learning_rate'))\n\n\n"
        f"{_MODEL.replace('import keras', 'from tensorflow import keras')}"
        "slower = keras.callbacks.ReduceLROnPlateau('loss')\n"
        "model.fit(x, y, verbose=0, callbacks=[slower, Seen()])",
        on_keras_2=True,
        same="[round(float(each or 0), 5) for each in seen]",
    ),
]
