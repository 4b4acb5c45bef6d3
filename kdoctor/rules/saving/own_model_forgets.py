"""`Net(rate=0.9)` is saved, and comes back with the default of `rate`.

## What it does
Reports an instance of a subclass of `keras.Model` created with an argument that is not the default,
if the class has no `get_config`, all parameters of its `__init__` have defaults, and the file saves
or copies the whole object (`model.save`, `save_model`, `to_json`, `clone_model`).

## Why it breaks
If a class has no `get_config`, Keras records the arguments of `__init__`. For models, Keras 3 loses
the arguments on the way and records the defaults. `load_model` and `clone_model` silently create a
different model: with a rate, a number of steps or a temperature that was never passed. If shapes
depend on the argument, the weights do not fit: `ValueError: A total of 1 objects could not be
loaded`. Keras 2 recorded the actual arguments.

## What to write instead
Add a `get_config` that returns the arguments::

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: saved, as JSON, as a copy, and as a layer of another model.
For layers, Keras 3 records the arguments.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import File, files, methods
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.rules.saving._default_config import (
    KEEPS_MODELS,
    OF_BASE,
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
from kdoctor.syntax import Module
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.value_types import Kind

_MADE_THERE = (cst.Call, cst.Dict, cst.Lambda, cst.List, cst.Tuple)


@rule(
    "KD614",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files(
        KEEPS_MODELS,
        methods(
            "__init__", of=Kind.MODEL, where=lambda init: takes_all(init) and not wants_some(init)
        ),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such making of a model."""
    for each in kept(file.module, file.facts):
        own = each.own
        if own.kind is not Kind.MODEL or own.wanted or not own.takes_what_is_said:
            continue  # of the others KD613 tells: they are not saved, or not loaded
        lost = _lost(file.module, each)
        if lost:
            yield _finding(file, each, lost)


def _lost(
    module: Module, made: KeptArgument
) -> dict[str, tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Return what is given and what is the default of each parameter that surely differs."""
    given = given_to(made.own, made.call)
    return {
        name: (value, default)
        for each in made.own.parameters
        if (name := each.name.value) in given and name not in OF_BASE
        if (default := each.default) is not None
        if _differs(module, value := given[name], default)
    }


def _differs(module: Module, value: cst.BaseExpression, default: cst.BaseExpression) -> bool:
    value, default = value_of(module, value), value_of(module, default)
    is_none = literal(default) is None
    if literal(value) is UNKNOWN or literal(default) is UNKNOWN:
        return is_none and isinstance(value, _MADE_THERE)
    return bool(literal(value) != literal(default))


def _finding(
    file: File,
    made: KeptArgument,
    lost: dict[str, tuple[cst.BaseExpression, cst.BaseExpression]],
) -> Finding:
    shown = ", ".join(
        f"`{each}` {file.source(default)}, not {file.source(value)}"
        for each, (value, default) in lost.items()
    )
    return file.finding(
        f"this model is saved or copied as a whole, and comes back with {shown}: Keras 3 does "
        "not record the arguments of a model class",
        at=made.call,
        symbol=f"{made.own.node.name.value}.__init__",
        help="Write a `get_config` that returns its arguments.",
        fix=_fix(file, made.own, [value for value, _ in lost.values()]),
    )


def _fix(file: File, own: UserConfig, values: list[cst.BaseExpression]) -> Fix | NoFix:
    """Return the fix that adds a ``get_config``, where it is all that is needed."""
    module = file.module
    keywords = () if own.init.params.star_kwarg is not None else takes_keywords(module, own)
    config = says_its_config(module, own)
    hands_on = any(each.star == "**" for each in own.to_base.args) or keywords
    if keywords is None or config is None or not hands_on or not is_plain(module, values):
        return NoFix(
            "`__init__` does not store its arguments, or more is needed than a `get_config`"
        )
    return file.fix("Add a `get_config` that returns its arguments", *keywords, config)


_NET = (
    "import keras\nimport numpy as np\n\n\nclass Net(keras.Model):\n"
    "    def __init__(self, units=2, rate=1.0, **kwargs):\n        super().__init__(**kwargs)\n"
    "        self.units = units\n        self.rate = rate\n"
    "        self.dense = keras.layers.Dense(units, kernel_initializer='ones')\n\n"
    "    def call(self, x):\n        return self.dense(x) * self.rate\n{config}\n\n"
    "model = Net({given})\nmodel(np.ones((1, 3)))\n"
)
_CONFIG = (
    "\n    def get_config(self):\n"
    '        return {**super().get_config(), "units": self.units, "rate": self.rate}\n'
)
_SAVED = (
    "model.save('net.keras')\n"
    "again = keras.models.load_model('net.keras', custom_objects={'Net': Net})\n"
)
_COPIED = "again = keras.models.clone_model(model)\n"
_READ = "again = keras.models.model_from_json(model.to_json(), custom_objects={'Net': Net})\n"
_INSIDE = (
    "whole = keras.Sequential([keras.Input((3,)), model])\nwhole.save('net.keras')\n"
    "again = keras.models.load_model('net.keras', custom_objects={'Net': Net}).layers[-1]\n"
)
_RATE = "again.rate"


def _net(given: str, config: str = "", end: str = _SAVED) -> str:
    return _NET.format(given=given, config=config) + end


def _example(given: str, end: str = _SAVED) -> Example:
    return Example(
        before=_net(given, end=end),
        after=_net(given, _CONFIG, end),
        on_keras_2=True,
        same=_RATE,
    )


VALID = [
    # The default itself, or what may be it.
    _net(""),
    _net("rate=1"),
    _net("2, 1.0"),
    _net("rate=chosen"),
    _net("name='net'"),
    _net("**options"),
    # It says for itself what it is made with.
    _net("rate=0.5", _CONFIG),
    # Weights alone are saved, or another model.
    _net("rate=0.5", end="model.save_weights('net.weights.h5')\n"),
    _net("rate=0.5", end="Net().save('net.keras')\n"),
    # Of layers Keras notes it. A model that cannot be loaded is told of by KD613.
    _net("rate=0.5", end=_INSIDE).replace("keras.Model", "keras.layers.Layer"),
    _net("rate=0.5").replace("(**kwargs)", "()").replace(", **kwargs", ""),
    _net("rate=0.5").replace("import keras\n", "import tf_keras as keras\n"),
    _net("rate=0.5", end="if keras.__version__ < '3':\n    model.save('net.keras')\n"),
]
INVALID = [
    _example("rate=0.5"),
    _example("2, 0.5"),
    _example("rate=0.5", _COPIED),
    _example("rate=0.5", _READ),
    _example("rate=0.5", _INSIDE),
    # What is given stands in a variable.
    Example(
        before=_net("rate=RATE").replace("\n\nmodel =", "\n\nRATE = 0.5\nmodel ="),
        after=_net("rate=RATE", _CONFIG).replace("\n\nmodel =", "\n\nRATE = 0.5\nmodel ="),
        on_keras_2=True,
        same=_RATE,
    ),
    # `__init__` does not keep what it takes.
    Example(
        before=_net("rate=0.5").replace("        self.units = units\n", ""),
        on_keras_2=True,
        same=_RATE,
    ),
]
