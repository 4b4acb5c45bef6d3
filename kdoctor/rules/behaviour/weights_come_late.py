"""A layer with `compute_output_shape` whose `build` does not build its inner layers.

## What it does
Reports classes of layers that define `build` and `compute_output_shape`, and whose `build` does not
build one of the Keras layers that the class creates and calls.

## Why it breaks
Keras 2 ran `call` while a model was constructed, which built the inner layers. Keras 3 uses
`compute_output_shape` if there is one, and does not run `call` until the first batch: until then
the model lacks these weights. `set_weights` raises `ValueError: You called `set_weights(weights)`
on layer … with a weight list of length 3, but the layer was expecting 1 weights`, `load_weights`
raises `ValueError: … was never built`, and `count_params()` is too small.

## What to write instead
`self.inner.build(shape)` in `build`. Or no `compute_output_shape`: without it, Keras 3 runs `call`
to find the shape. (Or no `build` in the class: then Keras 3 builds the inner layers.)

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, with the inner layers created in `__init__` and in `build`.
"""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.models.sublayers import (
    UNLESS_TOLD,
    WITH_WEIGHTS,
    attributes_read,
    layers_built,
    weighted_layers_assigned,
)
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.queries import Class, classes
from kdoctor.analysis.queries.bodies import Body
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_METHODS = ("build", "call", "compute_output_shape")


def _may_leave_one(methods: Mapping[str, Body]) -> bool:
    """Say whether ``call`` reads a layer that is made in ``__init__`` or ``build``, not built."""
    making = [methods[each] for each in ("__init__", "build") if each in methods]
    made = {
        each.target.rpartition(".")[2]
        for method in making
        for each in method.assigned
        if any(name.rpartition(".")[2] in WITH_WEIGHTS | UNLESS_TOLD for name in each.called)
    }
    return not made.isdisjoint(methods["call"].read - methods["build"].read)


@rule(
    "KD444",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=classes(Kind.LAYER, defining=_METHODS, bodies=_may_leave_one),
)
def check(layer: Class) -> Finding | None:
    """Report each such class."""
    module, methods = layer.module, layer.methods
    build, init = methods["build"], methods.get("__init__")
    if not _is_direct(layer) or _builds_by_others(build, methods):
        return None
    if init is not None and _builds_by_others(init, {}):
        return None
    made = [*weighted_layers_assigned(module, init), *weighted_layers_assigned(module, build)]
    called, read = attributes_read(methods["call"]), attributes_read(build) | layers_built(init)
    late = [each for each in dict.fromkeys(made) if each in called and each not in read]
    return _finding(layer, build, late) if late else None


def _is_direct(layer: Class) -> bool:
    """Say whether the one base is Keras' ``Layer``, so that nothing else builds or is asked."""
    module, base = layer.module, only_base(layer.module, layer.node)
    name = module.qualified(base) if base is not None else None
    made = module.oracle.class_type(name) if name else None
    return made is not None and made.cls == "Layer" and is_keras_3(layer.facts, name)


def _builds_by_others(build: cst.FunctionDef, methods: dict[str, cst.FunctionDef]) -> bool:
    """Say whether ``build`` may build by a method of the class, in a loop, or by a name."""
    for each in descendants(build.body):
        if not isinstance(each, cst.Call) or not isinstance(each.func, cst.Attribute):
            continue
        owner, name = each.func.value, each.func.attr.value
        if isinstance(owner, cst.Name) and (name in methods or name == "build"):
            return True
        if isinstance(owner, cst.Subscript) and name == "build":
            return True
    return False


def _finding(layer: Class, build: cst.FunctionDef, late: list[str]) -> Finding:
    shown = ", ".join(f"`self.{each}`" for each in late)
    return layer.finding(
        f"the weights of {shown} are not created until the first batch: Keras 3 uses "
        "`compute_output_shape` instead of running `call`; `load_weights` and `set_weights` of a "
        "new model fail",
        at=build.name,
        symbol=f"{layer.symbol}.build",
        help=f"Build it here, `self.{late[0]}.build(shape)` (each layer of a list), or remove "
        "`compute_output_shape`.",
        fix=NoFix("kdoctor cannot tell which shape it is called with"),
    )


_LAYER = (
    "import keras\n\n\nclass Scaled(keras.layers.Layer):\n{init}"
    "    def build(self, input_shape):\n"
    "        self.scale = self.add_weight(name='scale', shape=(4,), initializer='ones')\n{build}\n"
    "    def call(self, x):\n        return self.inner(x) * self.scale\n{shape}\n\n"
    "x = keras.Input((3,))\nmodel = keras.Model(x, Scaled()(x))\n"
)
_INIT = (
    "    def __init__(self):\n        super().__init__()\n"
    "        self.inner = keras.layers.Dense(4)\n\n"
)
_MADE = "        self.inner = keras.layers.Dense(4)\n"
_SHAPE = (
    "\n    def compute_output_shape(self, input_shape):\n        return (*input_shape[:-1], 4)\n"
)

VALID = [
    _LAYER.format(init=_INIT, build="        self.inner.build(input_shape)\n", shape=_SHAPE),
    _LAYER.format(init="", build=_MADE, shape=""),
    _LAYER.format(
        init=_INIT,
        build="        for each in [self.inner]:\n            each.build(input_shape)\n",
        shape=_SHAPE,
    ),
    _LAYER.format(
        init=_INIT + "    def build_all(self, shape):\n        self.inner.build(shape)\n\n",
        build="        self.build_all(input_shape)\n",
        shape=_SHAPE,
    ),
    # It is built where it is made.
    *(
        _LAYER.format(init=_INIT + f"        {built}\n\n", build="", shape=_SHAPE)
        for built in ("self.inner.build((None, 3))", "self.inner(keras.Input((3,)))")
    ),
    _LAYER.format(init=_INIT, build="", shape=_SHAPE).replace(
        "        self.inner = keras.layers.Dense(4)\n",
        "        inner = self.inner = keras.layers.Dense(4)\n        inner.build((None, 3))\n",
    ),
    # It has no weights.
    _LAYER.format(init="", build=_MADE.replace("Dense(4)", "Flatten()"), shape=_SHAPE),
    _LAYER.format(init=_INIT, build="", shape=_SHAPE).replace(
        "Dense(4)", "LayerNormalization(center=False, scale=False)"
    ),
    _LAYER.format(init=_INIT, build="", shape=_SHAPE).replace(
        "import keras", "import tf_keras as keras"
    ),
]
INVALID = [
    Example(
        before=_LAYER.format(init=_INIT, build="", shape=_SHAPE),
        on_keras_2=True,
        same="model.count_params()",
    ),
    Example(
        before=_LAYER.format(init="", build=_MADE, shape=_SHAPE).replace(
            "import keras\n", "from tensorflow import keras\n"
        ),
        on_keras_2=True,
        same="len(model.get_weights())",
    ),
    Example(
        before=_LAYER.format(init=_INIT, build="", shape=_SHAPE)
        .replace("Dense(4)", "LayerNormalization(epsilon=1e-6)")
        .replace("shape=(4,), ", "shape=(3,), ")
        .replace("[:-1], 4)", "[:-1], 3)"),
        on_keras_2=True,
        same="model.count_params()",
    ),
]
