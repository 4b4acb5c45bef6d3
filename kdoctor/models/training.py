"""What keeps the target from compiling a model as it was: optimizer, losses, metrics.

All of it is read with ``compile=True`` only, so that ``compile=False`` gets past each obstacle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from kdoctor.keras_api import signature
from kdoctor.keras_api.config_arguments import identified
from kdoctor.models.at import At, shown
from kdoctor.models.layers import identifier_obstacles, layer_obstacles
from kdoctor.models.obstacle import Fault, Gravity, Obstacle, Part, Remedy
from kdoctor.target import Target

_CURE: Final = (
    "Pass `compile=False` to `load_model`, then call `compile` with the optimizer, loss and "
    "metrics that are wanted."
)
_BY_SHAPE: Final = frozenset({"accuracy", "acc", "crossentropy", "ce"})  # not looked up
_REQUIRED: Final = ("optimizer_config", "loss_weights")


def training_obstacles(training: Mapping[str, Any], target: Target) -> Iterator[Obstacle]:
    """Yield what keeps the target from the ``training_config`` of an HDF5 file."""
    at = At(target, part=Part.TRAINING)
    for each in _of_hdf5(training, at):
        yield _without_compile(each)


def compile_obstacles(compiled: Mapping[str, Any], target: Target) -> Iterator[Obstacle]:
    """Yield what keeps the target from the ``compile_config`` of a ``.keras``."""
    at = At(target, part=Part.TRAINING)
    for each in _of_archive(compiled, at):
        yield _without_compile(each)


def _without_compile(found: Obstacle) -> Obstacle:
    """Return an obstacle of training: `compile=False` gets past it, and nothing else is as easy."""
    if found.gravity is not Gravity.STOPS:
        return found
    cure = _CURE
    if found.remedy is Remedy.CUSTOM_OBJECTS:
        cure = f"{_CURE} Or: {found.cure[0].lower()}{found.cure[1:]}"
    return replace(found, part=Part.TRAINING, remedy=Remedy.COMPILE_FALSE, cure=cure)


def _of_hdf5(training: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    for key in _REQUIRED:
        if key not in training:
            yield at.obstacle(
                Fault.STRUCTURE,
                f"what it was compiled with has no `{key}`",
                _CURE,
                Remedy.COMPILE_FALSE,
                subject=key,
            )
    optimizer = training.get("optimizer_config")
    if isinstance(optimizer, dict):
        yield from _optimizer(optimizer, at.down("optimizer_config"))
    loss = training.get("loss")
    if isinstance(loss, (str, dict)):
        yield from _loss(loss, at.down("loss"))
    else:
        yield from _several("losses", loss, at.down("loss"))
    for key in ("metrics", "weighted_metrics"):
        yield from _several("metrics", training.get(key), at.down(key))


def _optimizer(value: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    leaf = value.get("class_name")
    if not isinstance(leaf, str):
        return
    is_known = identified("optimizers", leaf.lower(), at.target.keras_version)
    if is_known is None and _is_named("optimizers", value, at.target, lower=True):
        return
    name = leaf.lower() if is_known else leaf
    yield from identifier_obstacles("optimizers", {**value, "class_name": name}, at)
    yield from _ignored_decay(value, at)


def _ignored_decay(value: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield what is lost of an optimizer with `decay`, which Keras 3 takes and ignores (KD401)."""
    config = value.get("config")
    decay = config.get("decay") if isinstance(config, dict) else None
    if isinstance(decay, (int, float)) and decay > 0:
        found = at.obstacle(
            Fault.VALUE,
            f"`decay={decay}` of the optimizer is ignored: its learning rate stays what it is",
            "Pass `keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)` as the rate.",
            Remedy.CODE,
            "decay",
        )
        yield replace(found, gravity=Gravity.DIFFERS)


def _loss(loss: Any, at: At) -> Iterator[Obstacle]:
    if isinstance(loss, dict) and "class_name" not in loss:  # one for each output
        yield from _several("losses", loss, at)
        return
    is_another = isinstance(loss, dict) and _is_unknown(loss, "losses", at.target)
    if not is_another or not _is_named("losses", loss, at.target):
        yield from identifier_obstacles("losses", loss, at)


def _is_unknown(value: Mapping[str, Any], kind: str, target: Target) -> bool:
    leaf = value.get("class_name")
    return isinstance(leaf, str) and identified(kind, leaf, target.keras_version) is None


def _is_named(kind: str, value: Mapping[str, Any], target: Target, *, lower: bool = False) -> bool:
    """Say whether Keras finds, by the name of an object whose class it does not know, another."""
    config = value.get("config")
    name = config.get("name") if isinstance(config, dict) else None
    if not isinstance(name, str):
        return False
    return identified(kind, name.lower() if lower else name, target.keras_version) is not None


def _several(kind: str, value: Any, at: At) -> Iterator[Obstacle]:
    """Yield what is wrong with objects in lists and dicts: strings among them are not looked up."""
    match value:
        case str() if kind == "losses" or value not in _BY_SHAPE:
            if identified(kind, value, at.target.keras_version) is not None:
                yield from identifier_obstacles(kind, value, at)
        case {"class_name": str(leaf)}:
            if identified(kind, leaf, at.target.keras_version) is not None:
                yield from identifier_obstacles(kind, value, at)
        case dict():
            for key, each in value.items():
                yield from _several(kind, each, at.down(key))
        case list():
            for number, each in enumerate(value):
                yield from _several(kind, each, at.down(number))
        case _:
            pass


def _of_archive(compiled: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    taken = signature("keras.Model.compile", at.target)
    for key, value in compiled.items():
        if taken is not None and taken.parameter(key) is None:
            yield at.obstacle(
                Fault.ARGUMENT,
                f"`compile` takes no `{shown(key)}`",
                _CURE,
                Remedy.COMPILE_FALSE,
                subject=key,
            )
            continue
        if key == "optimizer" and isinstance(value, str):
            yield from identifier_obstacles("optimizers", value.lower(), at.down(key))
        if key == "optimizer" and isinstance(value, dict):
            yield from _ignored_decay(value, at.down(key))
        for below, each in _objects(value, at.down(key)):
            yield from layer_obstacles({"module": None, **each}, below)


def _objects(value: Any, at: At) -> Iterator[tuple[At, dict[str, Any]]]:
    """Yield the objects in what was compiled with, one for each output or all in a list."""
    match value:
        case {"class_name": str()}:
            yield at, value
        case dict():
            for key, each in value.items():
                yield from _objects(each, at.down(key))
        case list():
            for number, each in enumerate(value):
                yield from _objects(each, at.down(number))
        case _:
            pass
