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

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, owner_in_words, symbol
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

_MEMBER = "unique_object_name"
_NAMED = {
    Kind.TENSOR: "name",
    Kind.LAYER: "name",
    Kind.MODEL: "name",
    Kind.OPTIMIZER: "name",
    Kind.METRIC: "name",
    Kind.LOSS: "name",
    Kind.VARIABLE: "path",
}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each use that the user's own class does not define."""
    for use in module.members:
        is_it = use.member == _MEMBER and (use.owner.kind in _NAMED or use.owner.kind is Kind.EAGER)
        if not is_it or use.owner_defines or module.is_guarded(use.node):
            continue
        name = "name" if use.owner.is_tf_variable else _NAMED.get(use.owner.kind)
        fix = _read_the_name(module, use, name)
        yield rule.finding(
            module.place(use.node),
            f"{owner_in_words(use.owner)} has no `{_MEMBER}`: "
            f"{attribute_error(use.owner, _MEMBER)}",
            symbol=symbol(use.owner, _MEMBER),
            confidence=use.confidence,
            help=f"Read `.{name}`." if name else "A tensor with values has no name.",
            fix=fix or NoFix(_reason(name)),
        )


def _read_the_name(module: Module, use: MemberUse, name: str | None) -> Fix | None:
    parent = module.parent(use.node)
    called = isinstance(parent, cst.Call) and parent.func is use.node
    if name is None or called:
        return None
    edit = Edit(module.span(use.node.attr), (name,))
    return rule.fix(
        f"Read `.{name}` instead",
        edit,
        unsafe_because="no Keras release defines what this name should be",
    )


def _reason(name: str | None) -> str:
    return "a name is not callable" if name else "a tensor with values has no name to read instead"


rule = Rule(
    code="KD202",
    name="no-unique-object-name",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({*_NAMED, Kind.EAGER}, _MEMBER),
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
