"""An integer `seed=` returns the same random numbers on every call.

## What it does
Reports `keras.random` functions called with a number as `seed=` inside a layer's `call`, a loss, or
a training step.

## Why it breaks
`K.random_normal(shape, seed=1)` and `tf.random.normal(shape, seed=1)` keep drawing: the seed is
only the starting point. `keras.random.normal(shape, seed=1)` is a pure function of its arguments:
each call returns the same numbers, so noise and dropout are the same in every step.

## What to write instead
A seed generator, created once and stored:

    def __init__(self):
        super().__init__()
        self.seed_generator = keras.random.SeedGenerator(1)

    def call(self, x):
        return x + keras.random.normal(x.shape, seed=self.seed_generator)

Layers like `Dropout(0.5, seed=1)` create one themselves.

## How we know
Run on Keras 3.15.1: two calls of such a layer return the same numbers; with `K.random_normal` of
Keras 2, and with a generator, they do not.
"""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, functions
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Context

_REPEATED = (Context.CALL, Context.LOSS_OR_METRIC, Context.TRAIN_LOOP)


@rule(
    "KD419",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=functions(within="random")
    .even(hidden=True, guarded=True)
    .argument("seed", where=lambda form: isinstance(form, int)),
)
def check(seed: Argument) -> Finding | None:
    """Report each fixed seed in what runs again and again."""
    assert seed.reference is not None
    if seed.module.context_of(seed.reference.node) not in _REPEATED:
        return None
    value = literal(seed.value_node)
    return seed.finding(
        "with an integer seed this returns the same numbers on every call",
        at=seed.arg,
        symbol=seed.name,
        help=f"Create `keras.random.SeedGenerator({value})` once, in `__init__`, and pass that.",
        fix=NoFix("you have to decide where the generator is stored"),
    )


VALID = [
    "import keras\n\nstart = keras.random.normal((2,), seed=1)",
    (
        "import keras\n\nclass Noise(keras.layers.Layer):\n    def __init__(self):\n"
        "        super().__init__()\n        self.seed = keras.random.SeedGenerator(1)\n\n"
        "    def call(self, x):\n        return x + keras.random.normal((2,), seed=self.seed)"
    ),
    (
        "import keras\nimport tensorflow as tf\n\nclass Noise(keras.layers.Layer):\n"
        "    def call(self, x):\n        return x + tf.random.normal((2,), seed=1)"
    ),
]
INVALID = [
    Example(
        before="import keras\n\n\nclass Noise(keras.layers.Layer):\n    def call(self, x):\n"
        "        return x + keras.random.normal((2,), seed=1)\n",
        check="import numpy as np\nnoise = Noise()\nx = keras.ops.zeros((1, 2))\n"
        "assert (np.array(noise(x)) == np.array(noise(x))).all()",
    ),
]
