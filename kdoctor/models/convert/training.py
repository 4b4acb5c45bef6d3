"""Rewrite what a model was compiled with as Keras 3 writes it.

A file loads without it. So where something of it cannot be converted, none of it is carried over,
and that is said: the model has to be compiled anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kdoctor.keras_api.config_arguments import identified
from kdoctor.models.at import shown
from kdoctor.models.convert.configuration import Rewriter
from kdoctor.models.convert.record import Record

# `compile` takes them beside the names of functions, and chooses by the shape of the output.
_CHOSEN: Final = frozenset({"accuracy", "acc", "crossentropy", "ce"})
_KEPT: Final = ("loss_weights", "run_eagerly", "steps_per_execution", "jit_compile")


class _CannotError(Exception):
    """What cannot be converted."""


def converted_training(config: Mapping[str, Any], record: Record) -> dict[str, Any] | None:
    """Return the arguments of ``compile``, as a `.keras` file of Keras 3 holds them.

    None where they cannot be converted: ``record`` says why.
    """
    inner = Record(record.target)
    try:
        made = _converted(config, Rewriter(inner))
        why = inner.refusals[0].cause if inner.refusals else ""
    except _CannotError as error:
        why = str(error)
    if why:
        record.change("", f"what it was compiled with is left out ({why}): call `compile` anew")
        return None
    for each in inner.changes:
        record.change(each.place, each.text)
    return made


def _converted(config: Mapping[str, Any], rewriter: Rewriter) -> dict[str, Any]:
    optimizer = config.get("optimizer_config", config.get("optimizer"))
    made: dict[str, Any] = {"optimizer": _optimizer(optimizer, rewriter)}
    for key, home in (
        ("loss", "keras.losses"),
        ("metrics", "keras.metrics"),
        ("weighted_metrics", "keras.metrics"),
    ):
        value = _each(config.get(key), home, rewriter)
        if home == "keras.metrics" and isinstance(value, list) and len(value) == 1:
            value = value[0] if isinstance(value[0], list) else value
        made[key] = value
    for key in _KEPT:
        if config.get(key) is not None:
            made[key] = config[key]
    return made


def _optimizer(value: Any, rewriter: Rewriter) -> Any:
    if isinstance(value, str):
        home = identified("optimizers", value, rewriter.record.target.keras_version)
        if home is None:
            raise _CannotError(f"`{shown(value)}` is no optimizer")
        value = {"class_name": home.rpartition(".")[2], "config": {}}
    if not isinstance(value, dict) or not isinstance(value.get("config"), dict):
        raise _CannotError("its optimizer is not known")
    config = dict(value["config"])
    if "lr" in config:
        config["learning_rate"] = config.pop("lr")
    decay = config.pop("decay", 0)
    if decay:
        config["learning_rate"] = _decayed(config.get("learning_rate"), decay)
        rewriter.record.change("", f"`decay={decay}` of the optimizer is an `InverseTimeDecay`")
    return rewriter.object({**value, "config": config}, "", ("keras.optimizers",))


def _decayed(rate: Any, decay: Any) -> dict[str, Any]:
    """Return the schedule that an optimizer of Keras 2 followed: rate / (1 + decay * step)."""
    if not isinstance(rate, int | float):
        raise _CannotError("its optimizer has a schedule and a `decay`")
    return {
        "module": "keras.optimizers.schedules",
        "class_name": "InverseTimeDecay",
        "config": {"initial_learning_rate": rate, "decay_steps": 1, "decay_rate": decay},
        "registered_name": None,
    }


def _each(value: Any, home: str, rewriter: Rewriter) -> Any:
    """Return losses or metrics, in the structure that they are in."""
    match value:
        case None:
            return None
        case str():
            return _function(value, home, rewriter)
        case list():
            return [_each(each, home, rewriter) for each in value]
        case {"class_name": "function", "config": str(name)}:
            return _function(name, home, rewriter)
        case {"class_name": "MeanMetricWrapper", "config": {"fn": str(name)}}:
            return _function(name, home, rewriter)
        case {"class_name": str(), "config": dict()}:
            return rewriter.object(value, "", (home,))
        case dict():
            return {key: _each(each, home, rewriter) for key, each in value.items()}
    raise _CannotError(f"`{shown(value)}` is no loss and no metric")


def _function(name: str, home: str, rewriter: Rewriter) -> str:
    if home == "keras.metrics" and name in _CHOSEN:
        return name
    target = rewriter.record.target
    found = identified(home.removeprefix("keras."), name, target.keras_version)
    if found is not None:
        # By its own name, which each reader of Keras 3 knows: `mse` in HDF5 is not found.
        return found.rpartition(".")[2]
    raise _CannotError(f"`{shown(name)}` is no function of {home} in {target}")
