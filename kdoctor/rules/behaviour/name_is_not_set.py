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

import libcst as cst

from kdoctor.analysis.queries import Store, stores
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_OWNERS = (Kind.LAYER, Kind.MODEL)


@rule(
    "KD416",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=stores("_name", on=_OWNERS, overridden=True),
)
def check(found: Store) -> Finding | None:
    """Report each assignment to ``_name``."""
    if not found.store.is_plain or found.store.owner_overrides:
        return None
    fixable = _is_outside_init(found) or _is_after_super(found)
    return found.finding(
        "the name does not change: `_name` is an ordinary attribute in Keras 3",
        symbol=f"{found.owner.cls or 'Layer'}._name",
        help="Write `.name = …`.",
        fix=_fix(found)
        if fixable
        else NoFix("`super().__init__()` sets the name afterwards: pass `name=` to it"),
    )


def _fix(found: Store) -> Fix | NoFix:
    """Rename the attribute also where the same object is asked for it, which it lacks then."""
    module, written = found.module, found.source(found.node.value)
    spans = {module.span(found.node.attr)}
    for use in module.members:
        is_one = use.member == "_name" and use.owner.kind in _OWNERS
        if is_one and module.source(use.node.value) == written:
            spans.add(module.span(use.node.attr))
    edits = (Edit(span, ("name",)) for span in sorted(spans))
    return found.fix("Write `name` instead of `_name`", *edits)


def _function(found: Store) -> cst.FunctionDef | None:
    around = found.module.ancestors(found.node)
    return next((each for each in around if isinstance(each, cst.FunctionDef)), None)


def _is_outside_init(found: Store) -> bool:
    function = _function(found)
    return function is None or function.name.value != "__init__"


def _is_after_super(found: Store) -> bool:
    function, span = _function(found), found.module.span
    assert function is not None
    return any(
        isinstance(each, cst.Attribute)
        and each.attr.value == "__init__"
        and span(each) < span(found.node)
        for each in descendants(function.body)
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
