"""`self.non_trainable_weights.append(self.w)` has no effect: the list is a copy.

## What it does
Reports a weight that a layer appends to its `trainable_weights` or `non_trainable_weights`, also to
the private `_trainable_weights` and `_non_trainable_weights`.

## Why it breaks
On Keras 2 these were the actual lists. On Keras 3 a variable is tracked as soon as it is assigned
to `self`, and is trained unless its own `trainable` is False; the public lists are created on each
access, so the append has no effect, and the private ones are gone: `AttributeError: 'Mine' object
has no attribute '_trainable_weights'`.

## What to write instead
`self.w.trainable = False`, or `self.w = self.add_weight(…, trainable=False)`.

## How we know
Run on Keras 3.15.1: the trainable and non-trainable weights are those of tf_keras.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import FACADES, TargetFacts
from kdoctor.analysis.models.user_classes import class_around
from kdoctor.analysis.triggers import attribute, calls
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickCall
from kdoctor.value_types import Kind

_LISTS = {
    "trainable_weights": True,
    "_trainable_weights": True,
    "non_trainable_weights": False,
    "_non_trainable_weights": False,
}
# That of tf.keras still works, and makes TensorFlow's variable, which can't be told so later.
_MAKERS = frozenset((root, "Variable") for root in ("keras", *FACADES)) | {
    ("keras", "backend.variable")
}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each append of an attribute of the layer's own."""
    for use in module.members:
        if use.owner.kind is not Kind.LAYER or use.member not in _LISTS or use.owner_defines:
            continue
        appended = appended_weight(module, use.node)
        if appended is not None and not module.is_guarded(use.node):
            yield _finding(module, use, appended)


def appended_weight(module: Module, node: cst.CSTNode) -> tuple[cst.Call, cst.Attribute] | None:
    """Return ``self.list.append(self.w)`` and ``self.w`` where the class makes that variable."""
    method = module.parent(node)
    call = None if method is None else module.parent(method)
    match call:
        case cst.Call(
            func=cst.Attribute(value=listed, attr=cst.Name(value="append")),
            args=[cst.Arg(value=cst.Attribute(value=cst.Name()) as weight, keyword=None)],
        ) if listed is node and isinstance(module.parent(call), cst.Expr):
            pass
        case _:
            return None
    receiver = node.value if isinstance(node, cst.Attribute) else None
    if receiver is None or not receiver.deep_equals(weight.value):
        return None
    return (call, weight) if _is_a_variable(module, weight) else None


def _is_a_variable(module: Module, weight: cst.Attribute) -> bool:
    """Say whether all that the class assigns to the attribute are variables of Keras."""
    cls = class_around(module, weight)
    values = [
        each.value
        for each in (() if cls is None else descendants(cls))
        if isinstance(each, cst.Assign)
        for target in each.targets
        if target.target.deep_equals(weight)
    ]
    return bool(values) and all(_makes_a_variable(module, each) for each in values)


def _makes_a_variable(module: Module, value: cst.BaseExpression) -> bool:
    if not isinstance(value, cst.Call):
        return False
    name = module.qualified(value.func) or ""
    added = isinstance(value.func, cst.Attribute) and value.func.attr.value == "add_weight"
    return added or split_root(name) in _MAKERS


def _finding(module: Module, use: MemberUse, appended: tuple[cst.Call, cst.Attribute]) -> Finding:
    call, weight = appended
    trained = _LISTS[use.member]
    source = module.source(weight)
    is_gone = use.member.startswith("_")
    error = f"AttributeError: '{use.owner.cls}' object has no attribute '{use.member}'"
    return rule.finding(
        module.place(use.node),
        f"a layer no longer has `{use.member}`: {error}"
        if is_gone
        else f"appending to `{use.member}` has no effect: the list is a copy, and `{source}` is "
        "trained",
        symbol=f"Layer.{use.member}.append",
        severity=Severity.ERROR if is_gone else Severity.CHANGE,
        confidence=use.confidence,
        help=f"Set `{source}.trainable = {trained}`.",
        fix=rule.fix(
            f"Set `{source}.trainable = {trained}`",
            Edit(module.span(call), (f"{source}.trainable = {trained}",)),
            proven_by=() if "\n" in source else None,
        ),
    )


def _may_append(_: TargetFacts, called: QuickCall) -> bool:
    match called.node:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr=listed), attr="append"),
            args=[ast.Attribute()],
        ):
            return listed in _LISTS
    return False


rule = Rule(
    code="KD430",
    name="weights-appended",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=attribute(*_LISTS) & calls(_may_append, "append"),
    since="3.0",
)

VALID = [
    "import keras\nfound = []\nfound.append(keras.layers.Dense(3).trainable_weights)",
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.w = self.add_weight(shape=(1,))\n"
        "        self.w.trainable = False\n        return self.non_trainable_weights"
    ),
    # Its own list.
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def __init__(self):\n"
        "        super().__init__()\n        self._trainable_weights = []\n"
        "        self.w = keras.Variable(1.0)\n        self._trainable_weights.append(self.w)"
    ),
    (
        "import tf_keras\n\n\nclass Mine(tf_keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.w = self.add_weight('w', (1,))\n"
        "        self._non_trainable_weights.append(self.w)"
    ),
    (
        "import tensorflow as tf\n\n\nclass Mine(tf.keras.layers.Layer):\n"
        "    def build(self, shape):\n        self.w = tf.keras.backend.variable(1.0)\n"
        "        self.non_trainable_weights.append(self.w)"
    ),
    # Who knows what it is.
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.w = make()\n        self.non_trainable_weights.append(self.w)"
    ),
]
_CLASS = (
    "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shape):\n"
    "        self.w = {}\n        {}\n\n    def call(self, x):\n        return x * self.w\n\n\n"
    "mine = Mine()\nmine(keras.ops.ones((2, 1)))\n"
)
_ADDED = "self.add_weight(name='w', shape=(1,))"
INVALID = [
    Example(
        before=_CLASS.format("keras.Variable([1.0])", "self.non_trainable_weights.append(self.w)"),
        after=_CLASS.format("keras.Variable([1.0])", "self.w.trainable = False"),
        check="assert len(mine.non_trainable_weights) == 1 and not mine.trainable_weights",
    ),
    Example(
        before=_CLASS.format(_ADDED, "self._trainable_weights.append(self.w)"),
        after=_CLASS.format(_ADDED, "self.w.trainable = True"),
        raises="AttributeError: 'Mine' object has no attribute '_trainable_weights'",
        check="assert len(mine.trainable_weights) == 1 and not mine.non_trainable_weights",
    ),
    Example(
        before=_CLASS.format(
            "keras.Variable([1.0])",
            "if self.trainable:\n            self._trainable_weights.append(self.w)",
        ),
        after=_CLASS.format(
            "keras.Variable([1.0])",
            "if self.trainable:\n            self.w.trainable = True",
        ),
        raises="AttributeError: 'Mine' object has no attribute '_trainable_weights'",
        check="assert len(mine.trainable_weights) == 1",
    ),
]
