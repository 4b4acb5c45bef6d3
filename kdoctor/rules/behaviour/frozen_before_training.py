"""A model that is frozen after `compile` no longer trains by itself: GANs stop learning.

## What it does
Reports `model.trainable = False` after `model.compile(…)` and before any training, where the file
trains that same model later on and never sets `trainable` back.

## Why it breaks
Every GAN tutorial of Keras 2 compiles the discriminator, freezes it, and builds the combined model
of generator and discriminator. In Keras 2 `compile` took down what was trainable: the discriminator
went on learning by itself, and was frozen inside the combined model. Keras 3 looks at the first
training step: the discriminator has no trainable weights left, and never learns. Nothing raises;
Keras warns `The model does not have any trainable weights.`

## What to write instead
Thaw it around its own training:

    discriminator.trainable = True
    discriminator.train_on_batch(images, labels)
    discriminator.trainable = False
    combined.train_on_batch(noise, labels)

The first training step of each model decides; later changes need a new `compile`, as in Keras 2.
The fix writes that. It is unsafe, as layers that were frozen one by one are thawed too. Since Keras
2.11 an optimizer that both models were given knows the variables of the first alone: `ValueError:
Unknown variable`. So the fix gives the frozen model a copy of it.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: which weights change in which step, with and without the fix.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.kinds import Kind
from kdoctor.model import Applicability, Edit, Finding, Fix, Severity, Span
from kdoctor.rewrite.source_lines import line_end, margin
from kdoctor.rules.calls import argument, literal, replaced
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import Trigger, assigned, attribute, receivers
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.glimpse import Glimpse
from kdoctor.syntax.nodes import dotted

_TRAINING = frozenset({"fit", "fit_generator", "train_on_batch"})


def check(module: Module, facts: Facts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each model that is frozen between ``compile`` and its first training."""
    for store in module.member_stores:
        if store.owner.kind is not Kind.MODEL or store.member != "trainable":
            continue
        if not store.is_plain or literal(store.value) is not False or store.owner_overrides:
            continue
        name = module.source(store.node.value)
        if module.is_guarded(store.node) or not _is_compiled_before(module, store, name):
            continue
        trained = [
            use.called
            for use in module.members
            if use.member in _TRAINING
            and use.owner.kind is Kind.MODEL
            and use.called is not None
            and module.source(use.node.value) == name
        ]
        if trained and not _is_thawed(module, name):
            yield _finding(module, store, name, trained)


def _finding(module: Module, store: MemberStore, name: str, trained: Sequence[cst.Call]) -> Finding:
    edits = _thawing(module, name, trained)
    copied = _copied_optimizer(module, name)
    return rule.finding(
        module.place(store.node),
        f"`{name}` was compiled while it could be trained, and Keras 2 went on training it; on "
        "Keras 3 it is frozen for good, and its own training changes nothing",
        symbol=f"{store.owner.cls or 'Model'}.trainable",
        confidence=store.confidence,
        help=f"Set `{name}.trainable = True` before its own training step and False after it.",
        fix=None
        if edits is None
        else Fix(
            f"Thaw `{name}` around its own training",
            (*edits, *copied),
            Applicability.UNSAFE,
            unsafe_because="layers of it that were frozen one by one are thawed too"
            + (", and the two models share no optimizer any more" if copied else ""),
        ),
        no_fix_because=None if edits else "its training stands where no statement can be put",
    )


def _copied_optimizer(module: Module, name: str) -> tuple[Edit, ...]:
    """Return the edits that give a model a copy of an optimizer that another is compiled with."""
    given = [
        (module.source(use.node.value) == name, optimizer.value)
        for use in module.members
        if use.member == "compile" and use.called is not None and use.owner.kind is Kind.MODEL
        if (optimizer := argument(use.called, "optimizer", 0)) is not None
        if isinstance(optimizer.value, cst.Name)
        if (found := module.type_of(optimizer.value)) and found.kind is Kind.OPTIMIZER
    ]
    theirs = [module.bindings_at(value) for is_its, value in given if not is_its]
    return tuple(
        replaced(module, value, f"{value.value}.from_config({value.value}.get_config())")
        for is_its, value in given
        if is_its and module.bindings_at(value) in theirs
    )


