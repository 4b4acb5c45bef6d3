"""A model frozen only while another model compiles with it is trained by that other model.

## What it does
Reports `part.trainable = True` after the `compile` of a model that `part` is in, and that was
compiled while `part` was frozen, if the file trains that whole model later and does not freeze
`part` again.

## Why it breaks
In Keras 2 `compile` recorded what was trainable. So the code of many GANs freezes the critic,
compiles the model of generator and critic, and unfreezes the critic right away: the whole model
kept training the generator only. Keras 3 reads `trainable` at the first training step. By then the
critic is unfrozen, and each generator step trains the critic too, to take generated samples for
real. There is no error and no warning.

## What to write instead
Freeze it around the training of the whole model:

    critic.trainable = False
    both.train_on_batch(noise, labels)
    critic.trainable = True

The first training step of each model decides; later changes need a new `compile`, as in Keras 2.
The fix writes that. It is unsafe, as layers that were frozen individually are unfrozen too. Since
Keras 2.11 an optimizer shared by both models only knows the variables of the first one:
`ValueError: Unknown variable`. So the fix gives the part a copy of it.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: which weights change in which step, with and without the fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.training.freezing import (
    COMPILE,
    FREEZES_AGAIN,
    TRAINING,
    Freezing,
    Setting,
    Use,
    fix_around,
    name_at,
)
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule


@rule("KD437", severity=Severity.CHANGE, since="3.0", look_for=files(FREEZES_AGAIN))
def check(file: File) -> Iterator[Finding]:
    """Report each thawing after the ``compile`` of a model that holds what is thawed."""
    freezing = Freezing(file.module)
    if freezing.is_too_much:
        return
    for thawing in freezing.settings:
        if thawing.value is not True or not thawing.is_whole:
            continue
        if file.module.is_guarded(thawing.node) or not freezing.is_model(thawing.model):
            continue
        for compiled in freezing.uses(COMPILE):
            steps = _steps(freezing, thawing, compiled)
            if steps:
                yield _finding(file, freezing, thawing, compiled, steps)
                break


def _steps(freezing: Freezing, thawing: Setting, compiled: Use) -> Sequence[Use]:
    """Return how a model is trained that was compiled while what is thawed now was frozen."""
    part, whole = thawing.model, compiled.model
    if freezing.is_same(part, whole) or not freezing.is_after(thawing.node, compiled.call, None):
        return ()
    settings = [each for each in freezing.settings if freezing.is_same(each.model, part)]
    frozen = [each for each in settings if each.value is False]
    is_left = all(freezing.is_after(compiled.call, each.node, None) for each in frozen)
    if not is_left or not any(_is_a_pair(freezing, each, thawing) for each in frozen):
        return ()
    # Between the two it must stay frozen.
    if any(
        each.value is not False
        and freezing.may_be_before(each.node, compiled.call, None)
        and any(freezing.may_be_before(one.node, each.node, None) for one in frozen)
        for each in settings
    ):
        return ()
    again = [
        use
        for use in freezing.uses(COMPILE)
        if use.call is not compiled.call and freezing.is_same(use.model, whole)
    ]
    steps = [use for use in freezing.uses(TRAINING) if freezing.is_same(use.model, whole)]
    if again or any(freezing.may_be_before(use.call, thawing.node, None) for use in steps):
        return ()
    return steps if steps and freezing.is_in(part, whole) else ()


def _is_a_pair(freezing: Freezing, frozen: Setting, thawing: Setting) -> bool:
    """Say whether it is frozen and thawed by one name, or by functions: all the condition knows."""
    source = freezing.module.source
    return source(frozen.model) == source(thawing.model) or (
        freezing.is_given(frozen) or freezing.is_given(thawing)
    )


def _finding(
    file: File, freezing: Freezing, thawing: Setting, compiled: Use, steps: Sequence[Use]
) -> Finding:
    part, whole = file.source(thawing.model), file.source(compiled.model)
    names = [name_at(freezing, thawing.model, use.call) for use in steps]
    named = [(use.call, name) for use, name in zip(steps, names, strict=True) if name is not None]
    title = f"Freeze `{part}` around the training of `{whole}`"
    fix = (
        fix_around(freezing, title, thawing.model, named, (False, True))
        if len(named) == len(names)
        else None
    )
    return file.finding(
        f"`{part}` is unfrozen after `{whole}` was compiled: Keras 2 kept it frozen in `{whole}`, "
        f"on Keras 3 training `{whole}` trains `{part}` too",
        at=thawing.node,
        symbol="Model.trainable",
        help=f"Set `{part}.trainable = False` before a training step of `{whole}`, and True after.",
        fix=fix
        or NoFix(
            "there is no place for a statement next to the training call, or the model has "
            "another name there"
        ),
    )


_MODELS = (
    "import keras\nimport numpy as np\n\n"
    "critic = keras.Sequential([keras.layers.Dense(1, kernel_initializer='ones')])\n"
    "maker = keras.Sequential([keras.layers.Dense(2)])\n"
    "critic.compile('sgd', 'mse')\n"
)
_NOISE = "noise = keras.layers.Input((2,))\nboth = keras.Model(noise, critic(maker(noise)))\n"
_FROZEN = f"{_MODELS}critic.trainable = False\n{_NOISE}both.compile('sgd', 'mse')\n"
_STEPS = (
    "old = critic.get_weights()[0].copy()\n"
    "for _ in range(2):\n"
    "{}    both.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))  # the maker alone\n{}"
)
_SETTER = (
    "\n\ndef set_trainable(model, value):\n    model.trainable = value\n"
    "    for layer in model.layers:\n        layer.trainable = value\n\n\n"
)
_GAN = (
    "import keras\nimport numpy as np\n\n\nclass GAN:\n    def __init__(self):\n"
    "        how = keras.optimizers.Adam(0.1)\n"
    "        self.critic = keras.Sequential([keras.layers.Dense(1)])\n"
    "        self.maker = keras.Sequential([keras.layers.Dense(2)])\n"
    "        self.critic.compile(loss='mse', optimizer={})\n"
    "        self.set_trainable(self.critic, False)\n"
    "        noise = keras.layers.Input((2,))\n"
    "        told = self.critic(self.maker(noise))\n"
    "        self.both = keras.Model(noise, told)\n"
    "        self.both.compile(loss='mse', optimizer=how)\n"
    "        self.set_trainable(self.critic, True)\n\n"
    "    def set_trainable(self, model, value):\n        model.trainable = value\n\n"
    "    def train(self, x, y):\n"
    "{}        {}self.both.train_on_batch(x, y)\n{}\n\n"
    "gan = GAN()\nold = gan.critic.get_weights()[0].copy()\n"
    "gan.train(np.ones((4, 2)), np.zeros((4, 1)))\n"
)
_BY_FUNCTION = (
    f"{_MODELS}{_SETTER}set_trainable(critic, False)\n{_NOISE}"
    "both.compile('sgd', 'mse')\nset_trainable(critic, True)\n"
)
VALID = [
    # Frozen around the steps.
    _FROZEN + _STEPS.format("    critic.trainable = False\n", "    critic.trainable = True\n"),
    # The whole model is compiled when the part is thawed.
    (
        f"{_MODELS}critic.trainable = False\n{_NOISE}critic.trainable = True\n"
        "both.compile('sgd', 'mse')\nboth.fit(x, y)"
    ),
    # The part is not in it.
    (
        f"{_MODELS}critic.trainable = False\nboth = keras.Sequential([maker])\n"
        "both.compile('sgd', 'mse')\ncritic.trainable = True\nboth.fit(x, y)"
    ),
    # Compiled anew: all of it is to be trained now.
    f"{_FROZEN}both.fit(x, y)\ncritic.trainable = True\nboth.compile('sgd', 'mse')\nboth.fit(x, y)",
    # Never trained.
    f"{_FROZEN}critic.trainable = True\nboth.predict(x)",
    # Thawed in steps that nobody can count.
    f"{_FROZEN}critic.trainable = when\nboth.fit(x, y)",
]
_CHECK = "assert (critic.get_weights()[0] == old).all() == {}"
INVALID = [
    Example(
        before=f"{_FROZEN}critic.trainable = True\n" + _STEPS.format("", ""),
        after=f"{_FROZEN}critic.trainable = True\n"
        + _STEPS.format("    critic.trainable = False\n", "    critic.trainable = True\n"),
        unsafe=True,
        on_keras_2=True,
        check=_CHECK.format(True),
    ),
    # By a function that also sets all layers.
    Example(
        before=_BY_FUNCTION + _STEPS.format("", ""),
        after=_BY_FUNCTION
        + _STEPS.format("    critic.trainable = False\n", "    critic.trainable = True\n"),
        unsafe=True,
        on_keras_2=True,
        check=_CHECK.format(True),
    ),
    Example(
        before=_GAN.format("how", "", "loss = ", "        return loss\n"),
        after=_GAN.format(
            "how.from_config(how.get_config())",
            "        self.critic.trainable = False\n",
            "loss = ",
            "        self.critic.trainable = True\n        return loss\n",
        ),
        unsafe=True,
        check="assert (gan.critic.get_weights()[0] == old).all()",
    ),
    # Nothing can be put after a `return`.
    Example(
        before=_GAN.format("'adam'", "", "return ", ""),
        check="assert (gan.critic.get_weights()[0] != old).all()",
    ),
]
