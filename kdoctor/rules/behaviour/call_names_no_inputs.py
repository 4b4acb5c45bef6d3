"""A layer's `call` takes only `*args`, so Keras 3 has no input shape to build it with.

## What it does
Reports `def call(self, *args, **kwargs):` without another parameter, in a subclass of a Keras layer
whose weights depend on the input shape (`BatchNormalization`, `Dense`, `Conv2D`), and in a layer
whose own `build` indexes or unpacks the shape.

## Why it breaks
Keras 2 looked at the tensors. Keras 3 looks at the parameters of `call`, and passes `build` the
shape of the first named one. `*args` is not named, so `build` gets None:
`TypeError: 'NoneType' object is not subscriptable`. (For `*inputs` it gets a tuple of shapes.)

## What to write instead
`def call(self, inputs, training=None, mask=None):`, like the base layer, with
`super().call(inputs, training=training, mask=mask)`. Declare `training` and `mask` if the layer
takes them: Keras 3 passes them only to parameters of these names, never into `**kwargs`, as Keras 2
did. The fix does that if `*args` and `**kwargs` are passed to `super().call` and used nowhere else.

## How we know
Run on Keras 3.15.1 with a subclass of each of the layers, and on tf_keras 2.21. A test fixes a
subclass of each and checks that its output equals the layer's, in training and inference.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import (
    holds_original_argument,
    methods_in,
    only_base,
)
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.behaviour._call_signature import naming
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

BUILT_BY_SHAPE: Final = frozenset({
    "Add", "Average", "BatchNormalization", "Concatenate", "Conv1D", "Conv1DTranspose", "Conv2D",
    "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "DepthwiseConv1D", "DepthwiseConv2D",
    "Dot", "EinsumDense", "GroupNormalization", "LayerNormalization", "Maximum", "Minimum",
    "Multiply", "PReLU", "RMSNormalization", "SeparableConv1D", "SeparableConv2D", "Subtract",
})  # fmt: skip
"""Keras' layers whose `build` fails without a shape."""
_ERROR = "TypeError: 'NoneType' object is not subscriptable"


def _names_no_inputs(call: FormalSignature) -> bool:
    return call.var_positional == "args" and len(call.by_position) == 1 and not call.is_decorated


@rule(
    "KD435",
    severity=Severity.ERROR,
    since="3.0",
    look_for=methods("call", of=Kind.LAYER, where=_names_no_inputs),
)
def check(call: Method) -> Finding | None:
    """Report each such ``call`` that uses what it gets."""
    owner = call.owner
    if "__call__" in owner.methods or not _uses_args(call.node):
        return None  # what only raises is for subclasses
    if not _is_built_by_shape(call.module, call.facts, owner.node, frozenset()):
        return None
    return call.finding(
        f"`call` of `{owner.symbol}` has no named input, so `build` gets no shape: {_ERROR}",
        at=call.node.name,
        symbol="Layer.call",
        help="Name the parameters, `def call(self, inputs, training=None)`, and pass them on: "
        "`training` and `mask` are only passed to parameters of these names.",
        fix=_named(call),
    )


def _uses_args(call: cst.FunctionDef) -> bool:
    return any(
        isinstance(each, cst.Name) and each.value == "args" for each in descendants(call.body)
    )


def _named(call: Method) -> Fix | NoFix:
    """Return the fix for a ``call`` that hands on what it gets to that of a layer of Keras."""
    only = only_base(call.module, call.owner.node)
    base = None if only is None else _of_keras(call.module, call.facts, only)
    edits = None if base is None else naming(call.module, call.facts, call.node, base)
    if edits is None:
        return NoFix("kdoctor cannot tell which arguments the layer is called with")
    return call.fix("Name the inputs and the arguments that Keras passes", *edits)


def _is_built_by_shape(
    module: Module, facts: TargetFacts, node: cst.ClassDef, seen: frozenset[cst.ClassDef]
) -> bool:
    build = methods_in(node).get("build")
    if build is not None:
        return _takes_apart(module, build)
    return any(_base_is(module, facts, each.value, seen | {node}) for each in node.bases)


def _base_is(
    module: Module, facts: TargetFacts, base: cst.BaseExpression, seen: frozenset[cst.ClassDef]
) -> bool:
    own = class_named(module, base)
    if own is not None:
        return own not in seen and _is_built_by_shape(module, facts, own, seen)
    return _of_keras(module, facts, base) is not None


def _of_keras(module: Module, facts: TargetFacts, base: cst.BaseExpression) -> str | None:
    """Return the dotted name of a base that is one of these layers of Keras, on the target."""
    name = module.qualified(base)
    if name is None or module.project_class(base) is not None or not is_keras_3(facts, name):
        return None
    found = facts.lookup(name)
    if found.moved_to:
        name = found.moved_to[0]
        found = facts.lookup(name)
    is_one = found.presence is Presence.EXISTS and found.name in {
        f"layers.{each}" for each in BUILT_BY_SHAPE
    }
    return name if is_one else None


def _takes_apart(module: Module, build: cst.FunctionDef) -> bool:
    """Say whether a ``build`` surely reads something of its shape."""
    parameters = build.params.params
    if len(parameters) != 2:
        return False
    shape = parameters[1]
    inside = [*descendants(build.body)]
    if any(_asks(each, shape.name.value) for each in inside):
        return False
    return any(
        isinstance(each, cst.Subscript) and holds_original_argument(module, each.value, shape)
        for each in inside
    )


