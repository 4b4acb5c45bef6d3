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

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of, word
from kdoctor.model import Edit, Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, owner_in_words, symbol
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

_MEMBER = "_keras_history"
_MEMBERS = frozenset({_MEMBER, "layer"})
_WITHOUT = {Kind.EAGER, Kind.VARIABLE, Kind.LAYER, Kind.MODEL}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report what raises; what is merely private where nothing behind it raises."""
    for use in module.members:
        if use.member not in _MEMBERS or use.owner_defines or module.is_guarded(use.node):
            continue
        if use.owner.kind is Kind.KERAS_HISTORY and use.member == "layer":
            yield _renamed(module, use)
        elif use.member == _MEMBER and use.owner.kind in _WITHOUT:
            yield _absent(module, use)
        elif use.member == _MEMBER and use.owner.kind is Kind.TENSOR:
            parent = module.parent(use.node)
            if not isinstance(parent, cst.Attribute) or parent.attr.value != "layer":
                yield _private(module, use)


def _renamed(module: Module, use: MemberUse) -> Finding:
    edit = Edit(module.span(use.node.attr), ("operation",))
    return rule.finding(
        module.place(use.node),
        f"a KerasHistory has no `layer`: {attribute_error(use.owner, 'layer')}",
        symbol="KerasHistory.layer",
        confidence=use.confidence,
        help="It is now `operation`.",
        fix=rule.fix("Read `.operation` instead of `.layer`", edit),
    )


def _absent(module: Module, use: MemberUse) -> Finding:
    return rule.finding(
        module.place(use.node),
        f"{owner_in_words(use.owner)} has no `{_MEMBER}`: {attribute_error(use.owner, _MEMBER)}",
        symbol=symbol(use.owner, _MEMBER),
        confidence=use.confidence,
        help="Only symbolic tensors (`keras.Input(…)`, a layer called on one) record which "
        "operation made them.",
        fix=NoFix("only symbolic tensors of a model record which operation made them"),
    )


def _private(module: Module, use: MemberUse) -> Finding:
    return rule.finding(
        module.place(use.node),
        f"`{_MEMBER}` is private to Keras and may change without notice; "
        "it exists on symbolic tensors, before and after `compile`",
        symbol=f"KerasTensor.{_MEMBER}",
        confidence=use.confidence,
        severity=Severity.LEGACY,
        help="Ask the model: `model.layers`, `model.get_layer(name)`, `layer.output`.",
        fix=NoFix("kdoctor cannot tell what it is used for"),
    )


rule = Rule(
    code="KD203",
    name="keras-history",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({*_WITHOUT, Kind.TENSOR}, _MEMBER)
    | (word(_MEMBER) & member_of({Kind.KERAS_HISTORY}, "layer")),
    since="3.0",
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
