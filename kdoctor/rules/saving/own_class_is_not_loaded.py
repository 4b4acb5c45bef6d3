"""`class Block(Layer): def __init__(self, units)`: models with it are saved, but not loaded again.

## What it does
Reports the `__init__` of a subclass of `keras.layers.Layer` or `keras.Model` that has no
`get_config` and does not accept `**kwargs`, if the file saves or copies a model that certainly
contains an instance of it (`model.save`, `save_model`, `to_json`, `clone_model`,
`ModelCheckpoint`).

## Why it breaks
If a class has no `get_config`, Keras records the arguments of `__init__`. Keras 2 recorded nothing
else, and could recreate the object. Keras 3 adds `trainable` and `dtype`, which `__init__` then
refuses, and only when it is too late: saving the model raises nothing, and `load_model` raises
`TypeError: … Block.__init__() got an unexpected keyword argument 'trainable'`. For model classes,
Keras 3 does not record the arguments at all: if `__init__` requires some, `save` itself raises
`NotImplementedError: Object Net was created by passing non-serializable argument values`.

## What to write instead
Accept `**kwargs` in `__init__`, and pass them on: `super().__init__(**kwargs)`. For models, and for
arguments other than numbers, strings or `None`, also add a `get_config`::

    def get_config(self):
        return {**super().get_config(), "units": self.units}

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: layers and models with and without arguments, in `.keras` and
`.h5` files, from JSON, and as copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kdoctor.analysis.queries import File, files, methods
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.rules.saving._default_config import (
    KEEPS_MODELS,
    KeptArgument,
    UserConfig,
    given_to,
    is_plain,
    kept,
    says_its_config,
    takes_all,
    takes_keywords,
    wants_some,
)
from kdoctor.value_types import Kind

_REFUSED: Final = "got an unexpected keyword argument 'trainable'"
_NOT_NOTED: Final = (
    "NotImplementedError: Object {} was created by passing non-serializable argument values"
)
_MAY_NEED_MORE: Final = (
    "an argument that is not a number, string or None must be recreated in a `from_config`"
)


@rule(
    "KD613",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(
        KEEPS_MODELS,
        methods("__init__", of=Kind.LAYER, where=lambda init: not takes_all(init))
        | methods(
            "__init__", of=Kind.MODEL, where=lambda init: wants_some(init) or not takes_all(init)
        ),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such class once."""
    by_class: dict[UserConfig, list[KeptArgument]] = {}
    for each in kept(file.module, file.facts):
        by_class.setdefault(each.own, []).append(each)
    for own, objects in by_class.items():
        if _wants_arguments(own) or not own.takes_what_is_said:
            yield _finding(file, own, objects)


def _wants_arguments(own: UserConfig) -> bool:
    """Say whether Keras does not know what an object of the class was made with."""
    return own.kind is Kind.MODEL and bool(own.wanted)


def _finding(file: File, own: UserConfig, objects: list[KeptArgument]) -> Finding:
    name = own.node.name.value
    said = (
        f"`{name}` is saved or copied below, and Keras 3 does not record the arguments of a "
        f"model class: {_NOT_NOTED.format(name)}"
        if _wants_arguments(own)
        else f"a model with a `{name}` is saved or copied, but `{name}` cannot be recreated: "
        f"TypeError: {name}.__init__() {_REFUSED}"
    )
    return file.finding(
        said,
        at=own.init.name,
        symbol=f"{name}.__init__",
        help=(
            "Write a `get_config` that returns its arguments, and accept `**kwargs` for the "
            "base class."
        )
        if _wants_arguments(own)
        else "Accept `**kwargs`, and pass them to `super().__init__`.",
        fix=_fix(file, own, objects),
    )


def _fix(file: File, own: UserConfig, objects: list[KeptArgument]) -> Fix | NoFix:
    module = file.module
    why_not = NoFix("the `get_config` for its arguments must be written by hand")
    edits = () if own.takes_what_is_said else takes_keywords(module, own)
    if edits is None:
        return why_not
    title = "Accept `**kwargs` for the base class"
    if _wants_arguments(own):
        config = says_its_config(module, own)
        if config is None:
            return why_not
        title = "Add a `get_config` that returns its arguments"
        edits = (*edits, config)
    values = [value for each in objects for value in given_to(own, each.call).values()]
    if any(module.type_of(each) is not None for each in values):
        return why_not  # a layer or a model: it has to be made anew itself
    if not is_plain(module, values):
        return file.fix(title, *edits, unsafe_because=_MAY_NEED_MORE)
    return file.fix(title, *edits)


