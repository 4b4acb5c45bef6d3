"""A custom loss expects integer or boolean targets, but Keras 3 passes floats.

## What it does
Reports TensorFlow functions that reject floats (`tf.one_hot`, `tf.gather`, `tf.where`, and
`tf.nn.sparse_softmax_cross_entropy_with_logits`) and, in a file that uses TensorFlow, `take`,
`segment_sum` and `in_top_k` of `keras.ops`, where a loss passes them the targets unchanged: a
function that is passed to `compile` as a loss, the `call` of a subclass of `keras.losses.Loss`, and
functions of the file to which these pass the targets. A loss that sets its own `dtype` or checks
the type is not reported.

## Why it breaks
Keras 2 passed a loss the targets with their own dtype, int64 or bool. Keras 3 casts them to the
dtype of the loss, float32, before calling it: `TypeError: Value passed to parameter 'indices' has
DataType float32 not in list of allowed values: uint8, int8, int32, int64`.

## What to write instead
A cast back: `tf.one_hot(tf.cast(y_true, tf.int32), depth)`, and `tf.cast(mask, tf.bool)` for
booleans. It works on Keras 2 too. Integers above 16,777,216 (2 to the 24th) are not exact in
float32: a loss created with `dtype="float64"` gets them exactly, and `tf.int64` keeps them so.
`dtype="int64"` would cast the predictions to integers as well.

Targets of one dimension are a separate issue: Keras 2 passed a loss `(batch, 1)` if the output of
the model has two, Keras 3 passes `(batch,)`, see KD457.

## How we know
keras-team/keras#20060. Each function was run on Keras 3.15.1 and tf_keras 2.21 in a loss that `fit`
trains with, with targets of int64, int32, bool and float32. The code of Keras 3.0.0 casts too.
Functions used only as metrics are not reported: Keras 2 cast their arguments.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, speller_at
from kdoctor.analysis.queries import File, files, references
from kdoctor.analysis.training.user_losses import OWN_LOSSES
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import FIRST, SECOND
from kdoctor.memoize import once
from kdoctor.model import Edit, Finding, Fix, Hole, ImportNeed, NoFix, Severity
from kdoctor.rewrite import Speller
from kdoctor.rules.behaviour._float_refusals import Wanted, wanted_by
from kdoctor.rules.behaviour._forwarded_targets import Targets, calls_in
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module

_OTHER_BACKENDS = frozenset({"jax", "torch"})


@rule(
    "KD458",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(OWN_LOSSES, references(where=lambda facts, name: bool(wanted_by(name, facts)))),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such call."""
    module = file.module
    targets = Targets(module, file.facts)
    calls = dict.fromkeys(call for function in targets.functions for call in calls_in(function))
    for call in calls:
        name = module.qualified(call.func)
        if name is None or (_is_of_any_backend(name) and not _is_for_tensorflow(module)):
            continue
        for wanted in wanted_by(name, file.facts):
            given = _given(call, wanted)
            if given is None or not targets.has(given.value):
                continue
            if not module.is_guarded(call) and not _is_tried(module, call):
                yield _finding(file, call, name, given, wanted)


def _is_of_any_backend(name: str) -> bool:
    split = split_root(name)
    return split is not None and split[1].startswith("ops.")


@once
def _is_for_tensorflow(module: Module) -> bool:
    """Say whether a file is for TensorFlow: PyTorch takes floats for whole numbers."""
    return not (_OTHER_BACKENDS & module.words) and any(
        each.name.split(".")[0] == "tensorflow" for each in module.references
    )


def _is_tried(module: Module, call: cst.Call) -> bool:
    """Say whether something is done where the call fails."""
    child: cst.CSTNode = call
    for each in module.ancestors(call):
        if isinstance(each, cst.Try) and each.handlers and child is each.body:
            return True
        child = each
    return False


def _given(call: cst.Call, wanted: Wanted) -> cst.Arg | None:
    if wanted.beside is not None and argument(call, *wanted.beside) is None:
        return None
    return argument(call, wanted.parameter, wanted.place)


