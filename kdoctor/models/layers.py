"""What keeps the target from making a model of its configuration.

Keras 3 has two readers. That of HDF5 knows a layer by its name; that of ``.keras`` looks for the
module that the configuration names, and reads what stands inside wrappers in HDF5, too. Both leave
the arguments to the class: what an initializer or a cell may be, the name of the argument says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from msgspec.structs import replace

from kdoctor.keras_api import Presence, lookup
from kdoctor.keras_api.config_arguments import config_arguments, identified, operation
from kdoctor.keras_api.surface import surface_on
from kdoctor.models.arguments import argument_obstacles, is_refused
from kdoctor.models.at import At, shown
from kdoctor.models.classes import (
    MODELS,
    OPERATIONS,
    function_obstacles,
    legacy_class,
    missing_class,
    named_class,
    own_class,
    own_function,
    was_keras,
)
from kdoctor.models.graph import graph_obstacles
from kdoctor.models.lambdas import OLD_ARGUMENTS, lambda_obstacles
from kdoctor.models.names import name_obstacles
from kdoctor.models.obstacle import Fault, Gravity, Obstacle, Remedy
from kdoctor.models.operations_recorded import operation_obstacle
from kdoctor.target import Target

_BY_SUFFIX: Final = {
    "initializer": "initializers",
    "regularizer": "regularizers",
    "constraint": "constraints",
    "activation": "activations",
}
_FUNCTIONS: Final = frozenset({"losses", "metrics"})  # kinds that are functions, too
_BY_NAME: Final = {
    "depthwise_activation": "activations",
    "beta_init": "initializers",
    "gamma_init": "initializers",
}
_CHANGED: Final = "hard_sigmoid"  # KD404
_KERAS: Final = ("keras.", "tf_keras.", "tensorflow.python.keras.")
_STUBBED: Final = frozenset({"optimizers"})  # with `legacy`, whose classes only raise
_INNER: Final = frozenset({"layer", "backward_layer", "cell", "cells", "learning_rate"})
"""Arguments that hold objects which are read as in a ``.keras``."""


def layer_obstacles(value: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield what keeps the at.target from making one layer or model, in the order of the file."""
    config, leaf = value.get("config"), value.get("class_name")
    if not isinstance(leaf, str):
        return
    at = at.named(value)
    if "module" in value:
        yield from _named_object(value, leaf, at)
        return
    recorded = _operation_of_keras_3(value, leaf, at)
    if recorded is not None:
        yield recorded
        return
    home = legacy_class(leaf, at.target)
    if home is None:
        if leaf in OPERATIONS:
            yield operation_obstacle(value, leaf, at)
        else:
            yield missing_class(leaf, "layers", at, is_legacy=True)
        yield from _inside_unknown(config, at)
        return
    if leaf in MODELS:
        yield from model_obstacles(leaf, config, at)
        return
    if not isinstance(config, dict):
        return
    given = {name: each for name, each in config.items() if name != "batch_input_shape"}
    match config.get("axis"):
        case [axis]:  # its reader takes it out of the list
            given["axis"] = axis
    if leaf == "Lambda":
        given = {name: each for name, each in given.items() if name not in OLD_ARGUMENTS}
    yield from _taken_for_functions(leaf, given, at)
    yield from _object_obstacles(leaf, home, given, at)


def _operation_of_keras_3(value: Mapping[str, Any], leaf: str, at: At) -> Obstacle | None:
    """Return the obstacle of `x * 2` in an HDF5 file of Keras 3: its name alone is that of a layer.

    An operation has nothing of what each layer has in its configuration.
    """
    config, nodes = value.get("config"), value.get("inbound_nodes")
    if not isinstance(config, dict) or "trainable" in config or "layers" in config:
        return None
    if not isinstance(nodes, list) or not nodes or not isinstance(nodes[0], dict):
        return None
    home = operation(leaf, at.target.keras_version)
    if home is None:
        return None
    cause = f"`{leaf}` is the operation `{home}`, which the reader of HDF5 takes for a layer"
    return at.renamed(Fault.CLASS, cause, leaf, home)