_LAYER = (
    "import keras\n\n\nclass Block(keras.layers.Layer):\n    def __init__({init}):\n"
    "        super().__init__({base})\n        self.units = units\n"
    "        self.dense = keras.layers.Dense(units, kernel_initializer='ones')\n\n"
    "    def call(self, x):\n        return self.dense(x)\n\n\n"
    "model = keras.Sequential([keras.Input((3,)), Block({given})])\n"
)
_SAVED = (
    "model.save('net.keras')\n"
    "again = keras.models.load_model('net.keras', custom_objects={'Block': Block})\n"
)
_COPIED = "again = keras.models.clone_model(model)\nagain.set_weights(model.get_weights())\n"
_READ = (
    "again = keras.models.model_from_json(model.to_json(), custom_objects={'Block': Block})\n"
    "again.set_weights(model.get_weights())\n"
)
_KEPT = (
    "import numpy as np\n\nmodel.compile('sgd', 'mse')\n"
    "best = keras.callbacks.ModelCheckpoint('net.keras')\n"
    "model.fit(np.ones((4, 3)), np.ones((4, 4)), callbacks=[best])\n"
    "again = keras.models.load_model('net.keras', custom_objects={'Block': Block})\n"
)
_NET = (
    "import keras\nimport numpy as np\n\n\nclass Net(keras.Model):\n    def __init__({init}):\n"
    "        super().__init__({base})\n{kept}"
    "        self.dense = keras.layers.Dense({units}, kernel_initializer='ones')\n\n"
    "    def call(self, x):\n        return self.dense(x)\n{config}\n\n"
    "model = Net({given})\nmodel(np.ones((1, 3)))\n"
)
_NET_SAVED = (
    "model.save('net.keras')\n"
    "again = keras.models.load_model('net.keras', custom_objects={'Net': Net})\n"
)
_CONFIG = (
    '\n    def get_config(self):\n        return {**super().get_config(), "units": self.units}\n'
)
_UNITS = "        self.units = units\n"


def _layer(init: str = "self, units", base: str = "", given: str = "4", end: str = _SAVED) -> str:
    return _LAYER.format(init=init, base=base, given=given) + end


def _net(  # noqa: PLR0913, PLR0917 - the parts of a class
    init: str,
    base: str = "",
    held: str = _UNITS,
    units: str = "units",
    config: str = "",
    given: str = "4",
) -> str:
    parts = {"init": init, "base": base, "kept": held, "units": units}
    return _NET.format(**parts, config=config, given=given) + _NET_SAVED


VALID = [
    _layer("self, units, **kwargs", "**kwargs"),
    _layer("self, units, trainable=True, dtype=None", "trainable=trainable, dtype=dtype"),
    # It says for itself what it is made with.
    _layer().replace(
        "    def call", "    def get_config(self):\n        return {'units': 4}\n\n    def call"
    ),
    # Weights alone are saved, or another model.
    _layer(end="model.save_weights('net.weights.h5')\n"),
    _layer(
        end="saver = keras.callbacks.ModelCheckpoint('a.weights.h5', save_weights_only=True)\n"
        "model.fit(x, y, callbacks=[saver])\n"
    ),
    _layer(end="saver = keras.callbacks.ModelCheckpoint('a.keras')\nmodel.fit(x, y)\n"),
    _layer(end="other = keras.Sequential([keras.layers.Dense(1)])\nother.save('net.keras')\n"),
    _layer(end="keras.models.clone_model(model, clone_function=lambda layer: layer)\n"),
    # It is made by a class that is made anew itself: nothing is asked of the layer.
    (
        "import keras\n\n\nclass Block(keras.layers.Layer):\n    def __init__(self, units):\n"
        "        super().__init__()\n        self.dense = keras.layers.Dense(units)\n\n"
        "    def call(self, x):\n        return self.dense(x)\n\n\n"
        "class Net(keras.Model):\n    def __init__(self, **kwargs):\n"
        "        super().__init__(**kwargs)\n        self.block = Block(3)\n\n"
        "    def call(self, x):\n        return self.block(x)\n\n\n"
        "model = Net()\nmodel.build((None, 3))\nmodel.save('net.keras')\n"
    ),
    # Nothing is known of what a decorator, another base or a function of one's own makes of it.
    _layer().replace("class Block", "@mine\nclass Block"),
    _layer().replace("(keras.layers.Layer)", "(Mixin, keras.layers.Layer)"),
    _layer("self, units, *args"),
    _net("self, **kwargs", "**kwargs", "", "4", given=""),
    _net("self, units, **kwargs", "**kwargs", config=_CONFIG),
    # A model by its inputs and outputs.
    (
        "import keras\n\n\nclass Net(keras.Model):\n    def __init__(self, inputs, outputs):\n"
        "        super().__init__(inputs, outputs)\n\n\nx = keras.Input((3,))\n"
        "model = Net(x, keras.layers.Dense(2)(x))\nmodel.save('net.keras')\n"
    ),
    _layer().replace("import keras", "import tf_keras as keras"),
    _layer(end="if keras.__version__ < '3':\n    model.save('net.keras')\n"),
]


