"""Ask the installed Keras whether names exist: JSON list on stdin, JSON object on the last line.

Each name is answered with ``"exists"``, with the error that reaching for it raises, or with
``null`` where the question makes no sense (``loss, acc = …`` has no name to look up).
A member is looked up on instances of its class: ``Sequential.backend``, ``Layer.get_updates``.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

import keras

ROOTS = ("keras", "tensorflow", "tf", "tf_keras", "keras_core")


def verdict(symbol: str) -> str | None:
    """Return ``"exists"``, the error text, or None where there is nothing to look up."""
    root, _, rest = symbol.partition(".")
    if root in ROOTS:
        return _reach("tensorflow." + rest if root == "tf" else symbol)
    owner, _, member = symbol.partition(".")
    instance = INSTANCES.get(owner)
    if instance is None or not member:
        return None
    return _outcome(lambda: getattr(instance(), member))


def _reach(name: str) -> str:
    found: list[Any] = []
    outcome = _outcome(lambda: found.append(_resolve(name)))
    if outcome != "exists" or not isinstance(found[0], type):
        return outcome
    # Some classes are there only to say that they are gone (`keras.optimizers.legacy.Adam`).
    with contextlib.suppress(Exception):
        try:
            found[0]()
        except ImportError as problem:
            return f"ImportError: {problem}"
    return "exists"


def _resolve(name: str) -> object:
    first, *rest = name.split(".")
    thing: object = importlib.import_module(first)
    path = first
    for part in rest:
        path += "." + part
        try:
            thing = getattr(thing, part)
        except AttributeError:
            thing = importlib.import_module(path)
    return thing


def _outcome(action: Callable[[], object]) -> str:
    try:
        action()
    except Exception as problem:  # noqa: BLE001 - whatever reaching for a name raises is the answer
        return f"{type(problem).__name__}: {problem}"
    return "exists"


def _functional() -> object:
    inputs = keras.Input((2,))
    return keras.Model(inputs, keras.layers.Dense(1)(inputs))


def _sequential() -> object:
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])


def _layer() -> object:
    layer = keras.layers.Dense(1)
    layer.build((None, 2))
    return layer


def _tensor() -> object:
    return keras.Input((2,))


def _weight() -> object:
    return keras.Variable([1.0])


def _optimizer() -> object:
    return keras.optimizers.SGD()


INSTANCES = {
    "Model": _functional,
    "Functional": _functional,
    "Sequential": _sequential,
    "Layer": _layer,
    "Dense": _layer,
    "Tensor": _tensor,
    "KerasTensor": _tensor,
    "Variable": _weight,
    "Optimizer": _optimizer,
}

if __name__ == "__main__":
    print(json.dumps({symbol: verdict(symbol) for symbol in json.load(sys.stdin)}))
