"""`tf.random.set_seed(7)` and `np.random.seed(7)` do not seed the weights of Keras 3.

## What it does
Reports `tf.random.set_seed` (`tf.compat.v1.set_random_seed`, too) in a file that creates layers
with random initial weights, or random layers, without an explicit seed. Also `np.random.seed` in a
file that uses `keras` if nothing draws from NumPy: no function of `np.random`, and no packages
other than some that never do. Files that also seed Python's `random`, or call something imported
that may do so (`seed_everything`), are not reported.

## Why it breaks
Up to Keras 2.3, `keras` took the seeds of weights and of `Dropout` from NumPy, and `tf.keras` up to
2.9 used TensorFlow functions, which start from its seed; later releases of Keras 2 still do for
`Dropout`. Keras 3 runs on other backends too: a layer, an initializer and `keras.random` without a
seed take one from Python's `random`. So the call has no effect: weights and results differ in every
run.

## What to write instead
`keras.utils.set_random_seed(7)`, which seeds Python's `random`, NumPy and TensorFlow. It takes an
int from 0 to 2**32 - 1. NumPy and Python start from that seed as well: if they need other seeds,
add `random.seed(7)` next to `tf.random.set_seed(7)`.

## How we know
Run on Keras 3.15.1 and 3.3.3, with TensorFlow 2.4 and with Keras 2.3.1: there, two programs that
begin with the same `tf.random.set_seed` (on 2.3.1 `np.random.seed`) have the same weights and the
same losses; on Keras 3 they have not, and after `keras.utils.set_random_seed` they have. The
examples use dropout, on Keras 2.21 as well.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, instances, is_hidden
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import named, only
from kdoctor.analysis.roots import USES_KERAS_3
from kdoctor.keras_api.tensorflow_aliases import FIRST, ways_to
from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding, Severity
from kdoctor.rules.fixes.seeds import seeds_all
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_SEEDS: Final = ways_to("tensorflow.random.set_seed").union(
    f"{way}{each}" for way in FIRST for each in ("set_random_seed", "random.set_random_seed")
)
_SEED_OF_NUMPY: Final = "numpy.random.seed"
_NO_SEEDS: Final = {
    *("__future__", "keras", "numpy", "tensorflow"),
    *("IPython", "PIL", "cv2", "h5py", "matplotlib", "pandas", "pydot", "six", "sklearn", "tqdm"),
    *sys.stdlib_module_names,
}
"""Packages that draw nothing from NumPy, but for what the pattern below finds."""
_DRAWS_FROM_NUMPY: Final = pattern(
    r"numpy\.random\b(?!\.seed$)|sklearn(?!\.metrics|\.preprocessing)"
    r"|.*\.(?:preprocessing\.image|wrappers|TimeseriesGenerator|skipgrams)\b"
)
_SAMPLES_ROWS: Final = "sample"  # a method of pandas' frames
_SEED_NO_PYTHON: Final = ("numpy.", "tensorflow.", "torch.", "jax.", "cupy.")
_NOT_DRAWN: Final = {"'zeros'", "'ones'", "None"}
_SEEDS_MORE: Final = "it also seeds Python and NumPy, which may have their own seeds"


def _draws_nothing(name: str) -> bool:
    """Say whether nothing of this name draws from NumPy."""
    return _top(name) in _NO_SEEDS and not _DRAWS_FROM_NUMPY.match(name)


def _top(name: str) -> str:
    return name.partition(".")[0]


@rule(
    "KD463",
    severity=Severity.CHANGE,
    since="3.0",
    only_alone=True,
    look_for=files(USES_KERAS_3, named(*_SEEDS) | (named(_SEED_OF_NUMPY) & only(_draws_nothing))),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such call."""
    module, facts = file.module, file.facts
    found = [each for each in _calls(module) if not module.is_guarded(each.node)]
    if not found or any(_may_seed_python(each) for each in module.references):
        return
    drawn = [
        reference
        for reference, call, _ in instances(module, Kind.LAYER, facts)
        if _draws(facts, reference, call)
    ]
    is_keras = any(each.name.startswith("keras.") for each in drawn)
    for reference in found if drawn else ():
        if reference.name != _SEED_OF_NUMPY or is_keras:
            yield _finding(file, reference)


