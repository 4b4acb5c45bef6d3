"""Ask the installed Keras whether names exist: JSON list on stdin, JSON object on the last line.

Each name is answered with ``"exists"``, with the error that reaching for it raises, or with
``null`` where the question makes no sense (``loss, acc = …`` has no name to look up).
A member is looked up on instances of its class: ``Sequential.backend``, ``layer.get_updates``;
an argument by the callable's signature, or by giving it: ``keras.layers.Dense(weights)``.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import keras

ARGUMENT = re.compile(r"([\w.]+)\((\w+)\)")
ROOTS = ("keras", "tensorflow", "tf_keras", "keras_core")


def verdict(symbol: str) -> str | None:
    """Return ``"exists"``, the error text, or None where there is nothing to look up."""
    symbol = f"tensorflow.{symbol[3:]}" if symbol.startswith("tf.") else symbol
    given = ARGUMENT.fullmatch(symbol)
    if given is not None:
        return _takes(given[1], given[2])
    if symbol.partition(".")[0] in ROOTS:
        return _reach(symbol)
    owner, _, member = symbol.partition(".")
    instance = INSTANCES.get(owner) or INSTANCES.get(owner.capitalize())
    if instance is None or not member:
        return None
    use = USES.get(member, lambda thing: getattr(thing, member))
    return _outcome(lambda: use(instance()))


def _takes(name: str, argument: str) -> str | None:
    """Say whether a callable takes an argument; None where it is not known how to call it."""
    try:
        thing: Any = _resolve(name)
        parameters = inspect.signature(thing).parameters
    except (AttributeError, ImportError, TypeError, ValueError):
        return None
    if argument in parameters:
        return "exists"
    kinds = {parameter.kind for parameter in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        return f"TypeError: {name} has no parameter {argument}"
    needed = {
        parameter.name: 1
        for parameter in parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }
    if _outcome(lambda: thing(**needed)) != "exists":
        return None
    return _outcome(lambda: thing(**needed, **{argument: 1}))


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
    "Callback": keras.callbacks.Callback,
}
# Members that are there and raise when they are called.
USES: dict[str, Callable[[Any], object]] = {
    "add_loss": lambda owner: owner.add_loss(_tensor()),
    "add_metric": lambda owner: owner.add_metric(_tensor()),
}

if __name__ == "__main__":
    print(json.dumps({symbol: verdict(symbol) for symbol in json.load(sys.stdin)}))
