"""``self.params["metrics"]`` in a callback: only `epochs`, `steps` and `verbose` remain.

## What it does
Reports reads of `samples`, `nb_sample`, `batch_size`, `metrics`, `do_validation` and `nb_epoch`
from the `params` of a callback.

## Why it breaks
Keras 3 passes callbacks `{'verbose': …, 'epochs': …, 'steps': …}` and nothing else:
`KeyError: 'samples'`.

## What to write instead
`self.params["steps"]` counts batches; the metrics of an epoch are the keys of `logs`; pass anything
else that a callback needs to its `__init__`. Code that checks first (`'samples' in self.params`) is
left alone.

## How we know
Run on Keras 3.15.1: the three keys are what `fit` passes there.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.fallback_helpers import conditions
from kdoctor.value_types import Kind

_HELP = {
    "metrics": "The metrics are the keys of `logs`.",
    "do_validation": "Whether there is validation shows in `logs`: `'val_loss' in logs`.",
    "nb_epoch": "It is now `epochs`.",
}
_OTHERS = ("samples", "nb_sample", "batch_size")
_ALWAYS_THERE = frozenset({"epochs", "steps", "verbose"})


@rule("KD219", severity=Severity.ERROR, since="3.0", look_for=reads("params", on=Kind.CALLBACK))
def check(params: Read) -> Finding | None:
    """Report each key that is not there."""
    key = _key(params)
    if key not in {*_HELP, *_OTHERS} or _is_asked_for(params, key):
        return None
    return params.finding(
        f"the params of a callback no longer have `{key}`: KeyError: '{key}'",
        symbol=f"Callback.params[{key}]",
        help=_HELP.get(key, "`steps` counts batches; pass the rest to the callback itself."),
        fix=NoFix("the callback must get it from somewhere else"),
    )


def _key(params: Read) -> str:
    match params.module.parent(params.node):
        case cst.Subscript(
            value=value,
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))],
        ) if value is params.node:
            return str(key.raw_value)
    return ""


def _is_asked_for(read: Read, key: str) -> bool:
    """Say whether a test around the use tells that the key is there, or never comes out so."""
    module, params = read.module, read.source(read.node)
    child: cst.CSTNode = read.node
    while (parent := module.parent(child)) is not None:
        for test, holds in conditions(parent, child, lambda _: None):
            asked = _keys_asked(module, test, params)
            if key in asked if holds else _ALWAYS_THERE & asked:
                return True
        child = parent
    return False


def _keys_asked(module: Module, test: cst.BaseExpression, params: str) -> set[str]:
    """Return the keys that ``params`` surely has where the test holds: ``'epochs' in params``."""
    match test:
        case cst.BooleanOperation(operator=cst.And()):
            left, right = (_keys_asked(module, each, params) for each in (test.left, test.right))
            return left | right
        case cst.Comparison(
            left=cst.SimpleString() as key,
            comparisons=[cst.ComparisonTarget(operator=cst.In(), comparator=asked)],
        ) if module.source(asked) in {params, f"{params}.keys()"}:
            return {str(key.raw_value)}
    return set()


_CALLBACK = (
    "import keras\n\n\nclass Mine(keras.callbacks.Callback):\n"
    "    def on_epoch_end(self, epoch, logs=None):\n"
)
VALID = [
    f"{_CALLBACK}        print(self.params['steps'], self.params['epochs'], logs['loss'])",
    f"{_CALLBACK}        print(self.params.get('samples'))",
    f"{_CALLBACK}        if 'samples' in self.params:\n            pass",
    (
        f"{_CALLBACK}        if 'samples' in self.params:\n"
        "            print(self.params['samples'])\n"
        "        elif epoch and 'nb_sample' in self.params.keys():\n"
        "            print(self.params['nb_sample'])"
    ),
    (
        f"{_CALLBACK}        epochs = (\n            self.params['epochs']\n"
        "            if 'epochs' in self.params\n"
        "            else self.params['nb_epoch']\n        )"
    ),
    f"{_CALLBACK}        print('samples' in self.params and self.params['samples'])",
    "class Mine:\n    def show(self):\n        return self.params['samples']",
    (
        "import keras\n\n\nclass Mine(keras.callbacks.Callback):\n"
        "    def __init__(self, params):\n        super().__init__()\n"
        "        self.params = params\n\n    def show(self):\n        return self.params['samples']"
    ),
]
INVALID = [
    Example(
        before=f"{_CALLBACK}        print(self.params['metrics'])\n\n\n"
        "mine = Mine()\nmine.set_params({'verbose': 0, 'epochs': 1, 'steps': 1})\n"
        "mine.on_epoch_end(0)",
        raises="KeyError: 'metrics'",
    ),
    Example(
        before=f"{_CALLBACK}        print(self.params['samples'])\n\n\n"
        "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
        "model.fit(x, x, callbacks=[Mine()], verbose=0)",
        raises="KeyError: 'samples'",
        prelude="import numpy as np\n\nx = np.ones((2, 1))",
    ),
]
