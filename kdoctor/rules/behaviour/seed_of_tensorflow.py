"""`tf.random.set_seed(7)` seeds no weights of Keras 3, nor its `Dropout`: runs are not repeated.

## What it does
Reports `tf.random.set_seed` (`tf.compat.v1.set_random_seed`, too) in a file that makes layers whose
weights are drawn, or layers that draw themselves, without a seed of their own. Silent where the
file seeds Python's `random` as well, or calls something imported that may do so
(`seed_everything`).

## Why it breaks
Keras up to 2.9 drew with functions of TensorFlow, which start from its seed; those of Keras 2 after
it still do for `Dropout`. Keras 3 runs on other backends, too: a layer, an initializer and
`keras.random` without a seed take one from Python's `random`. What `tf.random.set_seed` is written
for does not happen: the weights are others in each run, and so are all results.

## What to write instead
`keras.utils.set_random_seed(7)`, which seeds Python's `random`, NumPy and TensorFlow. It takes an
int, from 0 to 2**32 - 1. What NumPy and Python draw after it starts from that seed, too: where
they have others, write `random.seed(7)` beside `tf.random.set_seed(7)`.

## How we know
Run on Keras 3.15.1 and 3.3.3, and with TensorFlow 2.4: there, two models that are built after the
same `tf.random.set_seed` have the same weights; on Keras 3 they have not, and after
`keras.utils.set_random_seed` they have. The examples drop out, on Keras 2.21 as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.keras_api.tensorflow_ways import FIRST, ways_to
from kdoctor.kinds import Kind
from kdoctor.model import Applicability, Edit, Finding, Fix, Severity
from kdoctor.rules.calls import argument, instances, is_hidden, literal, speller_at
from kdoctor.rules.facts import Facts
from kdoctor.rules.roots import USES_KERAS_3
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import named
from kdoctor.syntax import Module, Reference, ReferenceKind

_SEEDS: Final = ways_to("tensorflow.random.set_seed").union(
    f"{way}{each}" for way in FIRST for each in ("set_random_seed", "random.set_random_seed")
)
_SEED_NO_PYTHON: Final = ("numpy.", "tensorflow.", "torch.", "jax.", "cupy.")
_NOT_DRAWN: Final = {"'zeros'", "'ones'", "None"}
_SEEDS_MORE: Final = "it seeds Python and NumPy, too, which may have seeds of their own"


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each such call."""
    found = [each for each in module.references if each.name in _SEEDS and each.call is not None]
    if not found or any(_may_seed_python(each) for each in module.references):
        return
    if not any(_draws(facts, *each[:2]) for each in instances(module, Kind.LAYER, facts)):
        return
    for reference in found:
        if not module.is_guarded(reference.node):
            yield _finding(module, reference)


def _may_seed_python(reference: Reference) -> bool:
    """Say whether it is a function that seeds Python's ``random``, or may do so."""
    name = reference.name
    leaf = name.rpartition(".")[2].lower()
    if "seed" not in leaf or reference.kind is ReferenceKind.IMPORT:
        return False
    return name.endswith("utils.set_random_seed") or not name.startswith(_SEED_NO_PYTHON)


def _draws(facts: Facts, reference: Reference, call: cst.Call) -> bool:
    """Say whether a layer has something drawn, and no seed of its own."""
    signature = facts.signature(reference.name)
    if signature is None or is_hidden(call):
        return False
    if signature.parameter("seed") is not None:
        rate = argument(call, "rate", 0) or argument(call, "stddev", 0)
        return argument(call, "seed") is None and (rate is None or literal(rate.value) != 0)
    return any(
        each.name.endswith("_initializer")
        and (each.default or "None") not in _NOT_DRAWN
        and argument(call, each.name) is None
        for each in signature.parameters
    )


def _finding(module: Module, reference: Reference) -> Finding:
    assert reference.call is not None
    text, need = speller_at(module, reference.node).spell("keras.utils.set_random_seed")
    edit = Edit(module.span(reference.call.func), (text,))
    return rule.finding(
        module.place(reference.node),
        f"`{module.source(reference.node)}` seeds no weights of Keras 3, nor its `Dropout`: they "
        "are drawn from Python's `random`, and are others in each run",
        symbol=reference.name,
        confidence=reference.confidence,
        help=f"Write `{text}`, which seeds Python, NumPy and TensorFlow.",
        fix=Fix(
            f"Write `{text}`",
            (edit,),
            Applicability.UNSAFE,
            imports=(need,) if need else (),
            unsafe_because=_SEEDS_MORE,
        ),
    )


