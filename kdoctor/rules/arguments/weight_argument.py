"""`add_weight(shape=3)`, `add_weight(aggregation=tf.VariableAggregation.MEAN)`: refused values.

## What it does
Reports an int as the `shape` of a weight, and a member of TensorFlow's `VariableAggregation` as its
`aggregation`.

## Why it breaks
A shape is a tuple: `ValueError: Cannot convert '3' to a shape.` Keras 3 has its own names for
aggregations, for all backends: `ValueError: Invalid value for argument `aggregation`. Expected one
of `None`, `'none'`, `'mean'`, `'sum'`, `'only_first_replica'`.`

## What to write instead
`add_weight(shape=(3,))` and `add_weight(aggregation="mean")`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: the weights are the same. A test compares the names of the
aggregations with TensorFlow's.
"""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.forms import is_plain_int
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

AGGREGATIONS = {
    "NONE": "none",
    "SUM": "sum",
    "MEAN": "mean",
    "ONLY_FIRST_REPLICA": "only_first_replica",
}
_OWNERS = {Kind.LAYER: "keras.layers.Layer", Kind.MODEL: "keras.Model"}
_ADD_WEIGHT = calls("add_weight", on=_OWNERS).even(hidden=True)


@rule(
    "KD306",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_ADD_WEIGHT.argument("shape", 0, where=is_plain_int)
    | _ADD_WEIGHT.argument("aggregation"),
)
def check(given: Argument) -> Finding | None:
    """Report each value that `add_weight` refuses."""
    return _shape(given) if given.keyword == "shape" else _aggregation(given)


def _shape(given: Argument) -> Finding:
    # `(3)` is an int in parentheses: the comma goes inside them.
    inside, outside = given.module.span(given.node), given.module.outer_span(given.node)
    parts = ("(", Hole(inside), ",)") if inside == outside else (Hole(inside), ",")
    return _finding(
        given,
        f"ValueError: Cannot convert '{given.source(given.value_node)}' to a shape.",
        "A shape is a tuple.",
        f"Write `({given.source(given.node)},)`",
        Edit(inside, parts),
    )


def _aggregation(given: Argument) -> Finding | None:
    owner, _, member = (given.module.qualified(given.node) or "").rpartition(".")
    is_tensorflow = owner.startswith("tensorflow.") and owner.endswith(".VariableAggregation")
    if not is_tensorflow or member not in AGGREGATIONS:
        return None
    new = f"'{AGGREGATIONS[member]}'"
    return _finding(
        given,
        "ValueError: Invalid value for argument `aggregation`. Expected one of `None`, `'none'`, "
        "`'mean'`, `'sum'`, `'only_first_replica'`.",
        f"It is {new} now.",
        f"Write {new}",
        Edit(given.module.outer_span(given.node), (new,)),
    )


def _finding(given: Argument, error: str, advice: str, title: str, edit: Edit) -> Finding:
    assert given.owner is not None
    return given.finding(
        f"`add_weight` no longer accepts this value: {error}",
        at=given.arg,
        symbol=f"{_OWNERS[given.owner.kind]}.add_weight",
        help=advice,
        fix=given.fix(title, edit),
    )


_LAYER = (
    "import keras\nimport tensorflow as tf\n\n\nclass Mine(keras.layers.Layer):\n"
    "    def build(self, input_shape):\n        self.w = self.add_weight("
)
_FIXED = _LAYER.replace("import tensorflow as tf\n", "")  # nothing of it is left
_END = ")\n\n\nmine = Mine()\nmine.build((None, 4))\n"

VALID = [
    f"{_LAYER}name='w', shape=(3,), aggregation='mean'{_END}",
    f"{_LAYER}name='w', shape=[3], aggregation=None{_END}",
    f"{_LAYER}name='w', shape=input_shape, aggregation=chosen{_END}",
    (
        "import keras\nimport tensorflow as tf\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def add_weight(self, shape, aggregation):\n        return shape\n\n"
        "    def build(self, input_shape):\n"
        "        self.w = self.add_weight(shape=3, aggregation=tf.VariableAggregation.SUM)"
    ),
    (
        "import tensorflow as tf\nimport tf_keras\n\n\nclass Mine(tf_keras.layers.Layer):\n"
        "    def build(self, input_shape):\n"
        "        self.w = self.add_weight(shape=3, aggregation=tf.VariableAggregation.SUM)"
    ),
    "import keras\nimport tensorflow as tf\ntf.Variable(1, aggregation=tf.VariableAggregation.SUM)",
]
INVALID = [
    Example(
        before=f"{_LAYER}name='w', shape=3, initializer='zeros'{_END}",
        after=f"{_LAYER}name='w', shape=(3,), initializer='zeros'{_END}",
        raises="ValueError: Cannot convert '3' to a shape.",
        same="tuple(mine.w.shape)",
    ),
    Example(
        before=f"{_LAYER}name='w', shape=(1,), aggregation=tf.VariableAggregation.MEAN{_END}",
        after=f"{_FIXED}name='w', shape=(1,), aggregation='mean'{_END}",
        raises="ValueError: Invalid value for argument `aggregation`.",
        same="tuple(mine.w.shape), len(mine.trainable_weights)",
    ),
    Example(
        before=f"{_LAYER}name='w', shape=(1,), trainable=False,\n"
        f"                                 # a count\n"
        f"                                 aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA"
        f"{_END}",
        after=f"{_FIXED}name='w', shape=(1,), trainable=False,\n"
        f"                                 # a count\n"
        f"                                 aggregation='only_first_replica'{_END}",
        raises="ValueError: Invalid value for argument `aggregation`.",
        same="tuple(mine.w.shape), len(mine.trainable_weights)",
    ),
]
