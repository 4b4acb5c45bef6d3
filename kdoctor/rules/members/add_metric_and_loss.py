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

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, binding_of, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import methods_in, only_base
from kdoctor.analysis.triggers import Trigger, attribute, member_of
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.members._endpoint_layers import (
    ADD_LOSS,
    ADD_METRIC,
    build_anew,
    can_be_built_anew,
)
from kdoctor.rules.members._error_owner import owner_in_words, symbol
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.type_oracle import PARTIAL
from kdoctor.value_types import Kind

_BUILT = frozenset({"Functional", "Sequential", None})
_KINDS: Final = frozenset({Kind.LAYER, Kind.MODEL})
_MEMBERS: Final = frozenset({"add_loss", "add_metric"})
_LOSSES: Final = "losses"
_NO_TENSOR: Final = "a layer accepts only tensors"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each call that raises."""
    called = [
        use
        for use in module.members
        if use.member in _MEMBERS and use.called is not None and not use.owner_defines
        if use.owner.kind in _KINDS and not module.is_guarded(use.node)
    ]
    uses = [use for use in called if _raises(module, use)]
    tensors = [use for use in uses if not _is_given_no_tensor(module, use)]
    fixed = [use for use in tensors if can_be_built_anew(module, use)]
    for use in uses:
        attempt = build_anew(module, use, fixed) if use in tensors else NoFix(_NO_TENSOR)
        yield _finding(module, use, attempt)
    for use in called:
        given = _given(use)
        if use not in uses and given is not None and _is_given_no_tensor(module, use):
            yield _of_no_tensor(module, use, given)


def _given(use: MemberUse) -> cst.Arg | None:
    if use.called is None or use.member != "add_loss":
        return None
    return argument(use.called, _LOSSES, 0)


def _is_given_no_tensor(module: Module, use: MemberUse) -> bool:
    given = _given(use)
    return given is not None and _holds_no_tensor(module, given.value)


def _raises(module: Module, use: MemberUse) -> bool:
    if use.member == "add_metric":
        return True
    return use.owner.kind is Kind.MODEL and _is_built(module, use)


def _is_built(module: Module, use: MemberUse) -> bool:
    return use.owner.cls in _BUILT or _is_functional_subclass(module, use)


def _is_functional_subclass(module: Module, use: MemberUse) -> bool:
    """Say whether it is made as ``Mine(inputs, outputs)`` of a class that leaves that to Keras.

    Keras puts `Functional`, whose `add_loss` raises, among the bases of such a class.
    """
    made = value_of(module, use.node.value)
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


def _of_no_tensor(module: Module, use: MemberUse, given: cst.Arg) -> Finding:
    return rule.finding(
        module.place(given),
        "`add_loss` accepts only tensors: ValueError: `add_loss()` can only be called from inside "
        "`build()` or `call()`, on a tensor input",
        symbol=symbol(use.owner, use.member),
        confidence=use.confidence,
        help="In `call` write `self.add_loss(value)`, with the value that the function computes; "
        "Keras 3 runs it in each step.",
        fix=NoFix("the function would run at another time in `call`"),
    )


def _may_give_no_tensor(quick: QuickFacts, _: TargetFacts) -> bool:
    functions = {
        each.name
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for each in quick.nodes.get(kind, ())
    }
    return any(
        isinstance(each, ast.Lambda | ast.Constant)
        or (isinstance(each, ast.Name) and each.id in functions)
        or (isinstance(each, ast.Call) and PARTIAL in quick.meant_by(each.func))
        for called in quick.calls_of("add_loss")
        if (given := called.argument(_LOSSES, 0)) is not None
        for value in (given, *quick.values_of(given))
        for each in (value.elts if isinstance(value, ast.List | ast.Tuple) else (value,))
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


def _finding(module: Module, use: MemberUse, attempt: Fix | NoFix) -> Finding:
    error = (
        "NotImplementedError: Layer `add_metric()` method is deprecated"
        if use.member == "add_metric"
        else "ValueError: `add_loss()` can only be called from inside `build()` or `call()`"
        if use.owner.cls == "Sequential"
        else "NotImplementedError"
    )
    return rule.finding(
        module.place(use.node),
        f"`{use.member}` of {owner_in_words(use.owner)} raises here: {error}",
        symbol=symbol(use.owner, use.member),
        confidence=use.confidence,
        help=_help(use),
        fix=attempt,
    )


rule = Rule(
    code="KD213",
    name="add-metric-and-loss",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of(_KINDS, "add_metric")
    | member_of({Kind.MODEL}, "add_loss")
    | attribute("add_loss") & Trigger(_may_give_no_tensor) & member_of(_KINDS, "add_loss"),
    since="3.0",
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