def _calls(module: Module) -> list[Reference]:
    """Return the calls that seed TensorFlow; without any, those that seed NumPy in vain."""
    called = [each for each in module.references if each.call is not None]
    of_tensorflow = [each for each in called if each.name in _SEEDS]
    of_numpy = [each for each in called if each.name == _SEED_OF_NUMPY]
    if of_tensorflow or not of_numpy:
        return of_tensorflow
    names = {each.name for each in module.references}
    stars = (each for each in module.references if isinstance(each.node, cst.ImportStar))
    if any(_top(each.name) != "keras" for each in stars):
        return []
    if "pandas" in map(_top, names) and _SAMPLES_ROWS in module.words:
        return []
    return of_numpy if all(map(_draws_nothing, names)) else []


def _may_seed_python(reference: Reference) -> bool:
    """Say whether it is a function that seeds Python's ``random``, or may do so."""
    name = reference.name
    leaf = name.rpartition(".")[2].lower()
    if "seed" not in leaf or reference.kind is ReferenceKind.IMPORT:
        return False
    return name.endswith("utils.set_random_seed") or not name.startswith(_SEED_NO_PYTHON)


def _draws(facts: TargetFacts, reference: Reference, call: cst.Call) -> bool:
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


def _finding(file: File, reference: Reference) -> Finding:
    assert reference.call is not None
    fix = seeds_all(file.module, reference.call.func, title="Write `{}`", because=_SEEDS_MORE)
    return file.finding(
        f"`{file.source(reference.node)}` does not seed the weights of Keras 3, nor its "
        "`Dropout`: they use Python's `random`, and differ in every run",
        at=reference.node,
        symbol=reference.name,
        confidence=reference.confidence,
        help=f"{fix.title}, which seeds Python, NumPy and TensorFlow.",
        fix=fix,
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
_OLD = (
    "import numpy as np\n\nnp.random.seed(7)\nfrom {} import Dense\n\n{}\n"
    "weights = Dense(3)\nx = np.zeros((2, 4))\n"
)
_OF_NUMPY = (
    "import numpy as np\n{}(1337)  # always the same\n"
    "from keras.layers import Dense\nfrom sklearn.preprocessing import scale\nimport keras\n\n\n"
    "def drawn():\n    {}(7)\n    layer = Dense(3)\n    layer.build((None, 4))\n"
    "    return np.array(layer.get_weights()[0])\n\n\nfirst, second = drawn(), drawn()\n"
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
    # Something draws from NumPy, or may.
    _OLD.format("keras.layers", "x = np.random.rand(3)"),
    _OLD.format("keras.layers", "shuffle = np.random.shuffle"),
    _OLD.format("keras.layers", "from numpy import random"),
    _OLD.format("keras.layers", "from numpy import *"),
    _OLD.format("keras.layers", "from sklearn.model_selection import train_test_split"),
    _OLD.format("keras.layers", "from keras.preprocessing.image import ImageDataGenerator"),
    _OLD.format("keras.layers", "import imgaug"),
    _OLD.format("keras.layers", "from .data import load"),
    _OLD.format("keras.layers", "import pandas as pd\ntrain = pd.read_csv('t.csv').sample(3)"),
    _OLD.format("keras.layers", "import random\n\nrandom.seed(7)"),
    # That of TensorFlow never took its seeds from NumPy.
    _OLD.format("tensorflow.keras.layers", ""),
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
    # What nothing else here draws from.
    Example(
        before=_OF_NUMPY.format("\nnp.random.seed", "np.random.seed"),
        after=_OF_NUMPY.format(
            "from keras import utils\n\nutils.set_random_seed", "keras.utils.set_random_seed"
        ),
        check=_LIKE,
        unsafe=True,
        findings=2,
        needs=("tensorflow", "sklearn"),
    ),
]
