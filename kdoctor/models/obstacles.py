"""What keeps Keras from making the objects of a saved model's configuration, from the API data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kdoctor.keras_api import ClassFamily, Presence, lookup, signature
from kdoctor.keras_api.members import bases_of, classes_of
from kdoctor.keras_api.surface import surface_on
from kdoctor.models.obstacle import Obstacle
from kdoctor.rules.arguments._keyword_changes import is_refused
from kdoctor.target import Target
from kdoctor.value_types import Kind

_HOMES: Final = ("keras.layers", "keras.models", "keras")
_MODELS: Final = frozenset({"Functional", "Model", "Sequential"})
_KINDS: Final = {ClassFamily.LAYER: Kind.LAYER, ClassFamily.OPTIMIZER: Kind.OPTIMIZER}
_READ_BY_THE_LOADER: Final = frozenset({"batch_input_shape"})  # in an object without a module
# What `Lambda` of Keras 2 wrote and the loader of HDF5 takes out (`LAMBDA_DEP_ARGS`).
_OF_LAMBDA: Final = frozenset(
    {"module", "function_type", "output_shape_type", "output_shape_module"}
)
# Their parameters are known: see `is_refused`.
_ROOTS: Final = frozenset({"keras.src.layers.layer.Layer", "keras.src.ops.operation.Operation"})
_MAX_SHOWN: Final = 80  # characters of a name that a file holds


def obstacles(config: Mapping[str, Any], target: Target) -> Iterator[Obstacle]:
    """Yield each obstacle in a model's configuration, in the order of the file."""
    waiting: list[tuple[Any, str]] = [(config, "")]
    while waiting:
        value, place = waiting.pop()
        if isinstance(value, list):
            waiting += [(each, place) for each in reversed(value)]
        elif isinstance(value, dict):
            inside = place
            if isinstance(value.get("class_name"), str) and isinstance(value.get("config"), dict):
                inside = _inside(value, place)
                yield from (Obstacle(inside, cause) for cause in _causes(value, target))
            waiting += [(each, inside) for each in reversed(value.values())]


def _inside(value: Mapping[str, Any], place: str) -> str:
    name = value["config"].get("name")
    if not isinstance(name, str):
        return place
    return f"{place}/{name[:_MAX_SHOWN]}" if place else name[:_MAX_SHOWN]


def _causes(value: Mapping[str, Any], target: Target) -> Iterator[str]:
    leaf, module = value["class_name"], value.get("module")
    if leaf.startswith("__"):  # a tuple, a tensor
        return
    if isinstance(module, str) and not module.startswith("keras."):
        if module not in {"builtins", "keras"}:
            yield f"`{leaf}` of `{module}` is no class of Keras"
        return
    homes = (module,) if isinstance(module, str) else _HOMES
    found = [lookup(f"{home}.{leaf}", target) for home in homes]
    if module is None and leaf in _MODELS:
        return
    known = next((each for each in found if each.presence is Presence.EXISTS), None)
    if known is None:
        if all(each.presence is Presence.MISSING for each in found):
            yield f"{target} has no `{leaf}`"
        return
    new = signature(known.qualified, target)
    if new is None or leaf in _MODELS:
        return
    skipped = _READ_BY_THE_LOADER if module is None else frozenset()
    if leaf == "Lambda":
        skipped |= _OF_LAMBDA
    taken = _taken_by_bases(known.home, target)
    for each in value["config"]:
        if each in skipped or taken is None or each in taken:
            continue
        if is_refused(leaf, _KINDS.get(known.family), new, each):
            yield f"`{leaf}` takes no `{each[:_MAX_SHOWN]}`"


def _taken_by_bases(home: str, target: Target) -> frozenset[str] | None:
    """Return the parameters of the bases of a class; None where a base has no public name."""
    classes = classes_of("keras", target.keras_version)
    names = surface_on("keras", target)
    if classes is None or names is None:
        return None
    taken: set[str] = set()
    for base in bases_of(classes, home):
        if base in _ROOTS:
            break
        public = names.names_of(base)
        made = signature(f"keras.{public[0]}", target) if public else None
        if made is None:
            return None
        taken |= {each.name for each in made.parameters}
    return frozenset(taken)
