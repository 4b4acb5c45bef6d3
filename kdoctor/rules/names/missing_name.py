"""Names that the target's Keras does not have: moved, removed, or never defined.

## What it does
Looks up every dotted name that the file imports from Keras, or reads through such an import, in the
API of the target's release, and reports the first part that does not exist. The functions of
`keras.backend` have their own rule (KD101).

## Why it breaks
Keras 3 has only the names that its public API lists. Up to 2.12 every module of the package could
be imported, so `keras.layers.core`, `keras.engine.topology` and `keras.utils.np_utils` worked by
accident. The import fails, before anything else runs:
`ModuleNotFoundError: No module named 'keras.layers.core'`.

The root package matters: Keras 3 still has
`tensorflow.keras.preprocessing.image.ImageDataGenerator`, but not
`keras.preprocessing.image.ImageDataGenerator`.

## What to write instead
The public name of the same object: `from keras.layers import Dense`, `from keras import Input`,
`keras.utils.to_categorical`. An import inside `try: … except ImportError: …` whose other branch
works on the target is left alone.

`LocallyConnected2D` has no successor. This layer loads the weights of the old one unchanged
(`implementation=1`, the default, `channels_last`):

    class LocallyConnected2D(keras.layers.Layer):
        def __init__(self, filters, kernel_size, strides=(1, 1), activation=None, **kwargs):
            super().__init__(**kwargs)
            self.filters, self.kernel_size, self.strides = filters, kernel_size, strides
            self.activation = keras.activations.get(activation)

        def patches(self, x):
            return keras.ops.image.extract_patches(x, self.kernel_size, self.strides)

        def build(self, shape):
            rows, columns, size = self.patches(keras.KerasTensor(shape)).shape[1:]
            self.kernel = self.add_weight(
                shape=(rows * columns, size, self.filters), name="kernel"
            )
            self.bias = self.add_weight(
                shape=(rows, columns, self.filters), initializer="zeros", name="bias"
            )

        def call(self, x):
            rows, columns, size = self.patches(x).shape[1:]
            patches = keras.ops.reshape(self.patches(x), (-1, rows * columns, size))
            y = keras.ops.einsum("bpk,pkf->bpf", patches, self.kernel)
            y = keras.ops.reshape(y, (-1, rows, columns, self.filters))
            return self.activation(y + self.bias)

`LocallyConnected1D(filters, size)(x)` is
`LocallyConnected2D(filters, (size, 1))(x[:, :, None])[:, :, 0]`, with `bias[:, None]` for `bias`.

## How we know
The names of every release are read from its wheel. A name counts as moved only if some release had
the very same object under both names. The fix is safe where each call in the file binds the same
parameters, with the same defaults, in the signature of the last release that had the old name and
in the target's; otherwise it needs `--unsafe`. Two renamed parameters were tested and count as the
same: `to_categorical(y)`, now `x`, and `LeakyReLU(alpha)`, now `negative_slope`.

`to_categorical` returned float32 and now returns float64, which TensorFlow does not mix with
float32: its calls get `.astype("float32")`. For a tensor it now returns a tensor, which has no
`astype`; where it may be called with one, the fix is not safe.

Names that only `tf.keras` still has (`ImageDataGenerator`, `Tokenizer`) were compared with Keras 2,
result by result, and move there. Where another object replaced the old one (`CuDNNLSTM`, `merge`),
the rewrite is written by hand; it is safe only if an example compared both. For the rest, the help
says what to write. A test compares the layer above with that of tf_keras.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files, references
from kdoctor.keras_api import Lookup, split_root
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import ONLY_IN_DEAD_CODE
from kdoctor.rules.names._missing_names import (
    another_star_may_bind_it,
    by_star,
    error_of,
    is_given,
    look_up,
    may_be_missing,
)
from kdoctor.rules.names._move_candidates import (
    ONLY_PRIVATE,
    REMOVALS,
    Moves,
    Ways,
    is_of_the_copy,
    under_keras,
)
from kdoctor.rules.names._removed_classes import EXAMPLES as GONE_CLASSES
from kdoctor.rules.names._removed_classes import stand_in
from kdoctor.rules.names._star_imports import star_of_package
from kdoctor.rules.names._successors import EXAMPLES, told_by_hand
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Reference, ReferenceKind


@rule("KD102", severity=Severity.ERROR, look_for=files(references(where=may_be_missing)))
def check(file: File) -> Iterator[Finding]:
    """Report each missing name once: at its import, else where it is read."""
    module, facts = file.module, file.facts
    missing = {
        reference: found
        for reference in module.references
        if reference.kind in (ReferenceKind.IMPORT, ReferenceKind.LOAD)
        and (found := look_up(module, reference, facts)) is not None
        and (_is_imported_here(reference) or _is_read_here(reference, found))
        and not _is_of_the_backend(found)
        and not module.is_guarded(reference.node)
        and not another_star_may_bind_it(module, reference)
        and not is_given(module, reference)
    }
    imports = [each for each in missing if each.kind is ReferenceKind.IMPORT]
    if not missing:
        return
    moves = Moves(module, _ways(facts), missing)
    for reference, found in missing.items():
        is_read = reference.kind is ReferenceKind.LOAD
        imported = next((each for each in imports if is_read and _reads(reference, each)), None)
        if imported is not None and imported.name == reference.name:
            continue  # the finding at the import is about this use, too
        attempt = moves.attempt(reference)
        if isinstance(attempt, NoFix):
            attempt = (
                stand_in(module, facts, reference, found)
                or star_of_package(module, facts, reference, found)
                or attempt
            )
        if imported is not None:
            if isinstance(attempt, Fix):
                continue  # as above
        elif is_read and not by_star(reference) and _is_missing_before_the_name(reference, found):
            continue  # `L = keras.layers.core`, then `L.Dense`: reported where `L` is bound
        yield _finding(file, reference, found, moves, attempt)


@lru_cache(maxsize=8)
def _ways(facts: TargetFacts) -> Ways:
    return Ways(facts, [each for each in _MOVED if each.after])


def _finding(
    file: File, reference: Reference, found: Lookup, moves: Moves, attempt: Fix | NoFix
) -> Finding:
    return file.finding(
        f"`{found.qualified}` {_history(found, moves)}: {error_of(reference, found)}",
        at=_place(reference, found),
        symbol=found.qualified,
        confidence=reference.confidence,
        help=_help(found, moves, attempt),
        fix=attempt if isinstance(attempt, Fix) else _reason(found, moves, attempt),
    )


def _history(found: Lookup, moves: Moves) -> str:
    if found.import_only or (found.kind is not None and found.missing_prefix != found.qualified):
        return "is available only after its module is imported"
    if not found.periods:
        return "does not exist"
    if moves.is_of_a_later_release(found):
        return f"does not exist yet (first in {found.root} {found.since})"
    return f"is gone (last in {found.root} {found.periods[-1][1]})"


def _help(found: Lookup, moves: Moves, attempt: Fix | NoFix) -> str:
    if found.moved_to and not is_of_the_copy(found):
        return f"It is now `{found.moved_to[0]}`."
    if isinstance(attempt, Fix):
        return f"{attempt.title}."
    if by_hand := _by_hand(found, moves):
        return f"{by_hand}."
    if found.suggestions:
        return f"Did you mean {' or '.join(f'`{each}`' for each in found.suggestions)}?"
    if found.elsewhere:
        old = " (Keras 2)" if found.elsewhere[0].startswith("tf_keras") else ""
        return f"It still exists as `{found.elsewhere[0]}`{old}."
    if isinstance(attempt, NoFix) and attempt.reason.startswith(ONLY_PRIVATE):
        return "Copy the parts that your code needs into your project."
    return ""


def _by_hand(found: Lookup, moves: Moves) -> str:
    """Return what to write by hand: of the name itself, its twins, or of what it stands under."""
    names = (found.qualified, *moves.twins(found))
    return told_by_hand([under_keras(each).removeprefix("keras.") for each in names])


def _reason(found: Lookup, moves: Moves, refused: NoFix) -> NoFix:
    if moves.is_known(found) or refused == ONLY_IN_DEAD_CODE:
        return refused
    if _by_hand(found, moves):
        return NoFix("nothing in Keras 3 replaces it one to one")
    return NoFix("no release had the same object under a name that exists on the target")


def _place(reference: Reference, found: Lookup) -> cst.CSTNode:
    """Return where the missing part stands: the import's alias, or the name up to that part."""
    node: cst.CSTNode = reference.node
    if reference.kind is ReferenceKind.LOAD and found.missing_prefix is not None:
        behind = found.qualified.count(".") - found.missing_prefix.count(".")
        for _ in range(behind):
            if isinstance(node, cst.Attribute):
                node = node.value
    return node