def _asks(node: cst.CSTNode, shape: str) -> bool:
    """Say whether a test looks at the shape, which may then be None."""
    if not isinstance(node, cst.If | cst.IfExp):
        return False
    return any(
        isinstance(each, cst.Name) and each.value == shape
        for each in (node.test, *descendants(node.test))
    )


_HEAD = "import keras\n\n\n"
_FROZEN = _HEAD + (
    "class Frozen(keras.layers.BatchNormalization):\n    def call(self, {}):\n"
    "        kwargs['training'] = False\n        return super().call({}, **kwargs)\n"
)
_SCALED = _HEAD + (
    "class Scaled(keras.layers.Layer):\n    def build(self, input_shape):\n"
    "        {}\n        self.scale = self.add_weight(shape=(size,))\n\n"
    "    def call(self, *args):\n        return args[0] * self.scale\n"
)
_SIZE = "size = input_shape[-1]"
_MADE = "\n\n{}()(keras.Input((3,)))\n"

VALID = [
    _FROZEN.format("inputs, *args, **kwargs", "inputs, *args"),
    _FROZEN.format("*args, **kwargs", "*args").replace("BatchNormalization", "Flatten"),
    _FROZEN.format("*args, **kwargs", "*args").replace("keras.layers.Batch", "Mine"),
    _FROZEN.format("*args, **kwargs", "*args") + "\n    def __call__(self, x):\n        return x\n",
    _SCALED.format(_SIZE).replace("args", "inputs"),
    _SCALED.format("size = 3"),
    _SCALED.format("size = input_shape[-1] if input_shape else 3"),
    _SCALED.format(_SIZE).replace("return args[0] * self.scale", "raise NotImplementedError"),
    "import tf_keras as " + _SCALED.format(_SIZE).removeprefix("import "),
]
_TRAINED = _HEAD + (
    "import numpy as np\n\n\nclass Mine(keras.layers.{}):\n{}\n\n"
    "    def get_config(self):\n        return super().get_config()\n\n\n"
    "x = np.arange(24.0).reshape(8, 3) / 24\nlayer = Mine({})\n"
    "given = keras.Input((3,))\nmodel = keras.Model(given, layer(given))\n"
    "model.compile(keras.optimizers.SGD(0.1), 'mse')\n"
    "model.fit(x, x{}, epochs=2, batch_size=4, shuffle=False, verbose=0)\n"
    "told = [round(float(each.mean()), 4) for each in layer.get_weights()]\n"
)
INVALID = [
    # What keeps the moments still; and what moves them, where Keras says that it is trained.
    Example(
        before=_TRAINED.format(
            "BatchNormalization",
            "    def __init__(self, freeze=False, **kwargs):\n"
            "        super().__init__(**kwargs)\n        self.freeze = freeze\n\n"
            '    def call(self, *args, **kwargs):\n        """Test mode if frozen."""\n'
            "        if self.freeze:  # whatever is asked for\n"
            "            kwargs['training'] = False\n"
            "        return super(Mine, self).call(*args, **kwargs)",
            "",
            "",
        ),
        after=_TRAINED.format(
            "BatchNormalization",
            "    def __init__(self, freeze=False, **kwargs):\n"
            "        super().__init__(**kwargs)\n        self.freeze = freeze\n\n"
            "    def call(self, inputs, *args, training=None, mask=None, **kwargs):\n"
            '        """Test mode if frozen."""\n'
            "        kwargs.update(training=training, mask=mask)\n"
            "        if self.freeze:  # whatever is asked for\n"
            "            kwargs['training'] = False\n"
            "        return super(Mine, self).call(inputs, *args, **kwargs)",
            "",
            "",
        ),
        raises=_ERROR,
        check="assert told == [0.8025, 0.1176, 0.0189, 0.9614], told",
        on_keras_2=True,
    ),
    Example(
        before=_TRAINED.format(
            "Dense",
            "    def call(self, *args):\n        return 2 * super().call(*args)  # twice",
            "1, kernel_initializer='ones'",
            "[:, :1]",
        ),
        after=_TRAINED.format(
            "Dense",
            "    def call(self, inputs, *args):\n"
            "        return 2 * super().call(inputs, *args)  # twice",
            "1, kernel_initializer='ones'",
            "[:, :1]",
        ),
        raises=_ERROR,
        check="assert told == [0.2413, -0.5552], told",
        on_keras_2=True,
    ),
    # What else is done with them is not known.
    Example(
        before=_HEAD + "class Mine(keras.layers.BatchNormalization):\n"
        "    def call(self, *args, **kwargs):\n        kwargs.pop('training', None)\n"
        "        return super().call(*args, **kwargs)\n" + _MADE.format("Mine"),
        raises=_ERROR,
        on_keras_2=True,
    ),
    Example(
        before=_FROZEN.format("*args, **kwargs", "args[0]") + _MADE.format("Frozen"),
        raises=_ERROR,
        on_keras_2=True,
    ),
    Example(
        before=_SCALED.format(_SIZE) + _MADE.format("Scaled"),
        raises=_ERROR,
        on_keras_2=True,
    ),
]
