"""`TimeDistributed` needs the `compute_output_shape` of the layer that it wraps.

## What it does
Reports a custom layer without `compute_output_shape` that is wrapped in `TimeDistributed` and
called with a symbolic tensor, while a functional model is built.

## Why it breaks
Keras 2 (`tf.keras`) ran the layer to find its output shape; earlier releases assumed the input
shape. Keras 3 runs a layer on its own, but not a wrapped one: `NotImplementedError: Exception
encountered when calling TimeDistributed.call().` with `Layer Own does not have a
`compute_output_shape` method implemented.`

## What to write instead
The method, in the layer:

    def compute_output_shape(self, input_shape):
        return input_shape  # or `(*input_shape[:-1], self.units)`

## How we know
Run on Keras 3.15.1 and tf_keras 2.21. Tensors with values work, and so does `Sequential`, which
does not need the shape.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.models.wrappers import applications_of, wrapped_layers
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_ASKED = "compute_output_shape"


@rule("KD231", severity=Severity.ERROR, since="3.0", look_for=files(word("TimeDistributed")))
def check(file: File) -> Iterator[Finding]:
    """Report each such layer where it is wrapped."""
    module = file.module
    if any(each.attr.value == _ASKED and _is_set(module, each) for each in module.attributes):
        return
    for reference, call, inner in wrapped_layers(module, file.facts, "TimeDistributed"):
        if not _says_no_shape(module, inner.func) or not _gets_a_symbolic_tensor(module, call):
            continue
        name = file.source(inner.func)
        yield file.finding(
            f"`TimeDistributed` needs `{_ASKED}` of `{name}`: NotImplementedError: Exception "
            "encountered when calling TimeDistributed.call().",
            at=inner,
            symbol=reference.name,
            help=f"Define `{_ASKED}(self, input_shape)` in `{name}`.",
            fix=NoFix("only you know which shape the layer returns"),
        )


def _is_set(module: Module, attribute: cst.Attribute) -> bool:
    return isinstance(module.parent(attribute), cst.AssignTarget)


def _says_no_shape(module: Module, cls: cst.BaseExpression) -> bool:
    """Say whether it is a class of the user's, made from `Layer`, that surely lacks the method."""
    seen: set[cst.ClassDef] = set()
    while (node := class_named(module, cls)) is not None:
        only = only_base(module, node)
        if node in seen or only is None or node.keywords or node.decorators:
            return False
        if any(isinstance(each, cst.Name) and each.value == _ASKED for each in descendants(node)):
            return False
        seen.add(node)
        cls = only
    info = module.project_class(cls)
    if info is not None and (not info.closed or _ASKED in info.members):
        return False
    base = info.base if info is not None else module.qualified(cls) if seen else None
    made = None if base is None else module.oracle.class_type(base)
    return made is not None and made.kind is Kind.LAYER and made.cls == "Layer"


def _gets_a_symbolic_tensor(module: Module, layer: cst.Call) -> bool:
    """Say whether the layer is called to build a model."""
    return any(
        each.args and is_symbolic(module, each.args[0].value)
        for each in applications_of(module, layer)
    )


_OWN = (
    "import keras\n\n\nclass Doubled(keras.layers.Layer):\n    def call(self, inputs):\n"
    "        return 2 * inputs\n\n\n"
)
_SAYS = (
    f"{_OWN}class Told(Doubled):\n    def compute_output_shape(self, input_shape):\n"
    "        return input_shape\n\n\n"
)
_RAISES = "NotImplementedError: Exception encountered when calling TimeDistributed.call()."

VALID = [
    (
        f"{_OWN}y = keras.layers.TimeDistributed(Doubled())(keras.Input((4, 3)))".replace(
            "import keras", "import tf_keras as keras"
        )
    ),
    _SAYS + "y = keras.layers.TimeDistributed(Told())(keras.Input((4, 3)))",
    _OWN + "y = Doubled()(keras.Input((4, 3)))",
    _OWN + "y = keras.layers.TimeDistributed(keras.layers.Dense(3))(keras.Input((4, 3)))",
    _OWN + "y = keras.layers.TimeDistributed(Doubled())(keras.ops.ones((2, 4, 3)))",
    _OWN + "model = keras.Sequential([keras.layers.TimeDistributed(Doubled())])",
    _OWN.replace("keras.layers.Layer", "keras.layers.Dense")
    + "y = keras.layers.TimeDistributed(Doubled(3))(keras.Input((4, 3)))",
    (
        _OWN + "Doubled.compute_output_shape = lambda self, shape: shape\n"
        "y = keras.layers.TimeDistributed(Doubled())(keras.Input((4, 3)))"
    ),
]
INVALID = [
    Example(
        before=_OWN + "y = keras.layers.TimeDistributed(Doubled())(keras.Input((4, 3)))",
        raises=_RAISES,
    ),
    Example(
        before=_OWN + "class Again(Doubled):\n    pass\n\n\n"
        "layer = keras.layers.TimeDistributed(layer=Again(name='again'), name='each')\n"
        "x = keras.Input((4, 3))\nmodel = keras.Model(x, layer(keras.layers.ReLU()(x)))",
        raises=_RAISES,
    ),
]
