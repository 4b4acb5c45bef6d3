"""Layers that Keras 3 does not have, made of those that it has: a model stands for each.

A model takes the place of any layer: in a graph, in a Sequential, in a wrapper. That it computes
what the layer computed, ``tests/models/convert/test_replacements.py`` runs on both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from kdoctor.models.at import shown
from kdoctor.models.convert.graph import written_tensor
from kdoctor.models.convert.record import Record
from kdoctor.models.convert.variables import VARIABLES
from kdoctor.models.hdf5 import Steps
from kdoctor.models.obstacle import Fault

LOCAL: Final = frozenset({"LocallyConnected1D", "LocallyConnected2D"})
# Layers that do something in training only, and what they have for it.
IN_TRAINING: Final = frozenset({"RandomHeight", "RandomWidth"})
CONSTRAINTS_IN_TRAINING: Final = frozenset({"RadialConstraint"})
# Those that put their activation behind what they computed: as a layer behind them would.
_ACTIVATED: Final = frozenset({
    *("Activation", "Dense", "EinsumDense"),
    *("Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"),
    *("DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"),
})  # fmt: skip
_EINSUM: Final = (
    *("activation", "kernel_initializer", "bias_initializer", "kernel_regularizer"),
    *("bias_regularizer", "activity_regularizer", "kernel_constraint"),
)
_SHARED: Final = ("trainable", "dtype")
Object = dict[str, Any]


def layer(name: str, config: Mapping[str, Any]) -> Object:
    """Return a layer of Keras 3."""
    return {
        "module": "keras.layers",
        "class_name": name,
        "config": dict(config),
        "registered_name": None,
    }


def sequential(name: str, layers: Sequence[Object], config: Mapping[str, Any]) -> Object:
    """Return layers behind one another as one, called ``name``."""
    made: dict[str, Any] = {"name": name, "layers": [*layers]}
    if config.get("trainable") is False:
        made["trainable"] = False
    return {"module": "keras", "class_name": "Sequential", "config": made, "registered_name": None}


def cropped(config: Mapping[str, Any]) -> Object:
    """Return what crops at random in training, and to the middle otherwise.

    Outside of training ``RandomCrop`` of Keras 3 returns images as they are. In training its images
    have their size, and ``Resizing`` leaves them.
    """
    name = str(config.get("name"))
    sizes = {key: config[key] for key in ("height", "width")}
    dtype = {key: config[key] for key in ("dtype",) if key in config}
    resizing = {"name": f"{name}_resize", **sizes, "crop_to_aspect_ratio": True, **dtype}
    crop = layer("RandomCrop", {**config, "name": f"{name}_crop"})
    return sequential(name, [crop, layer("Resizing", resizing)], config)


def with_activation(made: Object) -> Object | None:
    """Return a layer whose activation has weights as two layers; None where it has none.

    Keras 3 makes no weights for an activation that it loads.
    """
    config = made["config"]
    activation = config.get("activation")
    if made["class_name"] not in _ACTIVATED or not isinstance(activation, dict):
        return None
    if not VARIABLES.get(str(activation.get("class_name"))):
        return None
    name = str(config["name"])
    behind = {**activation, "config": {**activation["config"]}}
    if behind["config"].get("name") in {None, name}:
        behind["config"]["name"] = f"{name}_activation"
    if config.get("activity_regularizer") is not None:  # it looks at what comes out in the end
        behind["config"]["activity_regularizer"] = config["activity_regularizer"]
    before = {**config, "activation": "linear", "activity_regularizer": None}
    before["name"] = f"{name}_{made['class_name'].lower()}"
    return sequential(name, [{**made, "config": before}, behind], config)


def local(leaf: str, config: Mapping[str, Any], place: str, record: Record) -> Object | None:
    """Return a locally connected layer as one that picks its inputs, and a dense one of each place.

    None, with the reason in ``record``, of one that lays its weights out in another way. What only
    the weights tell (how many places there are) is filled in by ``layout_of``.
    """
    if config.get("implementation", 1) != 1:
        cause = f"`implementation={shown(config['implementation'])}` of `{leaf}`"
        record.refuse(place, f"{cause} is not converted, only 1 is", Fault.CLASS, leaf)
    elif config.get("data_format") == "channels_first":
        record.refuse(place, f"`{leaf}` of `channels_first` is not converted", Fault.CLASS, leaf)
    elif config.get("bias_constraint") is not None:
        cause = f"`{leaf}` with a `bias_constraint` is not converted"
        record.refuse(place, cause, Fault.CLASS, leaf)
    elif not record.has_weights:
        cause = f"how many places `{leaf}` has, only its weights say, and they are not here"
        record.refuse(place, cause, Fault.CLASS, leaf)
    else:
        return _local(leaf, config)
    return None


def _local(leaf: str, config: Mapping[str, Any]) -> Object:
    name = str(config["name"])
    shared = {key: config[key] for key in _SHARED if key in config}
    dense = {key: config[key] for key in _EINSUM if config.get(key) is not None}
    dense |= {"equation": "abc,bcd->abd", "output_shape": None, **shared}
    if config.get("use_bias", True):
        dense["bias_axes"] = "bd"
    is_flat = leaf == "LocallyConnected1D"
    graph = _Chain(name, [None, None, None] if is_flat else [None, None, None, None])
    if is_flat:
        graph.take(1)
        graph.layer("Reshape", {"target_shape": None})
    else:
        graph.take(1)
        graph.take(2)
        graph.layer("Reshape", {"target_shape": None})
        graph.layer("Permute", {"dims": [1, 3, 2, 4, 5]})
        graph.layer("Reshape", {"target_shape": None})
    graph.layer("EinsumDense", dense)
    if not is_flat:
        graph.layer("Reshape", {"target_shape": None})
    return graph.model(shared)


class _Chain:
    """A functional model of one input whose layers follow one another."""

    def __init__(self, name: str, shape: list[int | None]) -> None:
        self._name = name
        first = layer("InputLayer", {"batch_shape": shape, "dtype": "float32"})
        self._layers: list[Object] = []
        self._add(first, [])

    def layer(self, name: str, config: Mapping[str, Any]) -> None:
        """Put a layer behind the last one."""
        self._add(layer(name, config), [[self._last()]])

    def take(self, axis: int) -> None:
        """Put `keras.ops.take` behind the last one."""
        made = {**layer("Take", {"axis": axis}), "module": "keras.src.ops.numpy"}
        self._add({**made, "registered_name": "Take"}, [[self._last(), None]])

    def model(self, shared: Mapping[str, Any]) -> Object:
        """Return the model."""
        ends = [[each["name"], 0, 0] for each in (self._layers[0], self._layers[-1])]
        return {
            "module": "keras.src.models.functional",
            "class_name": "Functional",
            "config": {
                "name": self._name,
                "trainable": shared.get("trainable", True),
                "layers": self._layers,
                "input_layers": ends[0],
                "output_layers": ends[1],
            },
            "registered_name": "Functional",
        }

    def _last(self) -> Object:
        return written_tensor((self._layers[-1]["name"], 0, 0))

    def _add(self, made: Object, calls: list[list[Any]]) -> None:
        name = f"{self._name}_{len(self._layers)}"
        nodes = [{"args": args, "kwargs": {}} for args in calls]
        config = {"name": name, **made["config"]}
        self._layers.append({**made, "config": config, "name": name, "inbound_nodes": nodes})


def below_old(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Return where the weights of a part lie below the layer that it stands for; None: nowhere."""
    if new["class_name"] == "EinsumDense" and old["class_name"] in LOCAL:
        return ""
    if new["class_name"] == old["class_name"]:
        return ""
    return "activation" if VARIABLES.get(new["class_name"]) else None


