"""`layer._name = …` no longer renames a layer.

## What it does
Reports assignments to `_name` of a layer or a model.

## Why it breaks
Keras 2 stored the name in `_name`, and setting it was the way to rename a layer. On Keras 3 it is
an ordinary attribute: the name does not change, and `get_layer` does not find the new one:
`ValueError: No such layer: mine.`

## What to write instead
`layer.name = "mine"`, which Keras 3 accepts; in the `__init__` of a custom class
`super().__init__(name="mine")`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import changes_of
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberStore, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each assignment to ``_name``."""
    for store in module.member_stores:
        if store.owner.kind not in (Kind.LAYER, Kind.MODEL) or store.member != "_name":
            continue
        if not store.is_plain or store.owner_overrides or module.is_guarded(store.node):
            continue
        fixable = _is_outside_init(module, store.node) or _is_after_super(module, store)
        yield rule.finding(
            module.place(store.node),
            "the name does not change: `_name` is an ordinary attribute in Keras 3",
            symbol=f"{store.owner.cls or 'Layer'}._name",
            confidence=store.confidence,
            help="Write `.name = …`.",
            fix=_fix(module, store)
            if fixable
            else NoFix("`super().__init__()` sets the name afterwards: pass `name=` to it"),
        )


def _fix(module: Module, store: MemberStore) -> Fix:
    """Rename the attribute also where the same object is asked for it, which it lacks then."""
    written = module.source(store.node.value)
    spans = {module.span(store.node.attr)}
    for use in module.members:
        is_one = use.member == "_name" and use.owner.kind in (Kind.LAYER, Kind.MODEL)
        if is_one and module.source(use.node.value) == written:
            spans.add(module.span(use.node.attr))
    edits = tuple(Edit(span, ("name",)) for span in sorted(spans))
    return rule.fix("Write `name` instead of `_name`", *edits)


def _function(module: Module, node: cst.CSTNode) -> cst.FunctionDef | None:
    found = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    return next(found, None)


def _is_outside_init(module: Module, node: cst.CSTNode) -> bool:
    function = _function(module, node)
    return function is None or function.name.value != "__init__"


def _is_after_super(module: Module, store: MemberStore) -> bool:
    function = _function(module, store.node)
    assert function is not None
    return any(
        isinstance(each, cst.Attribute)
        and each.attr.value == "__init__"
        and module.span(each) < module.span(store.node)
        for each in descendants(function.body)
    )


rule = Rule(
    code="KD416",
    name="name-is-not-set",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=changes_of({Kind.LAYER, Kind.MODEL}, "_name"),
    since="3.0",
)

VALID = [
    "import keras\nlayer = keras.layers.Dense(1)\nlayer.name = 'mine'",
    "import keras\n\nclass Mine:\n    def __init__(self):\n        self._name = 'mine'",
    (
        "import keras\n\nclass Own(keras.layers.Layer):\n    @property\n    def _name(self):\n"
        "        return 'a'\n\nOwn()._name = 'b'"
    ),
    "import tf_keras\nlayer = tf_keras.layers.Dense(1)\nlayer._name = 'mine'",
]
INVALID = [
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(1)\nlayer._name = 'mine'\n",
        after="import keras\n\nlayer = keras.layers.Dense(1)\nlayer.name = 'mine'\n",
        on_keras_2=True,
        check="assert layer.name == 'mine'",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
        "for layer in model.layers:\n    layer._name = 'mine_' + layer.name\n",
        after="import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
        "for layer in model.layers:\n    layer.name = 'mine_' + layer.name\n",
        on_keras_2=True,
        check="assert model.get_layer(model.layers[0].name).name.startswith('mine_')",
    ),
    Example(
        before="import keras\n\n\nclass Own(keras.layers.Layer):\n    def __init__(self):\n"
        "        super().__init__()\n        self._name = 'mine'\n",
        after="import keras\n\n\nclass Own(keras.layers.Layer):\n    def __init__(self):\n"
        "        super().__init__()\n        self.name = 'mine'\n",
        on_keras_2=True,
        check="assert Own().name == 'mine'",
    ),
    # What is read of it, too.
    Example(
        before="import keras\n\n\nclass Own(keras.layers.Layer):\n    def __init__(self):\n"
        "        super().__init__()\n        self._name = 'mine'\n\n"
        "    def told(self):\n        return self._name\n",
        after="import keras\n\n\nclass Own(keras.layers.Layer):\n    def __init__(self):\n"
        "        super().__init__()\n        self.name = 'mine'\n\n"
        "    def told(self):\n        return self.name\n",
        on_keras_2=True,
        check="assert Own().told() == Own().name == 'mine'",
    ),
    Example(
        before="import keras\n\n\nclass Own(keras.layers.Layer):\n    def __init__(self):\n"
        "        self._name = 'mine'\n        super().__init__()\n",
        check="assert Own().name != 'mine'",
    ),
]