def _finding(file: File, call: cst.Call, name: str, given: cst.Arg, wanted: Wanted) -> Finding:
    kind = "booleans" if wanted.dtype == "bool" else "integers"
    return file.finding(
        f"Keras 3 casts the targets of a loss to float32, but `{file.source(call.func)}` needs "
        f"{kind}: {wanted.error}",
        at=given.value,
        symbol=name,
        help=f"Cast them back to {wanted.dtype}.",
        fix=_casting(file, call, name, given, wanted.dtype),
    )


def _casting(file: File, call: cst.Call, name: str, given: cst.Arg, dtype: str) -> Fix | NoFix:
    spelled, need = _cast(file.module, call, name)
    package, _, _ = spelled.rpartition(".")
    is_of_tensorflow = package and split_root(name) is None
    span = file.module.outer_span(given.value)
    type_ = f"{package}.{dtype}" if is_of_tensorflow else f'"{dtype}"'
    return file.fix(
        f"Cast them to {dtype}",
        Edit(span, (f"{spelled}(", Hole(span), f", {type_})")),
        imports=() if need is None else (need,),
    )


def _cast(module: Module, call: cst.Call, name: str) -> tuple[str, ImportNeed | None]:
    """Return how to write the function that casts, of the package that is called there."""
    if split_root(name) is not None:
        asked = next(each for each in module.references if each.call is call)
        return Speller.at(module, asked).spell("keras.ops.cast")
    speller = speller_at(module, call)
    ways = (each for each in (*SECOND, *FIRST) if name.startswith(each))
    found = [speller.spell(f"{way}cast") for way in ("tensorflow.", *ways)]
    return next((each for each in found if each[1] is None), found[0])


_KERAS = "import keras\nimport numpy as np\nimport tensorflow as tf\n\n\n"
_TF = "import numpy as np\nimport tensorflow as tf\nfrom tensorflow.keras import backend as K\n\n\n"
_SOFTMAX = "keras.layers.Dense(3, 'softmax', kernel_initializer='ones')"
_IMAGES = "images = np.linspace(0, 1, 20, dtype='float32').reshape(4, 5)\n"
_LABELS = "labels = np.array([[0], [2], [1], [2]])\n"
_TRUTH = "labels = np.array([[True], [False], [True], [True]])\n"
_FIT = "history = model.fit(images, labels, batch_size=4, epochs=2, verbose=0).history['loss']\n"
_SAME = "[round(each, 5) for each in history]"


def _program(loss: str, given: str, head: str = _KERAS, labels: str = _LABELS) -> str:
    made = f"model = keras.Sequential([{_SOFTMAX}])\n"
    model = made if head is _KERAS else made.replace("keras.", "tf.keras.")
    return f"{head}{loss}\n\n{model}model.compile('sgd', {given})\n{_IMAGES}{labels}{_FIT}"


def _example(before: str, bare: str, cast: str, parameter: str) -> Example:
    return Example(
        before=before,
        after=before.replace(bare, cast),
        raises=f"TypeError: Value passed to parameter '{parameter}' has DataType float32",
        findings=before.count(bare),
        on_keras_2=True,
        same=_SAME,
    )