def _is_compiled_before(module: Module, store: MemberStore, name: str) -> bool:
    """Say whether it is compiled above, in the same run of code, and only there, and untrained."""
    place = module.span(store.node)
    scope = module.scope_of(store.node)
    uses = [
        use
        for use in module.members
        if use.called is not None
        and module.source(use.node.value) == name
        and module.scope_of(use.node) is scope
    ]
    before = [
        use for use in uses if module.span(use.node) < place and _runs_before(module, use, store)
    ]
    after = [use for use in uses if module.span(use.node) > place]
    return (
        any(use.member == "compile" for use in before)
        and not any(use.member in _TRAINING for use in before)
        and not any(use.member == "compile" for use in after)
    )


def _runs_before(module: Module, use: MemberUse, store: MemberStore) -> bool:
    """Say whether the block of the earlier one is around the later one."""
    block = next(each for each in module.ancestors(use.node) if isinstance(each, _BLOCKS))
    return block in set(module.ancestors(store.node))


_BLOCKS = (cst.IndentedBlock, cst.Module)


def _is_thawed(module: Module, name: str) -> bool:
    """Say whether anything but False is assigned to its ``trainable``, or to that of its layers."""
    return any(
        store.member == "trainable"
        and module.source(store.node.value) == name
        and not (store.is_plain and literal(store.value) is False)
        for store in module.member_stores
    )


def _thawing(module: Module, name: str, trained: Sequence[cst.Call]) -> tuple[Edit, ...] | None:
    """Return the lines around each run of statements that train it; None where none can be put."""
    lines: list[cst.SimpleStatementLine] = []
    for call in trained:
        line = next(
            (e for e in module.ancestors(call) if isinstance(e, cst.SimpleStatementLine)), None
        )
        if line is None or not isinstance(module.parent(line), _BLOCKS):
            return None
        if any(isinstance(e, cst.Lambda | cst.Return) for e in module.ancestors(call)):
            return None
        if not any(line is each for each in lines):
            lines.append(line)
    edits: list[Edit] = []
    for first, last in _runs(module, lines):
        start, end = module.span(first).start, module.span(last).end
        indent = margin(module.text, start)
        if indent.strip():
            return None
        end = line_end(module.text, end)
        edits += [
            Edit(Span(start, start), (f"{name}.trainable = True\n{indent}",)),
            Edit(Span(end, end), (f"\n{indent}{name}.trainable = False",)),
        ]
    return tuple(edits)


def _runs(
    module: Module, lines: Sequence[cst.SimpleStatementLine]
) -> Iterator[tuple[cst.SimpleStatementLine, cst.SimpleStatementLine]]:
    """Yield the first and the last of statements that follow each other directly."""
    waiting = list(lines)
    while waiting:
        first = last = waiting.pop(0)
        block = module.parent(first)
        assert isinstance(block, _BLOCKS)
        body = list(block.body)
        while waiting and waiting[0] in body and body.index(waiting[0]) == body.index(last) + 1:
            last = waiting.pop(0)
        yield first, last


def _may_be_frozen(glimpse: Glimpse, _: Facts) -> bool:
    """Say whether what is frozen somewhere may be compiled and trained, too."""
    frozen = {
        dotted(target.value) or ""
        for kind in (ast.Assign, ast.AnnAssign)
        for each in glimpse.nodes.get(kind, ())
        if isinstance(each.value, ast.Constant) and each.value.value is False
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
        if isinstance(target, ast.Attribute) and target.attr == "trainable"
    }
    compiled = frozen & receivers(glimpse, "compile") if frozen else frozen
    return bool(compiled and compiled & receivers(glimpse, *_TRAINING))


