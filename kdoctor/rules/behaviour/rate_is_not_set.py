"""`optimizer.lr = …` sets an attribute that nothing reads.

## What it does
Reports assignments to `lr` of an optimizer: `optimizer.lr = 0.1`, `setattr(optimizer, "lr", 0.1)`.

## Why it breaks
`lr` was an alias of `learning_rate` until Keras 2.15. On Keras 3 the assignment creates a new
attribute, with no warning, and the learning rate does not change.

## What to write instead
`optimizer.learning_rate = 0.1`. The fix changes every `.lr` of the same optimizer in the file.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, with the rate read from the optimizer afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.queries import File, Store, files, stores
from kdoctor.analysis.queries.conditions import string, word
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind, Type

_OLD, _NEW = "lr", "learning_rate"
_OTHERS = (BindingKind.AUGMENT, BindingKind.DELETE)


@rule(
    "KD406",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=stores(_OLD, on=Kind.OPTIMIZER) | files(word("setattr"), string(_OLD)),
)
def check(found: Store | File) -> Iterator[Finding]:
    """Report each assignment to ``lr``."""
    if isinstance(found, File):
        yield from _set_by_name(found)
    # An update (`*=`) reads the attribute first, and fails there: KD206.
    elif found.store.how not in _OTHERS:
        yield _finding(found, found.node, found.owner, *_renamed(found))


def _renamed(found: Store) -> Iterator[Edit]:
    """Yield the edits of all places where the optimizer is written as here."""
    module, written = found.module, found.source(found.node.value)
    places: list[MemberUse | MemberStore] = [*module.members, *module.member_stores]
    spans = {
        module.span(each.node.attr)
        for each in places
        if each.member == _OLD and each.owner.kind is Kind.OPTIMIZER
        if module.source(each.node.value) == written
    }
    return (Edit(span, (_NEW,)) for span in sorted(spans))


def _set_by_name(file: File) -> Iterator[Finding]:
    """Report ``setattr(optimizer, "lr", …)``."""
    module = file.module
    for call, name, owner in _setattrs(module):
        if owner.kind is Kind.OPTIMIZER and name.raw_value == _OLD and not module.is_guarded(call):
            text = f"{name.quote}{_NEW}{name.quote}"
            yield _finding(file, call, owner, Edit(module.span(name), (text,)))


def _finding(found: Store | File, node: cst.CSTNode, owner: Type, *edits: Edit) -> Finding:
    return found.finding(
        "this sets a new attribute `lr`; the learning rate does not change",
        at=node,
        symbol=f"{owner.cls or 'Optimizer'}.lr",
        help="Write `learning_rate`.",
        fix=found.fix("Write `learning_rate` instead of `lr`", *edits),
    )


def _setattrs(
    module: Module,
) -> Iterator[tuple[cst.Call, cst.SimpleString, Type]]:
    for node in module.nodes(cst.Call):
        match node:
            case cst.Call(
                func=cst.Name(value="setattr"),
                args=[cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as name), _],
            ) if (kind := module.type_of(owner)) is not None:
                yield node, name, kind


_RATE = "assert abs(float(optimizer.learning_rate) - 0.5) < 1e-6"
_MODEL = (
    "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse')\n"
)

VALID = [
    "import keras\noptimizer = keras.optimizers.SGD()\noptimizer.learning_rate = 0.5",
    "import keras\n\nclass Mine:\n    lr = 0.1\n\nMine().lr = 0.5",
    (
        "import keras\n\nclass Mine(keras.optimizers.SGD):\n    @property\n    def lr(self):\n"
        "        return self.learning_rate\n\n    @lr.setter\n    def lr(self, value):\n"
        "        self.learning_rate = value\n\noptimizer = Mine()\noptimizer.lr = 0.5"
    ),
    (
        "import keras\n\nclass Mine(keras.optimizers.Optimizer):\n    def __init__(self, lr):\n"
        "        self.lr = lr"
    ),
    "import tf_keras\noptimizer = tf_keras.optimizers.SGD()\noptimizer.lr = 0.5",
    "import keras\n\ndef slow(optimizer):\n    optimizer.lr = 0.5",
]
INVALID = [
    Example(
        before="import keras\n\noptimizer = keras.optimizers.SGD(0.1)\noptimizer.lr = 0.5\n",
        after="import keras\n\noptimizer = keras.optimizers.SGD(0.1)\n"
        "optimizer.learning_rate = 0.5\n",
        on_keras_2=True,
        check=_RATE,
    ),
    Example(
        before=_MODEL + "model.optimizer.lr = 0.5\nprint(model.optimizer.lr)\n",
        after=_MODEL
        + "model.optimizer.learning_rate = 0.5\nprint(model.optimizer.learning_rate)\n",
        on_keras_2=True,
        check=f"optimizer = model.optimizer\n{_RATE}",
    ),
    Example(
        before=_MODEL + "\n\nclass Slower(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        self.model.optimizer.lr = 0.5\n",
        after=_MODEL + "\n\nclass Slower(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        self.model.optimizer.learning_rate = 0.5\n",
        on_keras_2=True,
        check="import numpy as np\nmodel.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0, "
        f"callbacks=[Slower()])\noptimizer = model.optimizer\n{_RATE}",
    ),
    Example(
        before="import keras\n\noptimizer = keras.optimizers.SGD(0.1)\n"
        "setattr(optimizer, 'lr', 0.5)\n",
        after="import keras\n\noptimizer = keras.optimizers.SGD(0.1)\n"
        "setattr(optimizer, 'learning_rate', 0.5)\n",
        on_keras_2=True,
        check=_RATE,
    ),
]