_ONE_HOT = (
    "def loss(y_true, y_pred):\n    labels = tf.one_hot({}, 3)\n"
    "    return -tf.reduce_sum(labels * tf.math.log(y_pred), axis=-1)\n"
)
_COLUMN = "tf.one_hot(y_true[:, 0], 3)"
_LOSS = _ONE_HOT.format("y_true[:, 0]")
_CLASS = (
    "class Sparse(tf.keras.losses.Loss):\n    def call(self, y_true, y_pred):\n"
    "        return tf.nn.sparse_softmax_cross_entropy_with_logits(\n"
    "            labels=tf.squeeze(y_true, -1),  # as whole numbers\n            logits=y_pred,\n"
    "        )\n"
)
_FACTORY = (
    "def weighted(weights):\n    def loss(y_true, y_pred):\n"
    "        classes = tf.maximum(tf.reshape(y_true, [-1]), 0)\n"
    "        picked = tf.gather(y_pred, classes - 1 + 1, axis=1, batch_dims=1)\n"
    "        return -tf.math.log(picked) * tf.gather(weights, indices=classes)\n\n"
    "    return loss\n"
)
_MASKED = (
    "def masked(mask, scores):\n    mask = mask[..., :1]\n"
    "    return tf.where(mask, scores, 2.0 * scores)\n\n\n"
    "def loss(y_true, y_pred):\n    return masked(y_true, y_pred)\n"
)
_TAKEN = (
    "def loss(y_true, y_pred):\n    weights = tf.constant([1.0, 0.5, 2.0])\n"
    "    return keras.ops.take(weights, y_true, axis=0) * y_pred\n"
)
_PICKED = (
    "class Trainer:\n    def loss(self, y_true, y_pred):\n"
    "        return K.gather(K.constant([1.0, 0.5, 2.0]), y_true) * y_pred\n\n"
    "    def build(self):\n        x = tf.keras.Input((5,))\n"
    "        y = tf.keras.layers.Dense(1, kernel_initializer='ones', name='out')(x)\n"
    "        self.model = tf.keras.Model(x, y)\n"
    "        self.model.compile('sgd', loss={'out': self.loss})\n"
    "        return self.model\n\n\nmodel = Trainer().build()\n"
)