def layout_of(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> Callable[[Sequence[tuple[int, ...]]], Sequence[Steps]] | None:
    """Return what lays the weights of a layer out as the model that stands for it has them.

    From the shapes of the weights, it also fills in how many places such a layer has.

    Raises:
        ValueError: they do not say it.
    """
    if old["class_name"] not in LOCAL:
        return None
    return lambda shapes: _filled(old, new["config"]["layers"], shapes)


def is_open(value: Any) -> bool:
    """Say whether there is a layer in a configuration whose weights have not been looked at."""
    if isinstance(value, dict):
        if value.get("class_name") == "Take":
            return value["inbound_nodes"][0]["args"][1] is None
        value = list(value.values())
    return isinstance(value, list) and any(map(is_open, value))


def _filled(
    old: Mapping[str, Any], layers: Sequence[Object], shapes: Sequence[tuple[int, ...]]
) -> Sequence[Steps]:
    config = old["config"]
    sizes, strides = _listed(config["kernel_size"]), _listed(config["strides"])
    places, depth, filters = shapes[0]
    channels, rest = divmod(depth, math.prod(sizes))
    if rest:
        raise ValueError(f"its kernel of shape {list(shapes[0])} is not one of {sizes}")
    counts = [places]
    if len(sizes) == 2:
        counts = _rows_and_columns(old, shapes)
    if math.prod(counts) != places:
        raise ValueError("its kernel and its bias are of other numbers of places")
    layers[0]["config"]["batch_shape"][-1] = channels
    takes = [each for each in layers if each["class_name"] == "Take"]
    for take, count, size, stride in zip(takes, counts, sizes, strides, strict=True):
        indices = [place * stride + number for place in range(count) for number in range(size)]
        take["inbound_nodes"][0]["args"][1] = indices
    dense = next(each for each in layers if each["class_name"] == "EinsumDense")
    dense["config"]["output_shape"] = [places, filters]
    targets = [each["config"] for each in layers if each["class_name"] == "Reshape"]
    if len(sizes) == 2:
        rows, columns = counts
        targets[0]["target_shape"] = [rows, sizes[0], columns, sizes[1], channels]
        targets[2]["target_shape"] = [rows, columns, filters]
    targets[len(sizes) - 1]["target_shape"] = [places, depth]
    return ((), (("reshape", [places, filters]),))[: len(shapes)]


def _rows_and_columns(old: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> list[int]:
    if len(shapes) > 1:
        return list(shapes[1][:2])
    built = (old.get("build_config") or {}).get("input_shape")
    if built is None:
        raise ValueError("it has no bias, and the file does not say how many rows it has")
    sizes, strides = _listed(old["config"]["kernel_size"]), _listed(old["config"]["strides"])
    return [
        (length - size) // stride + 1
        for length, size, stride in zip(built[1:3], sizes, strides, strict=True)
    ]


def _listed(value: Any) -> list[int]:
    return [int(each) for each in value] if isinstance(value, list) else [int(value)]
