"""``model.compiled_metrics.metrics``: `compiled_metrics` now has only `update_state`.

## What it does
Reports every other member that is read from a model's `compiled_metrics`.

## Why it breaks
Keras 3 keeps `compiled_metrics` for Keras 2 training steps, which call its `update_state` (with a
deprecation warning). It has no other members: `AttributeError: 'DeprecatedCompiledMetric' object
has no attribute 'metrics'`.

## What to write instead
The metrics that were passed to `compile` are nested inside one metric of the model:

    metrics = [
        metric for each in model.metrics for metric in getattr(each, "metrics", [each])
    ]

Their values, by name, are `model.get_metrics_result()`, and `model.reset_metrics()` resets them.

## How we know
Run on Keras 3.15.1; on tf_keras 2.21 the same lines give the same metrics.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_HELP = {
    "reset_state": "`model.reset_metrics()` resets all of them.",
    "reset_states": "`model.reset_metrics()` resets all of them.",
}
_INSIDE = (
    "The metrics are `[metric for each in model.metrics for metric in "
    "getattr(each, 'metrics', [each])]`, their values `model.get_metrics_result()`."
)


@rule(
    "KD220", severity=Severity.ERROR, since="3.0", look_for=reads("compiled_metrics", on=Kind.MODEL)
)
def check(metrics: Read) -> Finding | None:
    """Report each member that is read from `compiled_metrics` and not there."""
    read = metrics.module.parent(metrics.node)
    if not isinstance(read, cst.Attribute) or read.attr.value == "update_state":
        return None
    member = read.attr.value
    return metrics.finding(
        f"`compiled_metrics` no longer has `{member}`: AttributeError: "
        f"'DeprecatedCompiledMetric' object has no attribute '{member}'",
        at=read,
        symbol=symbol(metrics.owner, f"compiled_metrics.{member}"),
        help=_HELP.get(member, _INSIDE),
        fix=NoFix("before the first batch Keras 2 and 3 list different metrics"),
    )


VALID = [
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def train_step(self, data):\n"
        "        self.compiled_metrics.update_state(data, data)\n        return {}"
    ),
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    @property\n"
        "    def compiled_metrics(self):\n        return self.mine\n\n"
        "    def show(self):\n        return self.compiled_metrics.metrics"
    ),
    "import keras\nrun.compiled_metrics.metrics",
    "import tf_keras\ntf_keras.Sequential().compiled_metrics.metrics",
]
_MODEL = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 3)), np.ones((4, 1))\n"
    "model = keras.Sequential([keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse', metrics=['mae'])\nmodel.evaluate(x, y, verbose=0)\n"
)
INVALID = [
    Example(
        before=f"{_MODEL}names = [each.name for each in model.compiled_metrics.metrics]",
        raises="AttributeError: 'DeprecatedCompiledMetric' object has no attribute 'metrics'",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.Model):\n    def again(self):\n"
        "        self.compiled_metrics.reset_state()\n\n\n"
        "mine = Mine()\nmine.compile('sgd', 'mse', metrics=['mae'])\nmine.again()",
        raises="AttributeError: 'DeprecatedCompiledMetric' object has no attribute 'reset_state'",
    ),
]