def _taken_for_functions(leaf: str, config: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield each text in the place of which the reader of HDF5 puts a function of that name.

    It looks for it among the names of ``keras.layers``: ``dot`` of an ``Attention`` is one.
    """
    for name, value in config.items():
        if name == "name" or not isinstance(value, str):
            continue
        home = identified("layers", value, at.target.keras_version)
        if home is not None and home.rpartition(".")[2].islower():
            yield at.down("config", name).obstacle(
                Fault.VALUE,
                f"the reader of HDF5 takes `{shown(name)}={value!r}` of `{shown(leaf)}` for the "
                f"function `keras.layers.{value}`",
                "`kdoctor model --convert` writes a `.keras`, whose reader does not.",
                Remedy.CONVERT,
                subject=name,
            )


def model_obstacles(leaf: str, config: Any, at: At) -> Iterator[Obstacle]:
    """Yield what is wrong in the layers of a model, and in how they are connected."""
    if isinstance(config, dict):
        yield from name_obstacles(MODELS[leaf], config, at)
    if isinstance(config, list):  # Keras before 2.2.3
        yield at.obstacle(
            Fault.STRUCTURE,
            "its configuration is a list of layers, as Keras wrote it before 2.2.3",
            "`kdoctor model --convert` writes it as Keras 3 reads it.",
            Remedy.CONVERT,
        )
        config = {"layers": config}
    if not isinstance(config, dict):
        return
    layers = config.get("layers")
    layers = layers if isinstance(layers, list) else []
    for number, each in enumerate(layers):
        if isinstance(each, dict):
            below = at.down("config", "layers", number)
            yield from layer_obstacles(each, below)
            if leaf == "Sequential" and number + 1 < len(layers):
                yield from _output_in_a_list(each, below)
    if leaf != "Sequential":
        yield from graph_obstacles(config, at)


def _output_in_a_list(value: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield an obstacle for a model whose one output is in a list: the next layer takes no list."""
    config = value.get("config")
    outputs = config.get("output_layers") if isinstance(config, dict) else None
    if value.get("class_name") in MODELS and isinstance(outputs, list) and len(outputs) == 1:
        yield at.named(value).obstacle(
            Fault.STRUCTURE,
            "its one output is in a list, as Keras 2 wrote it, and the layer behind takes no list",
            "`kdoctor model --convert` takes it out of the list.",
            Remedy.CONVERT,
        )


def _inside_unknown(config: Any, at: At) -> Iterator[Obstacle]:
    """Yield what is wrong in the objects that an unknown class is made of.

    What it makes of a text, it alone knows.
    """
    for name, each in config.items() if isinstance(config, dict) else ():
        if isinstance(each, (dict, list)):
            yield from value_obstacles(name, each, at.down("config", name))


def _objects(value: Any, at: At) -> Iterator[tuple[At, dict[str, Any]]]:
    """Yield the objects in an argument: itself, or those in a list."""
    match value:
        case list():
            for number, each in enumerate(value):
                yield from _objects(each, at.down(number))
        case {"class_name": str(leaf)} if not leaf.startswith("__") and leaf != "function":
            yield at, value
        case _:
            pass


def _named_object(value: Mapping[str, Any], leaf: str, at: At) -> Iterator[Obstacle]:
    """Yield what is wrong with an object whose module the file names (``.keras``)."""
    config, module = value.get("config"), value.get("module")
    registered = value.get("registered_name")
    if leaf.startswith("__"):
        return
    if leaf == "function":
        yield from function_obstacles(value, at)
        return
    home = named_class(module, leaf, at.target) if isinstance(module, str) else None
    if home is None:
        found = _unlocated(value, leaf, module, registered, at)
        yield found
        home = found.became
        if found.fault is Fault.STRUCTURE:
            home = legacy_class(leaf, at.target)
        if not home:
            yield from _inside_unknown(config, at)
            return
    if leaf in MODELS:
        yield from model_obstacles(leaf, config, at)
    elif isinstance(config, dict):
        yield from _object_obstacles(leaf, home, config, at)


def _unlocated(
    value: Mapping[str, Any], leaf: str, module: Any, registered: Any, at: At
) -> Obstacle:
    is_keras = isinstance(module, str) and f"{module}.".startswith(_KERAS)
    now = MODELS.get(leaf) or legacy_class(leaf, at.target)
    kind = module.partition(".")[2].partition(".")[0] if isinstance(module, str) else ""
    if now is None and kind in _STUBBED:
        now = named_class(f"keras.{kind}", leaf, at.target)
    if is_keras and now is not None:
        cause = f"{at.target} has no `{shown(module)}`: `{leaf}` is `{now}` there"
        return at.renamed(Fault.CLASS, cause, f"{module}.{leaf}", now)
    if leaf in OPERATIONS and is_keras:
        return operation_obstacle(value, leaf, at)
    if is_keras and was_keras(leaf, kind or "layers", at.target):
        return missing_class(leaf, kind or "layers", at)
    if module is None and legacy_class(leaf, at.target) and registered in {None, leaf}:
        return at.obstacle(
            Fault.STRUCTURE,
            f"`{shown(leaf)}` is named without its module, as Keras 2 wrote it before 2.12",
            "`kdoctor model --convert` writes the module; or pass "
            f'`custom_objects={{"{shown(leaf)}": keras.layers.{shown(leaf)}}}` to `load_model`.',
            Remedy.CONVERT,
            subject=leaf,
        )
    key = registered if isinstance(registered, str) else leaf
    return own_class(leaf, key, module if isinstance(module, str) else "", at)


def _object_obstacles(
    leaf: str, home: str, config: Mapping[str, Any], at: At
) -> Iterator[Obstacle]:
    """Yield what is wrong with the arguments of one object, and inside of them."""
    yield from name_obstacles(home, config, at)
    yield from argument_obstacles(leaf, home, config, at)
    if leaf == "Lambda":
        yield from lambda_obstacles(config, at)
        return
    for name, value in config.items():
        if isinstance(value, str | dict | list) and not is_refused(home, name, at.target):
            yield from value_obstacles(name, value, at.down("config", name))


def value_obstacles(name: str, value: Any, at: At) -> Iterator[Obstacle]:
    """Yield what is wrong with the value of an argument, by what its name says that it is."""
    if name == "dtype":
        yield from _policy(value, at)
        return
    kind = _BY_NAME.get(name) or _BY_SUFFIX.get(name.rpartition("_")[2])
    if kind is not None:
        yield from identifier_obstacles(kind, value, at)
        return
    for below, each in _objects(value, at):
        if name in _INNER:  # an object without a module is found by no one
            yield from layer_obstacles({"module": None, **each}, below)
        else:
            yield from layer_obstacles(each, below)


def identifier_obstacles(kind: str, value: Any, at: At) -> Iterator[Obstacle]:
    """Yield what is wrong with an initializer, an activation, a loss and the like."""
    release = at.target.keras_version
    if isinstance(value, str):
        home = identified(kind, value, release)
        if home is None and value:
            yield _unknown_identifier(kind, value, at)
        elif home is not None and kind in _FUNCTIONS and not _is_public(home, value, at):
            yield _short(kind, value, at)
        elif kind == "activations" and value == _CHANGED:
            yield _hard_sigmoid(at)
        return
    if not isinstance(value, dict) or not isinstance(value.get("class_name"), str):
        return
    leaf, config = value["class_name"], value.get("config")
    if leaf.startswith("__"):
        return
    if leaf == "function":
        if isinstance(config, str) and identified(kind, config, release) is None:
            yield from function_obstacles(value, at)
        elif kind == "activations" and config == _CHANGED:
            yield _hard_sigmoid(at)
        return
    home = identified(kind, leaf, release)
    if home is None:
        if "module" in value and kind == "activations":
            yield from layer_obstacles(value, at)
        else:
            yield _unknown_identifier(kind, leaf, at, value)
        return
    if isinstance(config, dict) and config_arguments(home, release) is not None:
        yield from _object_obstacles(leaf, home, config, at)


@lru_cache(maxsize=256)
def _public_modules(home: str, target: Target) -> frozenset[str]:
    """Return the modules in which something of Keras is public."""
    surface = surface_on("keras", target)
    names = surface.names_of(home) if surface is not None else ()
    return frozenset(each.rpartition(".")[0] for each in names)


def _is_public(home: str, text: str, at: At) -> bool:
    """Say whether a function has this name in its module: Keras 3 looks for it there.

    ``mse`` is none: ``keras.metrics.mse`` is what it looks for.
    """
    if home.rpartition(".")[2][:1].isupper():
        return True
    return any(
        lookup(f"keras.{module}.{text}", at.target).presence is Presence.EXISTS
        for module in _public_modules(home, at.target)
    )


def _short(kind: str, text: str, at: At) -> Obstacle:
    return at.obstacle(
        Fault.VALUE,
        f"`{text}` is a short name in `{kind}`, under which {at.target} does not find the function "
        "in an HDF5 file",
        "`kdoctor model --convert` writes the whole name.",
        Remedy.CONVERT,
        subject=text,
    )


def _unknown_identifier(
    kind: str, leaf: str, at: At, value: Mapping[str, Any] | None = None
) -> Obstacle:
    if was_keras(leaf, kind, at.target):
        return missing_class(leaf, kind, at)
    if value is None:
        return own_function(leaf, leaf, "", at)
    key, module = value.get("registered_name"), value.get("module")
    return own_class(
        leaf,
        key if isinstance(key, str) else leaf,
        module if isinstance(module, str) else "",
        at,
    )


def _policy(value: Any, at: At) -> Iterator[Obstacle]:
    if isinstance(value, dict) and isinstance(value.get("class_name"), str):
        leaf = value["class_name"]
        if identified("dtype_policies", leaf, at.target.keras_version) is None:
            yield at.obstacle(
                Fault.VALUE,
                f"its `dtype` is a `{shown(leaf)}`, which {at.target} does not know",
                "`kdoctor model --convert` writes the name of the policy instead.",
                Remedy.CONVERT,
                subject="dtype",
            )


def _hard_sigmoid(at: At) -> Obstacle:
    found = at.obstacle(
        Fault.VALUE,
        "`hard_sigmoid` is a different function in Keras 3 (KD404): the model computes other "
        "values",
        "Give the layer `lambda x: keras.ops.clip(0.2 * x + 0.5, 0, 1)` after it is loaded.",
        Remedy.CODE,
        subject="hard_sigmoid",
    )
    return replace(found, gravity=Gravity.DIFFERS)