rule = Rule(
    code="KD403",
    name="frozen-before-training",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=assigned("trainable")
    & attribute("compile")
    & attribute(*_TRAINING)
    & Trigger(_may_be_frozen),
    since="3.0",
)

_GAN = (
    "import keras\nimport numpy as np\n\n"
    "critic = keras.Sequential([keras.layers.Dense(1, kernel_initializer='ones')])\n"
    "maker = keras.Sequential([keras.layers.Dense(2)])\n"
    "critic.compile('sgd', 'mse')\n"
    "critic.trainable = False\n"
    "noise = keras.layers.Input((2,))\n"
    "both = keras.Model(noise, critic(maker(noise)))\n"
    "both.compile('sgd', 'mse')\n"
    "old = critic.get_weights()[0].copy()\n"
)
_SHARING = _GAN.replace("'sgd',", "how,").replace(
    "critic.comp", "how = keras.optimizers.Adam(0.1)\ncritic.comp"
)
_STEP = (
    "for _ in range(2):\n"
    "    # on real images and on made ones\n"
    "    first = critic.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))\n"
    "    second = critic.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))  # made\n"
    "    both.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))\n"
)
_THAWED = (
    "for _ in range(2):\n"
    "    # on real images and on made ones\n"
    "    critic.trainable = True\n"
    "    first = critic.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))\n"
    "    second = critic.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))  # made\n"
    "    critic.trainable = False\n"
    "    both.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))\n"
)

VALID = [
    _GAN + _THAWED,
    # Never trained by itself.
    _GAN + "both.fit(x, y)",
    # Compiled anew: frozen on purpose.
    (
        "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse')\n"
        "model.trainable = False\nmodel.compile('sgd', 'mse')\nmodel.fit(x, y)"
    ),
    # Not compiled when it is frozen.
    (
        "import keras\nmodel = keras.Sequential()\nmodel.trainable = False\n"
        "model.compile('sgd', 'mse')\nmodel.fit(x, y)"
    ),
    # Trained before: what is frozen later needs a new `compile` in both.
    (
        "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse')\nmodel.fit(x, y)\n"
        "model.trainable = False\nmodel.fit(x, y)"
    ),
]
INVALID = [
    Example(
        before=_GAN + _STEP,
        after=_GAN + _THAWED,
        unsafe=True,
        on_keras_2=True,
        check="assert (critic.get_weights()[0] != old).all()",
    ),
    Example(
        before=_SHARING + _STEP,
        after=_SHARING.replace("(how,", "(how.from_config(how.get_config()),", 1) + _THAWED,
        unsafe=True,
        check="assert (critic.get_weights()[0] != old).all()",
    ),
    Example(
        before="import keras\n\n\nclass GAN:\n    def __init__(self):\n"
        "        self.critic = self.build_critic()\n"
        "        self.critic.compile(loss='mse', optimizer='sgd')\n"
        "        noise = keras.layers.Input((2,))\n"
        "        image = keras.layers.Dense(2)(noise)\n"
        "        self.critic.trainable = False\n"
        "        self.both = keras.Model(noise, self.critic(image))\n"
        "        self.both.compile(loss='mse', optimizer='sgd')\n\n"
        "    def build_critic(self):\n"
        "        model = keras.Sequential()\n"
        "        model.add(keras.layers.Dense(1, kernel_initializer='ones'))\n"
        "        return model\n\n"
        "    def train(self, x, y):\n"
        "        return self.critic.train_on_batch(x, y)\n",
        check="import numpy as np\ngan = GAN()\nold = gan.critic.get_weights()[0].copy()\n"
        "gan.train(np.ones((4, 2)), np.zeros((4, 1)))\n"
        "assert (gan.critic.get_weights()[0] == old).all()",
    ),
]
