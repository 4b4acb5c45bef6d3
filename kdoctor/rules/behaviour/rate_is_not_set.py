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

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import changes_of, string, word
from kdoctor.model import Confidence, Edit, Finding, Severity, Span
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind, Type

_OLD, _NEW = "lr", "learning_rate"
_OTHERS = (BindingKind.AUGMENT, BindingKind.DELETE)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each assignment to ``lr``."""
    renamed = _renamed(module)
    for store in module.member_stores:
        if store.owner.kind is not Kind.OPTIMIZER or store.member != _OLD or store.owner_defines:
            continue
        # An update (`*=`) reads the attribute first, and fails there: KD206.
        if store.how in _OTHERS or module.is_guarded(store.node):
            continue
        cls = store.owner.cls or "Optimizer"
        yield rule.finding(
            module.place(store.node),
            "this sets a new attribute `lr`; the learning rate does not change",
            symbol=f"{cls}.lr",
            confidence=store.confidence,
            help="Write `learning_rate`.",
            fix=rule.fix(
                "Write `learning_rate` instead of `lr`", *renamed[module.source(store.node.value)]
            ),
        )
    yield from _set_by_name(module)


def _renamed(module: Module) -> dict[str, tuple[Edit, ...]]:
    """Return how the attribute is renamed at all places, by how the optimizer is written there."""
    spans: dict[str, set[Span]] = {}
    places: list[MemberUse | MemberStore] = [*module.members, *module.member_stores]
    for each in places:
        if each.member == _OLD and each.owner.kind is Kind.OPTIMIZER:
            written = module.source(each.node.value)
            spans.setdefault(written, set()).add(module.span(each.node.attr))
    return {
        written: tuple(Edit(span, (_NEW,)) for span in sorted(found))
        for written, found in spans.items()
    }


def _set_by_name(module: Module) -> Iterator[Finding]:
    """Report ``setattr(optimizer, "lr", …)``."""
    for call, name, kind in _setattrs(module):
        if kind.kind is not Kind.OPTIMIZER or name.raw_value != _OLD or module.is_guarded(call):
            continue
        text = f"{name.quote}{_NEW}{name.quote}"
        yield rule.finding(
            module.place(call),
            "this sets a new attribute `lr`; the learning rate does not change",
            symbol=f"{kind.cls or 'Optimizer'}.lr",
            confidence=Confidence.LIKELY,
            help="Write `learning_rate`.",
            fix=rule.fix("Write `learning_rate` instead of `lr`", Edit(module.span(name), (text,))),
        )


def _setattrs(
    module: Module,
) -> Iterator[tuple[cst.Call, cst.SimpleString, Type]]:
    if "setattr" not in module.text:
        return
    for node in module.nodes(cst.Call):
        match node:
            case cst.Call(
                func=cst.Name(value="setattr"),
                args=[cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as name), _],
            ) if (kind := module.type_of(owner)) is not None:
                yield node, name, kind


rule = Rule(
    code="KD406",
    name="rate-is-not-set",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=changes_of({Kind.OPTIMIZER}, _OLD) | (word("setattr") & string(_OLD)),
    since="3.0",
)

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
