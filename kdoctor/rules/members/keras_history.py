"""``tensor._keras_history``: private, only on symbolic tensors, and without ``.layer`` on Keras 3.

## What it does
Reports `._keras_history.layer` and `._keras_history` on anything but a symbolic tensor as errors,
and other uses of `._keras_history` as private.

## Why it breaks
Keras records in `_keras_history` which operation made a symbolic tensor. It exists before and after
`compile` and `fit`, on Keras 2 and 3. On Keras 3 its first field is named `operation`:
`AttributeError: 'KerasHistory' object has no attribute 'layer'`. A tensor with values was not made
by a Keras operation and never had it: `AttributeError:
'tensorflow.python.framework.ops.EagerTensor' object has no attribute '_keras_history'`.

## What to write instead
`._keras_history.operation`, or `._keras_history[0]`, which reads the same field on Keras 2 and 3.
Better, use the public API: `model.layers`, `model.get_layer(name)`, `layer.output`.

## How we know
Run on Keras 3.15.1: the errors are quoted from there, and `KerasHistory` is a named tuple of
`operation`, `node_index` and `tensor_index`.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import Read, reads
from kdoctor.analysis.queries.conditions import word
from kdoctor.model import Edit, Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, owner_in_words, symbol
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_MEMBER = "_keras_history"
_WITHOUT = {Kind.EAGER, Kind.VARIABLE, Kind.LAYER, Kind.MODEL}


@rule(
    "KD203",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reads(_MEMBER, on={*_WITHOUT, Kind.TENSOR})
    | reads("layer", on=Kind.KERAS_HISTORY).beside(word(_MEMBER)),
)
def check(read: Read) -> Finding | None:
    """Report what raises; what is merely private where nothing behind it raises."""
    if read.member == "layer":
        return _renamed(read)
    if read.owner.kind in _WITHOUT:
        return _absent(read)
    parent = read.module.parent(read.node)
    is_followed = isinstance(parent, cst.Attribute) and parent.attr.value == "layer"
    return None if is_followed else _private(read)


def _renamed(read: Read) -> Finding:
    edit = Edit(read.module.span(read.node.attr), ("operation",))
    return read.finding(
        f"a KerasHistory has no `layer`: {attribute_error(read.owner, 'layer')}",
        symbol="KerasHistory.layer",
        help="It is now `operation`.",
        fix=read.fix("Read `.operation` instead of `.layer`", edit),
    )


def _absent(read: Read) -> Finding:
    return read.finding(
        f"{owner_in_words(read.owner)} has no `{_MEMBER}`: {attribute_error(read.owner, _MEMBER)}",
        symbol=symbol(read.owner, _MEMBER),
        help="Only symbolic tensors (`keras.Input(…)`, a layer called on one) record which "
        "operation made them.",
        fix=NoFix("only symbolic tensors of a model record which operation made them"),
    )


def _private(read: Read) -> Finding:
    return read.finding(
        f"`{_MEMBER}` is private to Keras and may change without notice; "
        "it exists on symbolic tensors, before and after `compile`",
        symbol=f"KerasTensor.{_MEMBER}",
        severity=Severity.LEGACY,
        help="Ask the model: `model.layers`, `model.get_layer(name)`, `layer.output`.",
        fix=NoFix("kdoctor cannot tell what it is used for"),
    )


VALID = [
    # tf_keras is Keras 2, whatever the target: its histories have a `layer`.
    "import tf_keras\nx = tf_keras.Input((4,))\nx._keras_history.layer",
    "import keras\nx = keras.Input((4,))\nif hasattr(x, '_keras_history'):\n    x._keras_history",
    "import keras\nx = read_somewhere()\nx._keras_history",
]
INVALID = [
    Example(
        before="import keras\n\nx = keras.layers.Dense(2)(keras.Input((4,)))\n"
        "print(x._keras_history.layer.name)",
        after="import keras\n\nx = keras.layers.Dense(2)(keras.Input((4,)))\n"
        "print(x._keras_history.operation.name)",
        raises="AttributeError: 'KerasHistory' object has no attribute 'layer'",
    ),
    Example(
        before="import keras\nimport tensorflow as tf\n\nx = tf.random.normal((2, 4))\n"
        "print(x._keras_history)",
        raises="AttributeError: 'tensorflow.python.framework.ops.EagerTensor' object has no "
        "attribute '_keras_history'",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(2)\nlayer._keras_history",
        raises="AttributeError: 'Dense' object has no attribute '_keras_history'",
    ),
    Example(
        before="import keras\n\nx = keras.Input((4,))\nmodel = keras.Model(x, x)\n"
        "model.compile()\nprint(x._keras_history[0])",
    ),
]
