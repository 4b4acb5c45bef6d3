"""What keeps Keras from making the objects of a saved model's configuration, from the API data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kdoctor.keras_api import Presence, lookup
from kdoctor.models.at import At, shown
from kdoctor.models.classes import MODELS
from kdoctor.models.contents import Contents
from kdoctor.models.kinds import FileKind
from kdoctor.models.layers import layer_obstacles
from kdoctor.models.obstacle import Fault, Gravity, Obstacle, Remedy
from kdoctor.models.training import compile_obstacles, training_obstacles
from kdoctor.models.unbuilt import unbuilt_obstacles
from kdoctor.models.weights import weight_obstacles
from kdoctor.target import Target

_OF_KERAS_3: Final = frozenset({FileKind.KERAS_ARCHIVE, FileKind.KERAS_FOLDER})
_HOMES: Final = ("keras.layers", "keras.models", "keras")


def obstacles(found: Contents, target: Target) -> Iterator[Obstacle]:
    """Yield each obstacle in what a file says of its model, in the order of the file.

    Raises:
        RecursionError: objects are nested too deeply.
    """
    if found.model is None:
        return
    if not target.keras_version.startswith("3."):
        yield from _before_keras_3(found.model, At(target))
        return
    is_of_keras_2 = found.writer.keras.startswith("2.")  # what Keras 3 wrote means what it says
    for each in _of_keras_3(found, found.model, target):
        if each.gravity is Gravity.STOPS or is_of_keras_2:
            yield each


def _of_keras_3(found: Contents, model: Mapping[str, Any], target: Target) -> Iterator[Obstacle]:
    yield from layer_obstacles(model, At(target))
    yield from unbuilt_obstacles(found, At(target))
    yield from weight_obstacles(found, At(target))
    if found.training is None:
        return
    if found.kind is FileKind.HDF5:
        yield from training_obstacles(found.training, target)
    elif found.kind in _OF_KERAS_3:
        yield from compile_obstacles(found.training, target)


def _before_keras_3(config: Mapping[str, Any], start: At) -> Iterator[Obstacle]:
    """Yield the classes of Keras that a release of Keras 2 has not, wherever they are."""
    waiting: list[tuple[Any, At]] = [(config, start)]
    while waiting:
        value, at = waiting.pop()
        if isinstance(value, list):
            waiting += [(each, at.down(number)) for number, each in reversed([*enumerate(value)])]
        elif isinstance(value, dict):
            if isinstance(value.get("class_name"), str) and isinstance(value.get("config"), dict):
                at = at.named(value)
                yield from _missing(value, at)
            waiting += [(each, at.down(key)) for key, each in reversed(value.items())]


def _missing(value: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    leaf, module = value["class_name"], value.get("module")
    if leaf in MODELS or leaf.startswith("__"):
        return
    if isinstance(module, str) and not module.startswith("keras."):
        return
    homes = (module,) if isinstance(module, str) else _HOMES
    found = [lookup(f"{home}.{leaf}", at.target) for home in homes]
    if all(each.presence is Presence.MISSING for each in found):
        yield at.obstacle(
            Fault.CLASS,
            f"{at.target} has no `{shown(leaf)}`",
            "Load it with the Keras that wrote it, and save the model in HDF5.",
            Remedy.CODE,
            subject=leaf,
        )
