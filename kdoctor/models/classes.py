"""Which class of the target a name in a configuration stands for, and what to say of none.

A configuration names a class by its name alone (HDF5, and all that Keras 2 wrote), or by its module
and name (``.keras``). What the target has is read from the API data, what Keras had once, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from kdoctor.keras_api import Presence, lookup
from kdoctor.keras_api.class_aliases import names_of_class
from kdoctor.keras_api.config_arguments import config_arguments, identified
from kdoctor.models.at import At, shown
from kdoctor.models.obstacle import Fault, Obstacle, Remedy
from kdoctor.target import Target

# What Keras 2 made of TensorFlow functions that were called on symbolic tensors, and of indexing.
OPERATIONS: Final = frozenset(
    {"TFOpLambda", "SlicingOpLambda", "TensorFlowOpLayer", "ClassMethod", "InstanceMethod"}
    | {"InstanceProperty"}
)
MODELS: Final = {
    "Functional": "keras.src.models.functional.Functional",
    "Model": "keras.src.models.model.Model",
    "Sequential": "keras.src.models.sequential.Sequential",
}
"""The models whose configuration is layers, and where Keras 3 defines them."""
_OTHERS: Final = frozenset({"keras_hub", "keras_cv", "keras_nlp"})
"""Packages that Keras 3 imports by itself when a configuration names a class of theirs."""
_BUILTIN: Final = tuple(
    f"keras.{each}"
    for each in (
        *("activations", "constraints", "initializers", "losses", "metrics", "optimizers"),
        "regularizers",
    )
)
"""Where Keras 3 looks for a function of which the file has nothing but the name."""
_VERSIONED: Final = re.compile(r"_?[vV]\d$")
_ROOTS: Final = ("keras", "tf.keras", "tf.compat.v1.keras")


def legacy_class(leaf: str, target: Target) -> str | None:
    """Return where the class is defined that the reader of HDF5 takes for a name."""
    return MODELS.get(leaf) or identified("layers", leaf, target.keras_version)


@lru_cache(maxsize=1024)
def named_class(module: str, leaf: str, target: Target) -> str | None:
    """Return where a class is defined that a ``.keras`` names with its module."""
    found = lookup(f"{module}.{leaf}", target)
    if found.presence is Presence.EXISTS:
        return None if found.stub else found.home
    if module.startswith("keras.src"):
        home = f"{module}.{leaf}"
        return home if config_arguments(home, target.keras_version) is not None else None
    return None


@lru_cache(maxsize=1024)
def was_keras(leaf: str, kind: str, target: Target) -> bool:
    """Say whether any release of Keras had such a name among its layers, losses and the like."""
    return any(
        lookup(f"{root}.{kind}{below}.{leaf}", target).periods
        for root in _ROOTS
        for below in ("", ".experimental", ".experimental.preprocessing", ".legacy")
    )


@lru_cache(maxsize=1024)
def new_name(leaf: str, kind: str, target: Target) -> str:
    """Return the name that a class of Keras has on the target; "" where it is gone from it."""
    for root in _ROOTS:
        for below in ("", ".experimental", ".experimental.preprocessing"):
            found = lookup(f"{root}.{kind}{below}.{leaf}", target)
            if found.moved_to:
                return found.moved_to[0].rpartition(".")[2]
    plain = _VERSIONED.sub("", leaf)
    if plain != leaf and leaf in names_of_class(plain):
        return plain if lookup(f"keras.{kind}.{plain}", target).presence is Presence.EXISTS else ""
    return ""


def missing_class(leaf: str, kind: str, at: At, *, is_legacy: bool = False) -> Obstacle:
    """Return the obstacle of a class that Keras had once, or that is the user's."""
    name = shown(leaf)
    if not was_keras(leaf, kind, at.target):
        return own_class(leaf, leaf, "", at)
    became = new_name(leaf, kind, at.target)
    if became:
        cause = f"{at.target} has no `{name}`: it is `{became}` there"
        return at.renamed(Fault.CLASS, cause, leaf, became)
    cure = f"Write a class `{name}` of your own, with the same weights and arguments, "
    if is_legacy:
        cure += f'and pass `custom_objects={{"{name}": {name}}}` to `load_model`.'
    else:  # what the file calls a class of Keras is looked for there alone
        cure += "build the model in code with it, and call `model.load_weights(…)` with this file."
    return at.obstacle(
        Fault.CLASS,
        f"{at.target} has no `{name}`",
        cure,
        Remedy.CODE,
        subject=leaf,
    )


def own_class(leaf: str, key: str, module: str, at: At) -> Obstacle:
    """Return the obstacle of a class of the user's, which the file only names."""
    name, package = shown(leaf.rpartition(">")[2]), module.partition(".")[0]
    if package in _OTHERS:
        return at.obstacle(
            Fault.OWN_CLASS,
            f"`{name}` is a class of `{shown(module)}`, another package",
            f"Install it, and `import {package}` before the model is loaded.",
            Remedy.CUSTOM_OBJECTS,
            subject=key,
        )
    origin = f" of `{shown(module)}`" if module and module != "builtins" else ""
    return at.obstacle(
        Fault.OWN_CLASS,
        f"`{name}`{origin} is no class of Keras",
        f'Pass `custom_objects={{"{shown(key)}": {name}}}` to `load_model`, or {_once(key, name)}.',
        Remedy.CUSTOM_OBJECTS,
        subject=key,
    )


def own_function(name: str, key: str, module: str, at: At) -> Obstacle:
    """Return the obstacle of a function of the user's, which the file only names."""
    origin = f" of `{shown(module)}`" if module and module != "builtins" else ""
    return at.obstacle(
        Fault.OWN_FUNCTION,
        f"`{shown(name)}`{origin} is no function of Keras",
        f'Pass `custom_objects={{"{shown(key)}": …}}` to `load_model`, with the function that the '
        "model was built with; where a function made it, call that function again.",
        Remedy.CUSTOM_OBJECTS,
        subject=key,
    )


def function_obstacles(value: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield an obstacle for a function that is neither of Keras nor known by its name.

    Keras 3 looks for it under its name, whatever the file has as registered name.
    """
    name, module = value.get("config"), value.get("module")
    if not isinstance(name, str):
        return
    modules = _BUILTIN if module == "builtins" else (module,)
    if any(
        isinstance(each, str)
        and f"{each}.".startswith("keras.")
        and named_class(each, name, at.target) is not None
        for each in modules
    ):
        return
    yield own_function(name, name, module if isinstance(module, str) else "", at)


def _once(key: str, name: str) -> str:
    """Return what is done once for all files: a name without a package is none of a decorator's."""
    package, mark, given = key.rpartition(">")
    if not mark:
        return f'once `keras.saving.get_custom_objects()["{shown(key)}"] = {name}`'
    arguments = f'package="{shown(package)}"'
    if given != name:
        arguments += f', name="{shown(given)}"'
    return (
        f"decorate the class with `@keras.saving.register_keras_serializable({arguments})` and "
        "import it first"
    )