def _is_missing_before_the_name(reference: Reference, found: Lookup) -> bool:
    """Say whether what is missing is not written here, but where the first name was bound."""
    written, node = 1, reference.node
    while isinstance(node, cst.Attribute):
        written, node = written + 1, node.value
    bound = found.qualified.count(".") + 2 - written
    return found.missing_prefix is not None and found.missing_prefix.count(".") + 1 <= bound


def _reads(use: Reference, imported: Reference) -> bool:
    same = use.name == imported.name or use.name.startswith(f"{imported.name}.")
    return same and use.binding is imported.binding


def _is_imported_here(reference: Reference) -> bool:
    """Say whether this file itself imports it: through a module of the tree it is missing there."""
    return reference.binding.imported.partition(".")[0] == reference.name.partition(".")[0]


def _is_read_here(reference: Reference, found: Lookup) -> bool:
    """Say whether this file reads what is missing off something that a module of the tree has."""
    binding = reference.binding
    missing = found.missing_prefix or ""
    return reference.kind is ReferenceKind.LOAD and missing.startswith(f"{binding.name}.")


def _is_of_the_backend(found: Lookup) -> bool:
    """Say whether KD101 speaks of it: of all public names right below the backend."""
    split = split_root(found.missing_prefix or "")
    owner, _, leaf = split[1].rpartition(".") if split is not None else ("", "", "")
    return owner == "backend" and not leaf.startswith("_")


