"""A `Dropout` created in `call` is new for every batch, which Keras 3 cannot trace."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.queries import Call, Instance, constructs
from kdoctor.model import Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.idioms._created_in_init import created_in_init
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.value_types import Kind

RANDOM_LAYERS: Final = frozenset({
    *("AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise"),
    *("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
})  # fmt: skip
"""Layers whose random numbers have a state in Keras 3, unless their rate is 0."""
_EAGER: Final = frozenset({"run_eagerly", "run_functions_eagerly"})


@rule(
    "KD520",
    severity=Severity.ERROR,
    since="3.0",
    look_for=constructs(*(Instance(Kind.LAYER, each) for each in RANDOM_LAYERS)).within("call"),
)
def check(layer: Call) -> Finding | None:
    """Report each such layer."""
    module, call = layer.module, layer.call
    if not _EAGER.isdisjoint(module.words) or not _is_for_once(module, call):
        return None
    owner = _class_of_call(module, call)
    if owner is None or not _is_random(call):
        return None
    name = _word(layer.cls)
    return layer.finding(
        f"`{layer.cls}` holds a variable in Keras 3, and `call` creates a new one whenever it is "
        "traced: ValueError: tf.function only supports singleton tf.Variables created on the "
        "first call.",
        symbol=f"{owner.name.value}.call",
        confidence=Confidence.LIKELY,
        help=f"Create it once, in `__init__`: `self.{name} = {layer.source(call)}`, and call "
        f"`self.{name}` here.",
        fix=_fix(layer, owner, name),
    )


def _fix(layer: Call, owner: cst.ClassDef, name: str) -> Fix | NoFix:
    module = layer.module
    others = [
        each
        for each in module.nodes(cst.Call)
        if _is_for_once(module, each)
        and _class_of_call(module, each) is owner
        and _makes_noise(module, each) == name
    ]
    edits = created_in_init(module, owner, layer.call, others, name)
    if isinstance(edits, NoFix):
        return edits
    return layer.fix(f"Create the `{layer.cls}` once, in `__init__`", *edits)


def _makes_noise(module: Module, call: cst.Call) -> str | None:
    made = module.type_of(call)
    if made is None or made.kind is not Kind.LAYER or made.cls not in RANDOM_LAYERS:
        return None
    return _word(made.cls) if _is_random(call) else None


def _word(cls: str) -> str:
    return "noise" if cls.endswith("Noise") else "dropout"


def _is_for_once(module: Module, call: cst.Call) -> bool:
    """Say whether what is made is called, and kept nowhere."""
    above = module.parent(call)
    return isinstance(above, cst.Call) and above.func is call


def _class_of_call(module: Module, call: cst.Call) -> cst.ClassDef | None:
    """Return the layer or model in whose own ``call`` this stands."""
    method = module.scope_of(call).node
    if not isinstance(method, cst.FunctionDef) or method.name.value != "call":
        return None
    block = module.parent(method)
    node = module.parent(block) if block is not None else None
    if not isinstance(node, cst.ClassDef) or method.decorators:
        return None
    return node if kind_of_class(module, node) in {Kind.LAYER, Kind.MODEL} else None


def _is_random(call: cst.Call) -> bool:
    """Say whether it surely has random numbers of its own: a rate of 0 has none."""
    seed = argument(call, "seed")
    if seed is not None and literal(seed.value) is UNKNOWN:
        return False
    rate = argument(call, "rate", 0) or argument(call, "stddev", 0)
    return rate is not None and literal(rate.value) not in (0, None)
