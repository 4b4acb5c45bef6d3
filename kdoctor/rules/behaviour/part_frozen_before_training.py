"""A submodel frozen after `compile` is no longer trained by the compiled model.

## What it does
Reports `part.trainable = False` after the `compile` of a model that `part` is in, and before that
of another model that contains it, if the file trains the first and never unfreezes the part.

## Why it breaks
GANs with a gradient penalty compile a model that trains the critic, freeze the critic, and compile
the model that trains the generator. In Keras 2 `compile` recorded what was trainable, so the first
model kept training the critic. Keras 3 reads `trainable` at the first training step: the critic is
frozen in both and never learns. Nothing raises.

## What to write instead
Unfreeze it around the training of the first:

    critic.trainable = True
    critic_model.train_on_batch([images, noise], labels)
    critic.trainable = False
    generator_model.train_on_batch(noise, labels)

The first training step of each model decides; later changes need a new `compile`, as in Keras 2.
The fix writes that, and gives the first model a copy of an optimizer that both share. It is unsafe,
as layers that were frozen individually are unfrozen too.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: which weights change in which step, with and without the fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.training.freezing import (
    COMPILE,
    FREEZES_A_PART,
    TRAINING,
    Freezing,
    Setting,
    Use,
    fix_around,
    name_at,
)
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule


@rule(
    "KD447",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files(FREEZES_A_PART),
)
def check(file: File) -> Iterator[Finding]:
    """Report each part that is frozen between two models, of which the first is to train it."""
    freezing = Freezing(file.module)
    if freezing.is_too_much:
        return
    for setting in freezing.models_frozen():
        if sum(freezing.is_same(each.model, setting.model) for each in freezing.settings) > 1:
            continue
        for compiled in freezing.uses(COMPILE):
            steps = _steps(freezing, setting, compiled)
            if steps:
                yield _finding(file, freezing, setting, compiled, steps)


def _steps(freezing: Freezing, setting: Setting, compiled: Use) -> Sequence[Use]:
    """Return how a model is trained that was compiled before a part of it was frozen for another.

    Nothing where it is compiled again, or trained before: then it was frozen for that model.
    """
    module, part, whole = freezing.module, setting.model, compiled.model
    is_earlier = module.span(compiled.call) < module.span(setting.node)
    # The trigger knows no more than this.
    if not is_earlier and not freezing.is_given(setting):
        return ()
    if freezing.is_same(part, whole) or not freezing.is_after(setting.node, compiled.call, None):
        return ()
    others = [use for use in freezing.uses(COMPILE) if use.call is not compiled.call]
    if any(freezing.is_same(use.model, whole) for use in others):
        return ()
    steps = [use for use in freezing.uses(TRAINING) if freezing.is_same(use.model, whole)]
    if any(freezing.may_be_before(use.call, setting.node, None) for use in steps):
        return ()
    is_for_another = any(
        freezing.is_after(use.call, setting.node, None) and freezing.is_in(part, use.model)
        for use in others
    )
    return steps if is_for_another and freezing.is_in(part, whole) else ()


def _finding(
    file: File, freezing: Freezing, setting: Setting, compiled: Use, steps: Sequence[Use]
) -> Finding:
    module = freezing.module
    part, whole = module.source(setting.model), module.source(compiled.model)
    names = [(use.call, name_at(freezing, setting.model, use.call)) for use in steps]
    named = [(call, name) for call, name in names if name is not None]
    title = f"Unfreeze `{part}` around the training of `{whole}`"
    fix = None
    if len(named) == len(names):
        fix = fix_around(freezing, title, compiled.model, named, (True, False))
    return file.finding(
        f"`{part}` is frozen after `{whole}` was compiled: Keras 2 kept training it in `{whole}`, "
        "on Keras 3 it stays frozen there too",
        symbol="Model.trainable",
        at=setting.node,
        help=f"Set `{part}.trainable = True` before a training step of `{whole}`, False after it.",
        fix=fix
        or NoFix(
            "there is no place for a statement next to the training call, or the model has "
            "another name there"
        ),
    )


_MODELS = (
    "import keras\nimport numpy as np\n\n"
    "critic = keras.Sequential([keras.layers.Dense(1, kernel_initializer='ones')])\n"
    "maker = keras.Sequential([keras.layers.Dense(2, kernel_initializer='ones')])\n"
    "how = keras.optimizers.SGD(0.1)\n"
)
_JUDGING = (
    "image, noise = keras.layers.Input((2,)), keras.layers.Input((2,))\n"
    "judging = keras.Model([image, noise], [critic(image), critic(maker(noise))])\n"
)
_MAKING = "making = keras.Model(noise, critic(maker(noise)))\n"
_BOTH = (
    f"{_MODELS}maker.trainable = False\n{_JUDGING}judging.compile({{0}}, ['mse', 'mse'])\n"
    f"critic.trainable = False\nmaker.trainable = True\n{_MAKING}making.compile({{1}}, 'mse')\n"
    "x, y = np.ones((4, 2)), np.zeros((4, 1))\nold = critic.get_weights()[0].copy()\n"
)
_STEPS = (
    "for _ in range(2):\n    maker.trainable = False\n"
    "{}    judging.train_on_batch([x, x], [y, y])  # the critic alone\n{}"
    "    maker.trainable = True\n    making.train_on_batch(x, y)\n"
)
_THAW = ("    critic.trainable = True\n", "    critic.trainable = False\n")
_LEARNS = "assert (critic.get_weights()[0] != old).all()"
_CLASS = (
    "import keras\nimport numpy as np\n\n\nclass GAN:\n    def __init__(self):\n"
    "        self.critic = keras.Sequential([keras.layers.Dense(1, kernel_initializer='ones')])\n"
    "        image = keras.layers.Input((2,))\n"
    "        self.judging = keras.Model(image, [self.critic(image), self.critic(-image)])\n"
    "        self.judging.compile('sgd', ['mse', 'mse'])\n"
    "        self.maker = keras.Sequential([keras.layers.Dense(2)])\n"
    "        self.critic.trainable = False\n"
    "        self.making = keras.Model(image, self.critic(self.maker(image)))\n"
    "        self.making.compile('sgd', 'mse')\n\n"
    "    def train(self, x, y):\n        for _ in range(3):\n"
    "{}            losses = self.judging.train_on_batch(x, [y, y])\n{}"
    "            self.making.train_on_batch(x, y)\n        return losses\n\n\n"
    "gan = GAN()\ncritic = gan.critic\nold = critic.get_weights()[0].copy()\n"
    "losses = gan.train(np.ones((4, 2)), np.zeros((4, 1)))\n"
)
VALID = [
    # Thawed around its training.
    _BOTH.format("'sgd'", "'sgd'") + _STEPS.format(*_THAW),
    # Frozen before the first model is compiled.
    (
        f"{_MODELS}critic.trainable = False\n{_JUDGING}judging.compile('sgd', ['mse', 'mse'])\n"
        f"{_MAKING}making.compile('sgd', 'mse')\njudging.fit(x, y)\n"
    ),
    # Frozen, and compiled anew for that.
    (
        f"{_MODELS}{_JUDGING}judging.compile('sgd', ['mse', 'mse'])\ncritic.trainable = False\n"
        f"{_MAKING}making.compile('sgd', 'mse')\njudging.compile('sgd', ['mse', 'mse'])\n"
        "judging.fit(x, y)\n"
    ),
    # Trained before it is frozen; or frozen for no other model, so for this one.
    (
        f"{_MODELS}{_JUDGING}judging.compile('sgd', ['mse', 'mse'])\njudging.fit(x, y)\n"
        f"critic.trainable = False\n{_MAKING}making.compile('sgd', 'mse')\njudging.fit(x, y)\n"
    ),
    (
        f"{_MODELS}{_JUDGING}judging.compile('sgd', ['mse', 'mse'])\ncritic.trainable = False\n"
        "maker.compile('sgd', 'mse')\njudging.fit(x, y)\n"
    ),
    # The first is never trained.
    _BOTH.format("'sgd'", "'sgd'") + "making.fit(x, y)\n",
]
INVALID = [
    Example(
        before=_BOTH.format("'sgd'", "'sgd'") + _STEPS.format("", ""),
        after=_BOTH.format("'sgd'", "'sgd'") + _STEPS.format(*_THAW),
        unsafe=True,
        on_keras_2=True,
        check=_LEARNS,
    ),
    Example(
        before=_BOTH.format("how", "how") + _STEPS.format("", ""),
        after=_BOTH.format("how.from_config(how.get_config())", "how") + _STEPS.format(*_THAW),
        unsafe=True,
        check=_LEARNS,
    ),
    Example(
        before=_CLASS.format("", ""),
        after=_CLASS.format(
            "            self.critic.trainable = True\n",
            "            self.critic.trainable = False\n",
        ),
        unsafe=True,
        on_keras_2=True,
        check=_LEARNS,
    ),
    # Where no statement can be put.
    Example(
        before=_CLASS.format("", "").replace("losses = self", "return self"),
        check="assert (critic.get_weights()[0] == old).all()",
    ),
]
