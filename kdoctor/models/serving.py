"""Code that calls what a SavedModel offers, with the real names of its signature."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kdoctor.models.contents import Signature, Weight

_PREFERRED = ("serving_default", "serve")


def chosen(signatures: Sequence[Signature]) -> Signature | None:
    """Return the signature that one calls to get a prediction, None where there is none."""
    by_name = {each.name: each for each in signatures}
    preferred = (by_name[name] for name in _PREFERRED if name in by_name)
    return next(preferred, next(iter(signatures), None))


def described(signature: Signature) -> str:
    """Return a signature as one reads it: ``serve(left: float32 (any, 4)) -> score: …``."""
    inputs = ", ".join(map(_tensor, signature.inputs))
    outputs = ", ".join(map(_tensor, signature.outputs))
    return f"{signature.name}({inputs}) -> {outputs}"


def keras_code(path: Path, signature: Signature) -> str:
    """Return the lines that make a model of a signature, which ``predict`` can be called on.

    A signature takes its inputs by their names, a ``TFSMLayer`` hands on one tensor: for several,
    a subclass hands them on. Where a rank is open there is no ``keras.Input``: the layer is called.
    """
    where, name = quoted(str(path)), quoted(signature.name)
    several = len(signature.inputs) != 1
    lines = ["import keras"]
    if several:
        lines += [
            "class Served(keras.layers.TFSMLayer):",
            "    def call(self, inputs, training=False):",
            "        return self.call_endpoint_fn(**inputs)",
        ]
    layer = "Served" if several else "keras.layers.TFSMLayer"
    lines.append(f"layer = {layer}({where}, call_endpoint={name})")
    if any(each.shape is None or not each.shape for each in signature.inputs):
        return "\n".join(lines)
    made = [f"{quoted(each.name)}: {_input(each, named=True)}" for each in signature.inputs]
    inputs = f"{{{', '.join(made)}}}" if several else _input(signature.inputs[0])
    lines += [f"inputs = {inputs}", "model = keras.Model(inputs, layer(inputs))"]
    return "\n".join(lines)


def tensorflow_code(path: Path) -> str:
    """Return the lines that load it without Keras."""
    return f"import tensorflow as tf\nloaded = tf.saved_model.load({quoted(str(path))})"


def quoted(text: str) -> str:
    """Return a text as it is written in Python, in double quotes."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _input(tensor: Weight, *, named: bool = False) -> str:
    sizes = [str(None if size < 0 else size) for size in (tensor.shape or ())[1:]]
    given = [f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"]
    given += [f"dtype={quoted(tensor.dtype)}"] if tensor.dtype != "float32" else []
    given += [f"name={quoted(tensor.name)}"] if named and "/" not in tensor.name else []
    return f"keras.Input({', '.join(given)})"


def _tensor(tensor: Weight) -> str:
    if tensor.shape is None:
        return f"{tensor.name}: {tensor.dtype}" if tensor.dtype else tensor.name
    sizes = ", ".join("any" if size < 0 else str(size) for size in tensor.shape)
    return f"{tensor.name}: {tensor.dtype} ({sizes})"
