"""``.unique_object_name``: not an attribute of tensors, weights, layers or models.

## What it does
Reports `.unique_object_name` on anything that Keras makes.

## Why it breaks
It was a function of `keras.backend`, public by accident in Keras 2.6 to 2.12, that makes a name
for a new layer from a prefix. No object ever had an attribute of that name: `AttributeError:
'KerasTensor' object has no attribute 'unique_object_name'`.

## What to write instead
Use `layer.name`, `tensor.name` on a symbolic tensor, `weight.name`, and `weight.path`
(`dense/kernel`), which is unique within a model. For a new name,
`f"{prefix}_{keras.backend.get_uid(prefix)}"` (KD101).

## How we know
Run on Keras 3.15.1 for each kind of object. The fix needs `--unsafe`: only you know which name was
meant.
"""

from __future__ import annotations

from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, owner_in_words, symbol
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_NAMED = {
    Kind.TENSOR: "name",
    Kind.LAYER: "name",
    Kind.MODEL: "name",
    Kind.OPTIMIZER: "name",
    Kind.METRIC: "name",
    Kind.LOSS: "name",
    Kind.VARIABLE: "path",
}


@rule(
    "KD202",
    severity=Severity.ERROR,
    look_for=reads("unique_object_name", on={*_NAMED, Kind.EAGER}),
)
def check(read: Read) -> Finding:
    """Report each use that the user's own class does not define."""
    name = "name" if read.owner.is_tf_variable else _NAMED.get(read.owner.kind)
    return read.finding(
        f"{owner_in_words(read.owner)} has no `{read.member}`: "
        f"{attribute_error(read.owner, read.member)}",
        symbol=symbol(read.owner, read.member),
        help=f"Read `.{name}`." if name else "A tensor with values has no name.",
        fix=_read_the_name(read, name),
    )


def _read_the_name(read: Read, name: str | None) -> Fix | NoFix:
    if name is None:
        return NoFix("a tensor with values has no name to read instead")
    if read.called:
        return NoFix("a name is not callable")
    return read.fix(
        f"Read `.{name}` instead",
        Edit(read.module.span(read.node.attr), (name,)),
        unsafe_because="no Keras release defines what this name should be",
    )


VALID = [
    "import keras\nlayer = keras.layers.Dense(2)\nlayer.name",
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    @property\n"
        "    def unique_object_name(self):\n        return 'mine'\n\n\nMine().unique_object_name"
    ),
    "import keras\nthing = read_somewhere()\nthing.unique_object_name",
]
INVALID = [
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(2)\nprint(layer.unique_object_name)",
        after="import keras\n\nlayer = keras.layers.Dense(2)\nprint(layer.name)",
        raises="AttributeError: 'Dense' object has no attribute 'unique_object_name'",
        unsafe=True,
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(2)\ny = layer(keras.Input((3,)))\n"
        "print(y.unique_object_name)",
        after="import keras\n\nlayer = keras.layers.Dense(2)\ny = layer(keras.Input((3,)))\n"
        "print(y.name)",
        raises="AttributeError: 'KerasTensor' object has no attribute 'unique_object_name'",
        unsafe=True,
    ),
    Example(
        before="import tensorflow as tf\nimport keras\n\ntf.zeros((2,)).unique_object_name",
        raises="AttributeError: 'tensorflow.python.framework.ops.EagerTensor' object has no "
        "attribute 'unique_object_name'",
    ),
    Example(
        before="import keras\n\n\nclass Scale(keras.layers.Layer):\n"
        "    def build(self, shape):\n"
        "        self.w = self.add_weight(shape=(1,))\n"
        "        print(self.w.unique_object_name)\n\n\n"
        "Scale().build((1,))",
        after="import keras\n\n\nclass Scale(keras.layers.Layer):\n"
        "    def build(self, shape):\n"
        "        self.w = self.add_weight(shape=(1,))\n"
        "        print(self.w.path)\n\n\n"
        "Scale().build((1,))",
        raises="AttributeError: 'Variable' object has no attribute 'unique_object_name'",
        unsafe=True,
    ),
]