VALID = [
    # Put there by hand.
    "import keras\nkeras.layers.Mine = str\nkeras.layers.Mine(1)",
    (
        "import sys, keras\nsys.modules['keras.utils.np_utils'] = keras.utils\n"
        "from keras.utils.np_utils import to_categorical\nimport keras.utils.np_utils as old"
    ),
    "from keras.layers import Dense, Input\nfrom keras.utils import to_categorical",
    # The root decides.
    "from tensorflow.keras.preprocessing.image import ImageDataGenerator",
    "import tensorflow as tf\ntf.keras.losses.mse",
    # A fallback that works.
    (
        "try:\n    from keras.engine.topology import Layer\nexcept ImportError:\n"
        "    from keras.layers import Layer"
    ),
    # Not Keras' names.
    "from mykeras.layers.core import Dense\nfrom keras_contrib.layers import InstanceNormalization",
    "from keras.src.layers.core import dense",
    "from tensorflow.python.keras.layers import Dense",
    # What a name is bound to later is not Keras.
    "import keras\nkeras = object()\nkeras.engine",
    # Who knows what the other star brings in.
    "from mine import *\nfrom keras.layers import *\nMerge()",
    # Asked for, not read.
    "import keras\nBase = getattr(keras.layers, 'LocallyConnected1D', keras.layers.Layer)",
    "import keras\nisinstance(x, (str, getattr(keras.layers, 'LocallyConnected1D', ())))",
    # TensorFlow 1 had these as well, or alone: KD506.
    "import tensorflow as tf\ntf.losses.sparse_softmax_cross_entropy(tf.losses.Reduction.MEAN)",
    "import tensorflow.compat.v1 as tf\ntf.metrics.accuracy(y, x)",
    # KD101 speaks of these.
    "from keras import backend as K\nK.sum",
]
_MOVED = [
    Example(
        before="from keras.models import Input\n\nInput(shape=(4,))",
        after="from keras import Input\n\nInput(shape=(4,))",
        raises="ImportError: cannot import name 'Input' from 'keras.models'",
    ),
    Example(
        before="from keras.models import Model, Input as I\n\nx = I((4,))\nModel(x, x)",
        after="from keras import Input as I\nfrom keras.models import Model\n\n"
        "x = I((4,))\nModel(x, x)",
        raises="ImportError: cannot import name 'Input' from 'keras.models'",
    ),
    Example(
        before="import keras\n\nkeras.layers.core.Dense(3)",
        after="import keras\n\nkeras.layers.Dense(3)",
        raises="AttributeError: module 'keras.layers' has no attribute 'core'",
    ),
    Example(
        before="from keras.layers.core import Dense\n\nDense(3)",
        after="from keras.layers import Dense\n\nDense(3)",
        raises="ModuleNotFoundError: No module named 'keras.layers.core'",
    ),
    Example(
        before="from keras.layers.core import Dense\n\n"
        "layer = Dense(3, name='out', trainable=False, input_shape=(4,))",
        after="from keras.layers import Dense\n\n"
        "layer = Dense(3, name='out', trainable=False, input_shape=(4,))",
        raises="ModuleNotFoundError: No module named 'keras.layers.core'",
        check="import keras\nassert (layer.name, layer.trainable) == ('out', False)\n"
        "assert keras.Sequential([layer]).input_shape == (None, 4)",
    ),
    Example(
        before="from keras.layers.advanced_activations import LeakyReLU\n\nlayer = LeakyReLU(0.5)",
        after="from keras.layers import LeakyReLU\n\nlayer = LeakyReLU(0.5)",
        raises="ModuleNotFoundError: No module named 'keras.layers.advanced_activations'",
        check="import keras\nassert float(layer(-4 * keras.ops.ones((1,)))[0]) == -2.0",
    ),
    # Other defaults, which mean the same.
    Example(
        before="from keras.layers.advanced_activations import PReLU\n\nlayer = PReLU()\n",
        after="from keras.layers import PReLU\n\nlayer = PReLU()\n",
        raises="ModuleNotFoundError: No module named 'keras.layers.advanced_activations'",
        check="import keras\nimport tf_keras\n"
        "x = keras.ops.convert_to_tensor([[-2.0, 3.0]])\n"
        "assert (layer(x).numpy() == tf_keras.layers.PReLU()(x).numpy()).all()",
    ),
    Example(
        before="from keras.layers.convolutional import ZeroPadding3D\n\nlayer = ZeroPadding3D()\n",
        after="from keras.layers import ZeroPadding3D\n\nlayer = ZeroPadding3D()\n",
        raises="ModuleNotFoundError: No module named 'keras.layers.convolutional'",
        check="import keras\nimport tf_keras\nx = keras.ops.ones((1, 2, 3, 4, 5))\n"
        "assert (layer(x).numpy() == tf_keras.layers.ZeroPadding3D()(x).numpy()).all()",
    ),
    Example(
        before="from keras.engine.topology import Input\n\nx = Input((3,), name='x')\n",
        after="from keras import Input\n\nx = Input((3,), name='x')\n",
        raises="ModuleNotFoundError: No module named 'keras.engine'",
        check="assert (x.shape, x.sparse, x.name) == ((None, 3), False, 'x')",
    ),
    Example(
        before="import tensorflow as tf\n\n"
        "schedule = tf.keras.experimental.CosineDecay(0.5, 10, alpha=0.1)\n",
        after="import tensorflow as tf\n\n"
        "schedule = tf.keras.optimizers.schedules.CosineDecay(0.5, 10, alpha=0.1)\n",
        raises="AttributeError: module 'keras._tf_keras.keras' has no attribute 'experimental'",
        check="import numpy as np\nimport tf_keras\n"
        "old = tf_keras.optimizers.schedules.CosineDecay(0.5, 10, alpha=0.1)\n"
        "for step in (0, 3, 10, 99):\n"
        "    np.testing.assert_allclose(schedule(step), old(step), rtol=1e-5)",
    ),
]
INVALID = [
    *_MOVED,
    *EXAMPLES,
    *GONE_CLASSES,
    *REMOVALS,
    Example(
        before="from keras.utils import multi_gpu_model\n\nmulti_gpu_model(model, 2)",
        raises="ImportError: cannot import name 'multi_gpu_model' from 'keras.utils'",
    ),
    Example(
        before="from keras.layers import *\n\nlayer = CuDNNGRU(3)\n",
        after="from keras import layers\nfrom keras.layers import *\n\nlayer = layers.GRU(3)\n",
        raises="NameError: name 'CuDNNGRU' is not defined",
        unsafe=True,
    ),
    Example(
        before="from tensorflow.compat.v1 import keras\n\nkeras.layers.DenseFeatures([])",
        raises="AttributeError: module 'keras._tf_keras.keras.layers' has no attribute "
        "'DenseFeatures'",
    ),
    Example(
        before="import tensorflow as tf\n\nloss = tf.losses.cosine_proximity\n",
        after="import tensorflow as tf\n\nloss = tf.keras.losses.cosine_similarity\n",
        raises="AttributeError: module 'keras._tf_keras.keras.losses' has no attribute "
        "'cosine_proximity'",
    ),
    # All that is read is in the package, too.
    Example(
        before="from keras.layers.core import *\nfrom keras.layers.wrappers import *\n\n"
        "layer = TimeDistributed(Dense(3))\n",
        after="from keras.layers import *\nfrom keras.layers import *\n\n"
        "layer = TimeDistributed(Dense(3))\n",
        raises="ModuleNotFoundError: No module named 'keras.layers.core'",
        unsafe=True,
        findings=2,
    ),
]
