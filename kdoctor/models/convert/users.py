"""Classes and functions of the user's in a configuration: they stay, and loading takes them.

The file only names them. What is data around them is converted, and so are the objects of Keras
in their configurations; what they are made of is for their own code to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from kdoctor.keras_api import Presence, lookup
from kdoctor.keras_api.config_arguments import identified
from kdoctor.models.at import At
from kdoctor.models.classes import own_class, own_function, was_keras
from kdoctor.models.convert.record import Record
from kdoctor.models.obstacle import Obstacle
from kdoctor.target import Target

_OF_KERAS: Final = ("keras", "tf_keras", "tensorflow.python.keras", "tensorflow.keras")
# What a text names that is an argument, by the end of the argument's name.
_NAMED: Final = {
    "activation": "activations",
    "initializer": "initializers",
    "regularizer": "regularizers",
    "constraint": "constraints",
}
_BUILTIN: Final = (*_NAMED.values(), "losses", "metrics")


def is_of_keras(value: Mapping[str, Any]) -> bool:
    """Say whether an object of Keras 2 may be of a class of Keras: its module says it, or none."""
    module = value.get("module")
    if module is None:
        return ">" not in value["class_name"]
    return isinstance(module, str) and any(
        module == each or module.startswith(f"{each}.") for each in _OF_KERAS
    )


def is_users(value: Mapping[str, Any], home: str, target: Target) -> bool:
    """Say whether an object that the target does not know is of a class of the user's.

    ``home`` is the module in which Keras has classes of this kind. A class that Keras had once is
    none.
    """
    leaf, module = value["class_name"], value.get("module")
    if isinstance(module, str):
        return not is_of_keras(value)
    return ">" in leaf or not was_keras(leaf, home.removeprefix("keras."), target)


def kept(value: Mapping[str, Any], place: str, record: Record) -> dict[str, Any]:
    """Return an object of a class of the user's as Keras 3 reads it, and note what it takes."""
    module, leaf = value.get("module"), str(value["class_name"])
    registered = value.get("registered_name")
    key = registered if isinstance(registered, str) else leaf
    name = leaf.rpartition(">")[2]
    known = module if isinstance(module, str) else None
    _need(own_class(name, key, known or "", At(record.target, place)), name, record)
    made = {"module": known, "class_name": name, "config": value["config"]}
    made["registered_name"] = key
    built = value.get("build_config")
    if isinstance(built, dict) and built.keys() - {"input_shape"}:  # its own code wrote it
        made["build_config"] = built
    return made


def is_kept(value: Mapping[str, Any]) -> bool:
    """Say whether an object of a converted configuration is of a class of the user's."""
    return not str(value.get("module") or "").startswith("keras")


def kept_function(value: Mapping[str, Any], place: str, record: Record) -> dict[str, Any]:
    """Return a function of a configuration; where it is the user's, under its registered name.

    By that Keras 3 looks for it, as it writes it itself since 3.7.
    """
    name, module = value.get("config"), value.get("module")
    if not isinstance(name, str) or _is_function_of_keras(name, module, record.target):
        return dict(value)
    registered = value.get("registered_name")
    key = registered if isinstance(registered, str) and ">" in registered else name
    origin = module if isinstance(module, str) else ""
    function = key.rpartition(">")[2]
    _need(own_function(function, key, origin, At(record.target, place)), function, record)
    return {**value, "config": key}


def look_for_function(argument: str, name: str, place: str, record: Record) -> None:
    """Note a function of the user's that an argument names by a text alone."""
    kind = _NAMED.get(argument.rpartition("_")[2])
    release = record.target.keras_version
    if kind is None or not name or identified(kind, name, release) is not None:
        return
    if not was_keras(name, kind, record.target):
        _need(own_function(name, name, "", At(record.target, place)), name, record)


def _need(obstacle: Obstacle, name: str, record: Record) -> None:
    """Note what loading takes, and where it is in the sources that are given."""
    where = record.lambdas.definition(name)
    if where:
        obstacle = replace(obstacle, cause=f"{obstacle.cause}, but of {where}")
    elif record.lambdas.is_given:
        obstacle = replace(obstacle, cause=f"{obstacle.cause}, and not in the source")
    record.need(replace(obstacle, cause=f"{obstacle.cause}: it stays as it is"))


def _is_function_of_keras(name: str, module: Any, target: Target) -> bool:
    if module is None or module == "builtins":
        release = target.keras_version
        return any(identified(each, name, release) is not None for each in _BUILTIN)
    found = lookup(f"{module}.{name}", target) if isinstance(module, str) else None
    return found is not None and found.presence is Presence.EXISTS
