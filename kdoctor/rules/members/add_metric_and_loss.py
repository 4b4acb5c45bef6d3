"""``add_metric``, and ``add_loss`` outside `call`: they exist, but raise when called.

## What it does
Reports `.add_metric(…)` on layers and models, and `.add_loss(…)` on a functional model, also of a
subclass of `keras.Model`, or on a `Sequential`. `self.add_loss(…)` inside `call` still works and is
left alone, unless its argument is a function or a number.

## Why it breaks
`model.add_loss(tensor)` worked on graph tensors, which Keras 3 no longer has: it raises
`NotImplementedError` without a message. Keras 2 called functions whenever it read the losses, as in
`self.add_loss(lambda: penalty(self.w))`; Keras 3 accepts only tensors: `ValueError: `add_loss()`
can only be called from inside `build()` or `call()`, on a tensor input.` `add_metric` is
`NotImplementedError: Layer `add_metric()` method is deprecated.`

## What to write instead
A layer that adds the loss, or updates a metric, as its inputs pass through:

    class AddLoss(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.seen = keras.metrics.Mean(name="kl")

        def call(self, mean, log_var):
            kl = -0.5 * keras.ops.mean(1 + log_var - mean**2 - keras.ops.exp(log_var))
            self.add_loss(kl)
            self.seen.update_state(kl)
            return mean

    mean = AddLoss()(mean, log_var)

Instead of a function, pass its value in `call`: `self.add_loss(penalty(self.w))`.

The metric automatically appears among those of the model. For a `keras.Model` the fix sends its
outputs through such a layer, together with the tensor, and builds a new model from there; not where
it may be a subclass, whose `train_step` would be lost.

## How we know
Run on Keras 3.15.1: the errors are quoted from there, and the layer above trains and reports `kl`.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, binding_of, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import methods_in, only_base
from kdoctor.analysis.queries import Call, calls
from kdoctor.analysis.queries.forms import Expression, is_number
from kdoctor.memoize import once
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.members._endpoint_layers import (
    ADD_LOSS,
    ADD_METRIC,
    build_anew,
    can_be_built_anew,
)
from kdoctor.rules.members._error_owner import owner_in_words, symbol
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.type_oracle import PARTIAL
from kdoctor.value_types import Kind

_BUILT: Final = frozenset({"Functional", "Sequential", ""})
_KINDS: Final = frozenset({Kind.LAYER, Kind.MODEL})
_FUNCTIONS: Final = ("Lambda", "Name", "Call")
_LOSSES: Final = "losses"


def _may_hold_no_tensor(form: object) -> bool:
    return any(
        is_number(each) or (isinstance(each, Expression) and each.kind in _FUNCTIONS)
        for each in (form if isinstance(form, list | tuple) else [form])
    )


_CALLS: Final = (
    calls("add_metric", on=_KINDS).even(hidden=True)
    | calls("add_loss", on=Kind.MODEL).even(hidden=True)
    | calls("add_loss", on=Kind.LAYER)
    .even(hidden=True)
    .passing(_LOSSES, place=0, where=_may_hold_no_tensor)
)


@rule("KD213", severity=Severity.ERROR, since="3.0", look_for=_CALLS)
def check(call: Call) -> Finding | None:
    """Report each call that raises, or is given no tensor."""
    given = _no_tensor(call)
    if not _raises(call):
        return None if given is None else _of_no_tensor(call, given)
    assert call.use is not None
    return _finding(
        call,
        NoFix("a layer accepts only tensors")
        if given
        else build_anew(call.module, call.use, _built_anew(call.module, call.facts)),
    )


@once
def _built_anew(module: Module, facts: TargetFacts) -> list[MemberUse]:
    """Return all for which models are built anew: the layers stand above the first."""
    return [
        each.use
        for each in _CALLS.find(module, facts)
        if each.use is not None and _raises(each) and _no_tensor(each) is None
        if can_be_built_anew(module, each.use)
    ]


def _no_tensor(call: Call) -> cst.Arg | None:
    """Return what ``add_loss`` is given where that is, or holds, something else than tensors."""
    given = call.argument(_LOSSES, 0) if call.leaf == "add_loss" else None
    return given if given and _holds_no_tensor(call.module, given.value) else None


def _raises(call: Call) -> bool:
    if call.leaf == "add_metric":
        return True
    is_of_a_model = call.owner is not None and call.owner.kind is Kind.MODEL
    return is_of_a_model and (call.cls in _BUILT or _is_functional_subclass(call))


def _is_functional_subclass(call: Call) -> bool:
    """Say whether it is made as ``Mine(inputs, outputs)`` of a class that leaves that to Keras.

    Keras puts `Functional`, whose `add_loss` raises, among the bases of such a class.
    """
    assert call.use is not None
    module, made = call.module, value_of(call.module, call.use.node.value)
    cls = class_named(module, made.func) if isinstance(made, cst.Call) else None
    only = None if cls is None or cls.keywords else only_base(module, cls)
    if cls is None or not isinstance(made, cst.Call) or only is None:
        return False
    base = module.qualified(only)
    above = module.oracle.class_type(base) if base else None
    if above is None or above.cls != "Functional" or {"__init__", "__new__"} & {*methods_in(cls)}:
        return False
    passed = (argument(made, "inputs", 0), argument(made, "outputs", 1))
    return None not in passed


def _holds_no_tensor(module: Module, given: cst.BaseExpression) -> bool:
    """Say whether it is a function or a number, or a list with one among others."""
    value = value_of(module, given)
    if isinstance(value, cst.List | cst.Tuple):
        return any(_is_no_tensor(module, each.value) for each in value.elements)
    return _is_no_tensor(module, value)


def _is_no_tensor(module: Module, value: cst.BaseExpression) -> bool:
    match value:
        case cst.Lambda() | cst.Integer() | cst.Float():
            return True
        case cst.Call(func=function):
            return module.qualified(function) == PARTIAL
        case cst.Name():
            bound = binding_of(module, value)
            return bound is not None and bound.kind is BindingKind.FUNCTION
    return False


def _of_no_tensor(call: Call, given: cst.Arg) -> Finding:
    assert call.owner is not None
    return call.finding(
        "`add_loss` accepts only tensors: ValueError: `add_loss()` can only be called from inside "
        "`build()` or `call()`, on a tensor input",
        at=given,
        symbol=symbol(call.owner, call.leaf),
        help="In `call` write `self.add_loss(value)`, with the value that the function computes; "
        "Keras 3 runs it in each step.",
        fix=NoFix("the function would run at another time in `call`"),
    )


def _help(use: MemberUse) -> str:
    name = "metric" if use.member == "add_metric" else "loss"
    if use.owner.kind is Kind.LAYER and name == "metric":
        return (
            "In `__init__` write `self.seen = keras.metrics.Mean(name=…)`, in `call` "
            "`self.seen.update_state(value)`; the model then reports it."
        )
    does = "self.add_loss(value)" if name == "loss" else "self.seen.update_state(value)"
    has = "" if name == "loss" else ", with `self.seen = keras.metrics.Mean(name=…)` in `__init__`"
    return (
        f"Write a layer whose `call(self, x, …)` computes the value, runs `{does}` and returns "
        f"`x`{has}; send a tensor on the way to the output through it: `y = Mine()(y)`. `kdoctor "
        "explain KD213` shows a complete one."
    )


def _finding(call: Call, attempt: Fix | NoFix) -> Finding:
    assert call.use is not None
    error = (
        "NotImplementedError: Layer `add_metric()` method is deprecated"
        if call.leaf == "add_metric"
        else "ValueError: `add_loss()` can only be called from inside `build()` or `call()`"
        if call.cls == "Sequential"
        else "NotImplementedError"
    )
    return call.finding(
        f"`{call.leaf}` of {owner_in_words(call.use.owner)} raises here: {error}",
        at=call.use.node,
        symbol=symbol(call.use.owner, call.leaf),
        help=_help(call.use),
        fix=attempt,
    )


VALID = [
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def call(self, x):\n"
        "        self.add_loss(keras.ops.sum(x))\n        return x"
    ),
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def call(self, x):\n"
        "        losses = [keras.ops.sum(x), self.penalty(x)]\n        self.add_loss(losses)\n"
        "        self.add_loss(self.penalty)\n        return x"
    ),
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def add_loss(self, loss):\n"
        "        super().add_loss(loss())\n\n    def call(self, x):\n"
        "        self.add_loss(lambda: keras.ops.sum(x))\n        return x"
    ),
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def call(self, x):\n"
        "        self.add_loss(keras.ops.sum(x))\n        return x"
    ),
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def add_metric(self, name):\n"
        "        self.mine = name\n\n\nMine().add_metric('a')"
    ),
    # Who knows what it is built of.
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def __init__(self, inputs, outputs):\n"
        "        super().__init__()\n\n\nmine = Mine(keras.Input((4,)), 3)\n"
        "mine.add_loss(keras.ops.ones(()))"
    ),
    "import keras\ngraph.add_loss(3)\ngraph.add_metric(3)",
    "import tf_keras\nmodel = tf_keras.Sequential()\nmodel.add_metric(3, name='a')",
]
_MODEL = (
    "import keras\n\nx = keras.Input((4,))\ny = keras.layers.Dense(2)(x)\n"
    "model = keras.Model(x, y)\n"
)
_TWO = (
    "import keras\n\nx = keras.Input((4,))\nhidden = keras.layers.Dense(3, 'tanh')(x)\n"
    "y = keras.layers.Dense(2)(hidden)\n"
)
_MADE = "model = keras.Model(x, y, name='net')\n"
_SPELLED = {
    "register": "keras.saving.register_keras_serializable",
    "layer": "keras.layers.Layer",
    "mean": "keras.metrics.Mean",
}
_FIT = (
    "import numpy as np\n\n"
    "model.set_weights([np.full(each.shape, 0.5) for each in model.get_weights()])\n"
    "model.compile('sgd', 'mse')\n"
    "logs = model.fit(np.ones((8, 4)), np.ones((8, 2)), epochs=3, verbose=0).history\n"
)
_PENALTY = (
    "import functools\nimport keras\n\n\ndef penalty(w):\n    return keras.ops.sum(w)\n\n\n"
    "class Mine(keras.layers.Layer):\n    def build(self, shape):\n"
    "        self.w = self.add_weight(shape=(3,))\n        self.add_loss({})\n\n"
    "    def call(self, x):\n        return x\n\n\nMine()(keras.ops.ones((2, 3)))\n"
)
INVALID = [
    Example(
        before=f"{_TWO}{_MADE}model.add_loss(hidden[0, 0] ** 2)\n{_FIT}",
        after=f"{_TWO}{_MADE}\n\n{ADD_LOSS.format(**_SPELLED)}\n\n\n"
        "model = keras.Model(model.input, AddLoss()(model.output, hidden[0, 0] ** 2), "
        f"name=model.name)\n{_FIT}",
        raises="NotImplementedError",
        unsafe=True,
        same="[round(each, 4) for each in logs['loss']], model.name",
    ),
    Example(
        before=f"{_TWO}{_MADE}model.add_metric(hidden[..., :1], name='first', aggregation='mean')\n"
        f"{_FIT}",
        after=f"{_TWO}{_MADE}\n\n{ADD_METRIC.format(**_SPELLED)}\n\n\n"
        "model = keras.Model(model.input, AddMetric('first')(model.output, hidden[..., :1]), "
        f"name=model.name)\n{_FIT}",
        raises="NotImplementedError: Layer `add_metric()` method is deprecated",
        unsafe=True,
        same="[[round(each, 4) for each in logs[name]] for name in ('first', 'loss')]",
    ),
    Example(
        before=f"{_MODEL}def add(model: keras.Model):\n    model.add_loss(keras.ops.mean(y))\n\n\n"
        "add(model)",
        raises="NotImplementedError",
    ),
    # Built anew it would not be what it was: with a `train_step` of its own.
    Example(
        before="import keras\n\n\nclass Mine(keras.Model):\n    def train_step(self, data):\n"
        "        return {}\n\n\nx = keras.Input((4,))\ny = keras.layers.Dense(2)(x)\n"
        "model = Mine(inputs=x, outputs=y)\nmodel.add_loss(keras.ops.mean(y))",
        raises="NotImplementedError",
    ),
    Example(
        before="import keras\nfrom private import Trained\n\nx = keras.Input((4,))\n"
        "y = keras.layers.Dense(2)(x)\nmodel = Trained(inputs=x, outputs=y)\n"
        "model.add_loss(keras.ops.mean(y))\nmodel.compile('sgd', loss='mse')",
        raises="NotImplementedError",
        prelude="import sys\nimport types\n\nimport keras\n\n"
        "sys.modules['private'] = types.ModuleType('private')\n"
        "sys.modules['private'].Trained = type('Trained', (keras.Model,), {})\n",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Layer):\n    def call(self, x):\n"
        "        self.add_metric(keras.ops.sum(x), name='sum')\n        return x\n\n\n"
        "Mine()(keras.ops.ones((2, 3)))",
        raises="NotImplementedError: ",
    ),
    # What is no tensor.
    Example(
        before="import keras\n\nx = keras.Input((4,))\ny = keras.layers.Dense(2)(x)\n"
        "model = keras.Model(x, y)\nmodel.add_loss(0.5)",
        raises="NotImplementedError",
    ),
    *(
        Example(before=_PENALTY.format(given), raises="ValueError: `add_loss()` can only be called")
        for given in (
            "lambda: keras.ops.sum(self.w)",
            "[penalty]",
            "functools.partial(penalty, self.w)",
            "0.0",
        )
    ),
]