rule = Rule(
    code="KD463",
    name="seed-of-tensorflow",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=named(*_SEEDS) & USES_KERAS_3,
    since="3.0",
)

_HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\n\n\n"
_DROP = (
    "def dropped():\n    {}\n"
    "    return np.array(keras.layers.Dropout(0.5)(tf.ones((1, 64)), training=True))\n\n\n"
    "first, second = dropped(), dropped()\n"
)
_BUILD = (
    "def drawn():\n    {}\n    layer = keras.layers.Dense(3)\n    layer.build((None, 4))\n"
    "    return layer.get_weights()[0]\n\n\nfirst, second = drawn(), drawn()\n"
)
_TF = "tf.random.set_seed(7)"
_KERAS = "keras.utils.set_random_seed(7)"
_DRAWN = _HEAD + _TF + "\nmodel = keras.Sequential([{}])\n"
_LIKE = "assert np.array_equal(first, second)"

VALID = [
    _HEAD + _DROP.format(_KERAS),
    _HEAD + _DROP.format(f"{_KERAS}\n    {_TF}"),
    # Python's `random` is seeded, too.
    _HEAD.replace("import keras\n", "import random\n\nimport keras\n")
    + _DROP.format(f"random.seed(7)\n    {_TF}"),
    "import random as rn\n" + _HEAD + "rn.seed(7)\n" + _DROP.format(_TF),
    "from random import seed\n" + _HEAD + "seed(7)\n" + _DROP.format(_TF),
    # Perhaps it is.
    "from tools import seed_everything\n" + _HEAD + "seed_everything()\n" + _DROP.format(_TF),
    "import tools\n" + _HEAD + "tools.set_all_seeds(7)\n" + _DROP.format(_TF),
    # Nothing is drawn, or from a seed of its own.
    _DRAWN.format("keras.layers.Flatten()"),
    _DRAWN.format("keras.layers.BatchNormalization()"),
    _DRAWN.format("keras.layers.Dropout(0)"),
    _DRAWN.format("keras.layers.Dropout(0.5, seed=1)"),
    _DRAWN.format("keras.layers.Dense(3, kernel_initializer=drawn)"),
    _DRAWN.format("keras.layers.Dense(3, **options)"),
    _HEAD + _TF,
    # Another Keras draws from another seed.
    (_HEAD + _DROP.format(_TF)).replace("import keras", "import tf_keras as keras"),
    # A function of one's own, of which nothing is known.
    "import keras\n\n\ndef set_seed(seed):\n    pass\n\n\nset_seed(7)\nkeras.layers.Dense(3)",
]
INVALID = [
    Example(
        before=_HEAD + _DROP.format(f"np.random.seed(7)\n    {_TF}"),
        after=_HEAD + _DROP.format(f"np.random.seed(7)\n    {_KERAS}"),
        check=_LIKE,
        on_keras_2=True,
        unsafe=True,
        needs=("tensorflow",),
    ),
    Example(
        before=(_HEAD + _DROP.format("set_seed(seed=7)"))
        .replace("import keras\n", "")
        .replace(
            "as tf\n",
            "as tf\nfrom tensorflow import keras\nfrom tensorflow.random import set_seed\n",
        ),
        after=(_HEAD + _DROP.format("keras.utils.set_random_seed(seed=7)"))
        .replace("import keras\n", "")
        .replace("as tf\n", "as tf\nfrom tensorflow import keras\n"),
        check=_LIKE,
        on_keras_2=True,
        unsafe=True,
        needs=("tensorflow",),
    ),
    Example(
        before=_HEAD + _DROP.format("tf.compat.v1.set_random_seed(7)"),
        after=_HEAD + _DROP.format(_KERAS),
        check=_LIKE,
        on_keras_2=True,
        unsafe=True,
        needs=("tensorflow",),
    ),
    # Weights; those of Keras 2.10 and later are drawn from Python's `random`, too.
    Example(
        before=_HEAD + _BUILD.format(_TF),
        after=_HEAD.replace("import tensorflow as tf\n", "") + _BUILD.format(_KERAS),
        check=_LIKE,
        unsafe=True,
        needs=("tensorflow",),
    ),
]