def _example(before: str, after: str | None, raises: str) -> Example:
    return Example(
        before=before,
        after=after,
        raises=raises,
        on_keras_2=True,
        same="[each.tolist() for each in again.get_weights()]" if after else "",
    )


INVALID = [
    _example(_layer(), _layer("self, units, **kwargs", "**kwargs"), "TypeError: "),
    _example(
        _layer("self, units=3, name=None", "name=name", "units=4"),
        _layer("self, units=3, name=None, **kwargs", "name=name, **kwargs", "units=4"),
        "TypeError: ",
    ),
    _example(
        _layer(end=_COPIED),
        _layer("self, units, **kwargs", "**kwargs", end=_COPIED),
        "TypeError: ",
    ),
    _example(
        _layer("self", given="").replace("(units", "(4").replace(_UNITS, ""),
        _layer("self, **kwargs", "**kwargs", "").replace("(units", "(4").replace(_UNITS, ""),
        "TypeError: ",
    ),
    # Read from JSON; the model is functional, and made by a function.
    _example(
        _layer(end=_READ), _layer("self, units, **kwargs", "**kwargs", end=_READ), "TypeError: "
    ),
    _example(
        _layer().replace(
            "model = keras.Sequential([keras.Input((3,)), Block(4)])\n",
            "def built():\n    x = keras.Input((3,))\n    return keras.Model(x, Block(4)(x))\n\n\n"
            "model = built()\n",
        ),
        _layer("self, units, **kwargs", "**kwargs").replace(
            "model = keras.Sequential([keras.Input((3,)), Block(4)])\n",
            "def built():\n    x = keras.Input((3,))\n    return keras.Model(x, Block(4)(x))\n\n\n"
            "model = built()\n",
        ),
        "TypeError: ",
    ),
    # Saved while it is trained.
    _example(
        _layer(end=_KEPT),
        _layer("self, units, **kwargs", "**kwargs", end=_KEPT),
        "TypeError: ",
    ),
    _example(
        _layer(end=_COPIED).replace(
            "class Bl", "@keras.saving.register_keras_serializable()\nclass Bl"
        ),
        _layer("self, units, **kwargs", "**kwargs", end=_COPIED).replace(
            "class Bl", "@keras.saving.register_keras_serializable()\nclass Bl"
        ),
        "TypeError: ",
    ),
    # Models of one's own, saved themselves.
    _example(
        _net("self", held="", units="4", given=""),
        _net("self, **kwargs", "**kwargs", "", "4", given=""),
        "TypeError: ",
    ),
    _example(
        _net("self, units"),
        _net("self, units, **kwargs", "**kwargs", config=_CONFIG),
        "NotImplementedError: ",
    ),
    _example(
        _net("self, units, **kwargs", "**kwargs"),
        _net("self, units, **kwargs", "**kwargs", config=_CONFIG),
        "NotImplementedError: ",
    ),
    # A layer is given, which has to be made anew, too.
    Example(
        before=_net("self, units", units="4").replace("Net(4)", "Net(keras.layers.Dense(4))"),
        raises="NotImplementedError: ",
    ),
    # The name is made in `__init__`; what is given is not kept.
    _example(_layer(base="name='block'"), None, "TypeError: "),
    _example(_net("self, units", held=""), None, "NotImplementedError: "),
]
