"""Layers of the user's that say their output shape, and the method that lets Keras ask `call`."""

from __future__ import annotations

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.calls import is_keras_3, speller_at
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import methods_in, only_base
from kdoctor.analysis.queries import File
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Edit, Fix, NoFix, Span
from kdoctor.rewrite.source_lines import margin
from kdoctor.syntax import Module

ASK_CALL = frozenset({
    "FlaxLayer", "GRUCell", "InputLayer", "JaxLayer", "LSTMCell", "Layer", "Model", "Pipeline",
    "SimpleRNNCell", "StackedRNNCells", "TFSMLayer", "Wrapper",
})  # fmt: skip
"""The layers of Keras 3 whose output is what ``call`` gives: they say nothing of its shape."""
ASK_NO_SHAPE = frozenset({
    "Add", "AdditiveAttention", "Attention", "Average", "CategoryEncoding", "Concatenate",
    "Discretization", "Dot", "Embedding", "Equalization", "Flatten", "GroupQueryAttention",
    "Hashing", "Identity", "IntegerLookup", "Maximum", "Minimum", "MultiHeadAttention",
    "Multiply", "Permute", "RandomGrayscale", "Reshape", "ReversibleEmbedding", "StringLookup",
    "Subtract", "TextVectorization",
})  # fmt: skip
"""The layers that have a ``compute_output_spec`` of their own, which expects one tensor."""
SHAPE, SPEC = "compute_output_shape", "compute_output_spec"
HELP = (
    "Define `compute_output_spec(self, *args, **kwargs)` as `return keras.Operation."
    "compute_output_spec(self, *args, **kwargs)`: then Keras runs `call`, as on Keras 2."
)


class OwnLayer(Struct, frozen=True):
    """A layer of this file: its own methods, the nearest first, and the Keras class under it."""

    name: str
    base: str
    symbol: str
    methods: dict[str, cst.FunctionDef] = field(default_factory=dict)


def own_layer(module: Module, facts: TargetFacts, node: cst.ClassDef) -> OwnLayer | None:
    """Return what is known of a layer; None where it may have methods that are not seen here."""
    methods: dict[str, cst.FunctionDef] = {}
    seen: set[cst.ClassDef] = set()
    name = node.name.value
    while True:
        seen.add(node)
        methods = methods_in(node) | methods
        base = only_base(module, node)
        if base is None:
            return None
        own = class_named(module, base)
        if own is None:
            break
        if own in seen:
            return None
        node = own
    symbol = module.qualified(base)
    split = split_root(symbol) if symbol and is_keras_3(facts, symbol) else None
    if symbol is None or split is None or facts.lookup(symbol).presence is Presence.MISSING:
        return None
    parent, _, leaf = split[1].rpartition(".")
    is_one = parent == "layers" or split[1] in {"Layer", "Model", "models.Model"}
    if not is_one:
        return None
    return OwnLayer(name, leaf, symbol, methods)


def ask_call(file: File, method: cst.FunctionDef) -> Fix | NoFix:
    """Return the fix that defines ``compute_output_spec`` before a method."""
    module = file.module
    start = module.span(method).start
    if method.decorators:
        start = module.span(method.decorators[0]).start
    indent = margin(module.text, start)
    if indent.strip():
        return NoFix("the method does not start on its own line")
    spelled, need = speller_at(module, method).spell("keras.Operation")
    inner = indent + _step(module, method)
    text = (
        f"def {SPEC}(self, *args, **kwargs):\n"
        f"{inner}return {spelled}.{SPEC}(self, *args, **kwargs)\n\n{indent}"
    )
    return file.fix(
        "Let `call` determine the output shape", Edit(Span(start, start), (text,)), imports=[need]
    )


def _step(module: Module, method: cst.FunctionDef) -> str:
    """Return by how much this file indents a body."""
    if isinstance(method.body, cst.IndentedBlock) and method.body.indent is not None:
        return method.body.indent
    return module.tree.default_indent
