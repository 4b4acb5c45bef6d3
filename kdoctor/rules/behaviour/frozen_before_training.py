"""A model frozen after `compile` no longer trains on its own: GANs stop learning.

## What it does
Reports `model.trainable = False` after `model.compile(…)` and before any training, if the file
trains the same model later and never sets `trainable` back; also a loop that freezes the layers of
the model one by one (all of them, or all but some classes). The model is tracked through functions
that create, freeze or train it, tuples, `self` and `Sequential.layers`.

## Why it breaks
Every GAN tutorial of Keras 2 compiles the discriminator, freezes it, and builds the combined model
of generator and discriminator. In Keras 2 `compile` recorded what was trainable: the discriminator
kept learning on its own, and was frozen inside the combined model. Keras 3 reads `trainable` at the
first training step: the discriminator has no trainable weights left and never learns. Nothing
raises; Keras warns `The model does not have any trainable weights.`

## What to write instead
Unfreeze it around its own training:

    discriminator.trainable = True
    discriminator.train_on_batch(images, labels)
    discriminator.trainable = False
    combined.train_on_batch(noise, labels)

The first training step of each model decides; later changes need a new `compile`, as in Keras 2.
The fix writes that. It is unsafe, as layers that were frozen individually are unfrozen too. Since
Keras 2.11 an optimizer shared by both models only knows the variables of the first one:
`ValueError: Unknown variable`. So the fix gives the frozen model a copy of it.

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
)
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Example, rule


@rule("KD403", severity=Severity.CHANGE, since="3.0", look_for=files(FREEZES_AGAIN))
def check(file: File) -> Iterator[Finding]:
    """Report each model that is frozen between ``compile`` and its first training."""
    freezing = Freezing(file.module)
    if freezing.is_too_much:
        return
    compiled = {file.source(use.model) for use in freezing.uses(COMPILE)}
    for setting in (*freezing.models_frozen(), *freezing.layers_frozen()):
        # The condition knows no more than this.
        if file.source(setting.model) not in compiled and not freezing.is_given(setting):
            continue
        steps = _steps(freezing, setting)
        if steps:
            found = _finding if setting.is_whole else _finding_of_layers
            yield found(file, freezing, setting, steps)


def _steps(freezing: Freezing, setting: Setting) -> Sequence[Use]:
    """Return how a model is trained that is frozen after ``compile``, and stays so."""
    model = setting.model
    compiled = [use for use in freezing.uses(COMPILE) if freezing.is_same(use.model, model)]
    steps = [use for use in freezing.uses(TRAINING) if freezing.is_same(use.model, model)]
    thawed = any(
        each.value is not False and freezing.is_same(each.model, model)
        for each in freezing.settings
    )
    if not compiled or not steps or thawed:
        return ()
    for origin in freezing.points_to.of(model) or (None,):
        if not all(freezing.is_after(setting.node, use.call, origin) for use in compiled):
            return ()
        if any(freezing.may_be_before(use.call, setting.node, origin) for use in steps):
            return ()
    return steps


def _finding(file: File, freezing: Freezing, setting: Setting, steps: Sequence[Use]) -> Finding:
    made = file.module.type_of(setting.model)
    trained = file.source(steps[0].model)
    fix = _thawing(freezing, setting, steps, f"Unfreeze `{trained}` around its own training")
    return file.finding(
        f"`{file.source(setting.model)}` is frozen after `compile`: Keras 2 kept training it, on "
        "Keras 3 its own training step changes nothing",
        at=setting.node,
        symbol=f"{made.cls if made and made.cls else 'Model'}.trainable",
        help=f"Set `{trained}.trainable = True` before its own training step and False after it.",
        fix=fix or NoFix("there is no place for a statement next to the training call"),
    )


def _finding_of_layers(file: File, _: Freezing, setting: Setting, steps: Sequence[Use]) -> Finding:
    """Return what is said where a loop freezes the layers of a model."""
    return file.finding(
        f"layers of `{file.source(setting.model)}` are frozen after `compile`: Keras 2 kept "
        "training them, on Keras 3 they stay frozen in its own training step too",
        at=setting.node,
        symbol="Model.trainable",
        help="Unfreeze them one by one before the training step of "
        f"`{file.source(steps[0].model)}`, and freeze them again after it.",
        # `model.trainable = True` sets nothing where it is True (KD233).
        fix=NoFix("the loop that freezes them has to be repeated after each training step"),
    )


def _thawing(freezing: Freezing, setting: Setting, steps: Sequence[Use], title: str) -> Fix | None:
    """Return the lines around its training; None where another model may be trained there, too."""
    frozen = freezing.points_to.of(setting.model)
    if frozen and any(freezing.points_to.of(use.model) - frozen for use in steps):
        return None
    named = [(use.call, freezing.module.source(use.model)) for use in steps]
    return fix_around(freezing, title, setting.model, named, (True, False))


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

# One function makes it, one freezes it, one trains it, and each has a name of its own for it.
_FUNCTIONS = (
    "import keras\nimport numpy as np\n\n\n"
    "def made(units):\n"
    "    model = keras.Sequential([keras.layers.Dense(units, kernel_initializer='ones')])\n"
    "    model.compile('sgd', 'mse')\n    return model\n\n\n"
    "def joined(maker, critic):\n    critic.trainable = False\n"
    "    model = keras.Sequential([maker, critic])\n    model.compile('sgd', 'mse')\n"
    "    return model\n\n\n"
    "def train({}):\n{}    for _ in range(2):\n"
    "{}        judge.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))\n"
    "{}        gan.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))\n\n\n"
    "maker = made(2)\ncritic = made(1)\nboth = joined(maker, critic)\n{}"
    "both.predict(np.ones((4, 2)), verbose=0)\nold = critic.get_weights()[0].copy()\ntrain({})\n"
)
_BY_NAME = ("judge, gan", "", "{}", "{}", "", "critic, both")
_IN_A_TUPLE = (
    "models",
    "    judge, _, gan = models\n",
    "{}",
    "{}",
    "models = (critic, maker, both)\n",
    "models",
)
_AS_LAYERS = ("gan", "    _, judge = gan.layers\n", "{}", "{}", "", "both")
_THAW = ("        judge.trainable = True\n", "        judge.trainable = False\n")
_ONE_BY_ONE = "for layer in critic.layers:\n    {}layer.trainable = False\n"
_NOT_NORMS = "if not isinstance(layer, keras.layers.BatchNormalization):\n        "
_LAYER_BY_LAYER = _GAN.replace("critic.trainable = False\n", _ONE_BY_ONE)
_INDENTED = (
    "    for layer in critic.layers:\n"
    "        if not isinstance(layer, keras.layers.BatchNormalization):\n"
    "            layer.trainable = False\n"
)
_LEARNS = "assert (critic.get_weights()[0] != old).all()"

VALID = [
    # Another model of the same name is trained.
    (
        "import keras\n\n\ndef teacher():\n"
        "    model = keras.Sequential([keras.layers.Dense(1)])\n    model.compile('sgd', 'mse')\n"
        "    model.trainable = False\n    return model\n\n\n"
        "def pupil(x, y):\n"
        "    model = keras.Sequential([keras.layers.Dense(1)])\n    model.compile('sgd', 'mse')\n"
        "    model.fit(x, y)\n    return model\n"
    ),
    # Of two that one function makes, the other is trained.
    _FUNCTIONS.format("judge, gan", "", "", "", "", "maker, both"),
    # A function thaws it.
    _GAN + "\n\ndef set_trainable(model, value):\n    model.trainable = value\n\n\n"
    "for _ in range(2):\n    set_trainable(critic, True)\n    critic.train_on_batch(x, y)\n"
    "    set_trainable(critic, False)\n    both.train_on_batch(x, y)\n",
    _GAN + _THAWED,
    _LAYER_BY_LAYER.format("") + _THAWED,
    # The first layers alone, and those that something else chooses.
    _LAYER_BY_LAYER.format("").replace("critic.layers", "critic.layers[:3]") + _STEP,
    _LAYER_BY_LAYER.format("if chosen(layer):\n        ") + _STEP,
    _LAYER_BY_LAYER.format(_NOT_NORMS) + "both.fit(x, y)",
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
    # Layer by layer.
    Example(before=_LAYER_BY_LAYER.format("") + _STEP, on_keras_2=True, check=_LEARNS),
    Example(before=_LAYER_BY_LAYER.format(_NOT_NORMS) + _STEP, on_keras_2=True, check=_LEARNS),
    Example(
        before=_FUNCTIONS.format(*_BY_NAME)
        .replace("    critic.trainable = False\n", _INDENTED)
        .format("", ""),
        on_keras_2=True,
        check=_LEARNS,
    ),
    *(
        Example(
            before=_FUNCTIONS.format(*form).format("", ""),
            after=_FUNCTIONS.format(*form).format(*_THAW),
            unsafe=True,
            on_keras_2=True,
            check=_LEARNS,
        )
        for form in (_BY_NAME, _IN_A_TUPLE, _AS_LAYERS)
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
