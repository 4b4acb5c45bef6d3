"""Copy weights from Keras 2 to Keras 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import draws
from .chance import spread_of_weight
from .measurement import plain


class Mismatch(Exception):
    """The two sides do not have the same weights."""

    def __init__(self, before: str, after: str) -> None:
        super().__init__(before, after)
        self.before, self.after = before, after


@dataclass
class Weight:
    """One weight of Keras 2: its layer and name, and the value that both sides get."""

    layer: str
    name: str
    trainable: bool
    initial: np.ndarray
    value: np.ndarray


def weights_of(subject: Any) -> list[Weight]:
    """Return the weights of a Keras 2 layer or model, with values suited for a comparison.

    Noise is added to constant weights: with all values equal, many errors do not show.
    """
    found = []
    for number, (layer, variable, trainable) in enumerate(_variables(subject)):
        initial = np.asarray(variable)
        value = initial
        constant = initial.size and (initial == initial.flat[0]).all()
        if trainable and initial.dtype.kind == "f" and (constant or initial.ndim <= 1):
            noise = draws.rng(100 + number).normal(size=initial.shape)
            value = (initial + 0.1 * noise).astype(initial.dtype)
        found.append(Weight(layer, _last(variable), trainable, initial, value))
    return found


def matched(subject: Any, weights: list[Weight]) -> list[Any]:
    """Return the variables of a layer or model that match ``weights``, in the same order.

    Raises:
        Mismatch: one of them has no match.
    """
    own = _variables(subject)
    if len(own) != len(weights):
        raise Mismatch(_listed(weights), _listed_variables(own))
    by_layer: dict[str, list[tuple[str, Any, bool]]] = {}
    for each in own:
        by_layer.setdefault(each[0], []).append(each)
    named = {weight.layer for weight in weights} <= by_layer.keys()
    left = list(own)
    found = []
    for weight in weights:
        rest = [each for each in left if not named or each[0] == weight.layer]
        chosen = _chosen(weight, rest)
        if chosen is None:
            raise Mismatch(_listed(weights), _listed_variables(own))
        left = [each for each in left if each is not chosen]
        found.append(chosen[1])
    return found


def assign(variables: list[Any], weights: list[Weight]) -> None:
    """Set variables to the values of weights."""
    for variable, weight in zip(variables, weights):  # noqa: B905 - strict= is of Python 3.10
        variable.assign(weight.value)


def initial_values(variables: list[Any], weights: list[Weight]) -> dict[str, Any]:
    """Return the initial values of weights; for random ones, their distribution."""
    found: dict[str, Any] = {}
    for variable, weight in zip(variables, weights):  # noqa: B905
        value = weight.initial
        if value.size and value.dtype.kind == "f" and (value == value.flat[0]).all():
            found[f"initial value of {name_of(weight)}"] = np.asarray(variable)
            continue
        spread = spread_of_weight(np.asarray(variable))
        if spread is not None:
            found[f"initial value of {name_of(weight)} (distribution)"] = spread
    return found


def constrained(variables: list[Any], weights: list[Weight]) -> dict[str, Any]:
    """Return which weights have a constraint, and their values after it."""
    names, found = [], {}
    for variable, weight in zip(variables, weights):  # noqa: B905
        constraint = getattr(variable, "constraint", None)
        if constraint is not None:
            names.append(name_of(weight))
            given = 10 * draws.rng(weight.value.size).normal(size=weight.value.shape)
            found[f"{names[-1]} after its constraint"] = plain(
                constraint(given.astype(weight.value.dtype))
            )
    return {"constrained weights": ", ".join(names), **found} if variables else {}


def _chosen(weight: Weight, rest: list[tuple[str, Any, bool]]) -> Any:
    fitting = [
        each
        for each in rest
        if each[2] == weight.trainable and tuple(each[1].shape) == weight.value.shape
    ]
    for each in fitting:
        if _last(each[1]) == weight.name:
            return each
    return fitting[0] if fitting else None


def _variables(subject: Any) -> list[tuple[str, Any, bool]]:
    """Return the weights, each with the name of its layer."""
    holders = {}
    for layer in _layers_of(subject):  # outer layers first
        for variable in layer.weights:
            holders[id(variable)] = layer.name
    return [
        (holders.get(id(variable), ""), variable, trainable)
        for variables, trainable in (
            (subject.trainable_weights, True),
            (subject.non_trainable_weights, False),
        )
        for variable in variables
    ]


def _layers_of(subject: Any) -> list[Any]:
    flatten = getattr(subject, "_flatten_layers", None)
    return list(flatten(include_self=False)) if flatten else []


def _last(variable: Any) -> str:
    return str(variable.name).partition(":")[0].rpartition("/")[2]


def name_of(weight: Weight) -> str:
    """Return the name of a weight in Keras 2."""
    return f"{weight.layer}/{weight.name}" if weight.layer else weight.name


def _note(*, trained: bool) -> str:
    return "" if trained else " (not trained)"


def _listed(weights: list[Weight]) -> str:
    parts = [
        f"{name_of(each)} {each.value.shape}{_note(trained=each.trainable)}" for each in weights
    ]
    return f"weights {', '.join(parts[:6])}{', …' * (len(parts) > 6)}" if parts else "no weights"


def _listed_variables(own: list[tuple[str, Any, bool]]) -> str:
    parts = [
        f"{layer}/{_last(each)}".lstrip("/") + f" {tuple(each.shape)}{_note(trained=trained)}"
        for layer, each, trained in own
    ]
    return f"weights {', '.join(parts[:6])}{', …' * (len(parts) > 6)}" if parts else "no weights"