VALID = [
    # Cast, compared, or not the targets.
    _program(_ONE_HOT.format("tf.cast(y_true[:, 0], tf.int32)"), "loss"),
    _program(_LOSS.replace(":\n", ":\n    y_true = tf.cast(y_true, 'int64')\n", 1), "loss"),
    _program(_ONE_HOT.format("tf.argmax(y_true, axis=-1)"), "loss"),
    _program(_ONE_HOT.format("tf.argmax(y_pred, axis=-1)"), "loss"),
    _program(_MASKED.replace("[..., :1]", " > 0"), "loss"),
    _program(_MASKED.replace("masked(y_true,", "masked(y_true == 1,"), "loss"),
    _program(
        "def loss(y_true, y_pred):\n    if sparse:\n        y_true = tf.cast(y_true, tf.int32)\n"
        "    return tf.gather(weights, y_true) * y_pred\n",
        "loss",
    ),
    _program(
        "def loss(y_true, y_pred):\n    y_true, y_pred = prepared(y_true, y_pred)\n"
        "    return tf.one_hot(y_true, 3) * y_pred\n",
        "loss",
    ),
    # What takes floats, and what is only picked from.
    _program(
        "def loss(y_true, y_pred):\n    picked = tf.gather(y_true, [0], axis=1)\n"
        "    found = tf.where(y_true)\n    kept = tf.where(y_pred > 0, y_true, 0.0)\n"
        "    return tf.boolean_mask(y_pred, y_true) + tf.sequence_mask(y_true, 3)\n",
        "loss",
    ),
    _program(_LOSS.replace("tf.one_hot", "keras.ops.one_hot"), "loss"),
    (
        "from keras import backend as K\n\n\ndef loss(y_true, y_pred):\n"
        "    return K.one_hot(y_true, 3) * y_pred\n\n\nmodel.compile('sgd', loss=loss)\n"
    ),
    # PyTorch takes floats for whole numbers, and nothing tells that it is not run with that.
    (
        "import keras\n\n\ndef loss(y_true, y_pred):\n"
        "    return keras.ops.take(weights, y_true) * y_pred\n\n\n"
        "model.compile('sgd', loss=loss)\n"
    ),
    # It goes by the type.
    _program(
        "def loss(y_true, y_pred):\n    if y_true.dtype.is_integer:\n"
        "        y_true = tf.one_hot(y_true, 3)\n    return y_true * y_pred\n",
        "loss",
    ),
    _program(
        "def loss(y_true, y_pred):\n    try:\n        labels = tf.one_hot(y_true, 3)\n"
        "    except TypeError:\n        labels = tf.one_hot(tf.cast(y_true, tf.int32), 3)\n"
        "    return labels * y_pred\n",
        "loss",
    ),
    # The loss has a type of its own, or a call of its own.
    _TF + _CLASS + "\n\nmodel.compile('sgd', Sparse(dtype='int64'))\n",
    _TF
    + _CLASS.replace(
        "    def call",
        "    def __init__(self):\n        super().__init__(dtype='int64')\n\n    def call",
    ),
    _TF
    + _CLASS
    + "\n    def __call__(self, y_true, y_pred, sample_weight=None):\n"
    + "        return tf.reduce_mean(self.call(y_true, y_pred))\n",
    # Keras does not call it as a loss, or the model does so by itself.
    _program(_LOSS, "'mse', metrics=[loss]"),
    _KERAS + _LOSS + "\n\nvalue = loss(labels, predictions)\n",
    _KERAS
    + _LOSS
    + "\n\nclass Mine(keras.Model):\n    def train_step(self, data):\n"
    + "        return {'loss': self.loss(data[1], self(data[0]))}\n\n\n"
    + "model = Mine()\nmodel.compile('sgd', loss=loss)\n",
    _KERAS + "from mine import cast\n\n\n@cast\n" + _LOSS + "\n\nmodel.compile('sgd', loss)\n",
    (
        "import keras\nimport tensorflow as tf\nfrom mine import Loss\n\n\n"
        + _CLASS.replace("tf.keras.losses.Loss", "Loss")
    ),
    # Keras 2.
    _program(_LOSS, "loss").replace("import keras", "import tf_keras as keras"),
    _TF.replace("tensorflow.keras", "tf_keras")
    + "import tf_keras\n\n\n"
    + _CLASS.replace("tf.keras", "tf_keras"),
]
INVALID = [
    _example(_program(_LOSS, "loss"), "y_true[:, 0]", "tf.cast(y_true[:, 0], tf.int32)", "indices"),
    _example(
        _program(_CLASS, "loss=Sparse()", _TF),
        "tf.squeeze(y_true, -1)",
        "tf.cast(tf.squeeze(y_true, -1), tf.int32)",
        "labels",
    ),
    Example(
        before=_program(_FACTORY, "loss=[weighted([1.0, 0.5, 2.0])]"),
        after=_program(_FACTORY, "loss=[weighted([1.0, 0.5, 2.0])]")
        .replace("classes - 1 + 1", "tf.cast(classes - 1 + 1, tf.int32)")
        .replace("indices=classes", "indices=tf.cast(classes, tf.int32)"),
        raises="TypeError: Value passed to parameter 'indices' has DataType float32",
        findings=2,
        on_keras_2=True,
        same=_SAME,
    ),
    # Truth values, by way of another function.
    Example(
        before=_program(_MASKED, "loss", labels=_TRUTH),
        after=_program(_MASKED, "loss", labels=_TRUTH).replace(
            "tf.where(mask,", "tf.where(tf.cast(mask, tf.bool),"
        ),
        raises="TypeError: Input 'condition' of 'SelectV2' Op has type float32",
        on_keras_2=True,
        same=_SAME,
    ),
    # By what the file has of TensorFlow, and of Keras.
    _example(
        _program(_LOSS, "loss").replace(
            "import tensorflow as tf\n", "import tensorflow.compat.v1 as tf\n"
        ),
        "y_true[:, 0]",
        "tf.cast(y_true[:, 0], tf.int32)",
        "indices",
    ),
    Example(
        before=_program(_TAKEN, "loss"),
        after=_program(_TAKEN, "loss").replace(
            "y_true, axis=0", 'keras.ops.cast(y_true, "int32"), axis=0'
        ),
        raises="TypeError: Value passed to parameter 'indices' has DataType float32",
    ),
    Example(
        before=_TF + _PICKED + _IMAGES + _LABELS + _FIT,
        after=(_TF + _PICKED + _IMAGES + _LABELS + _FIT)
        .replace("import backend as K\n", "import backend as K\nfrom tensorflow.keras import ops\n")
        .replace("y_true)", 'ops.cast(y_true, "int32"))'),
        raises="TypeError: Value passed to parameter 'indices' has DataType float32",
        on_keras_2=True,
        same=_SAME,
    ),
]
