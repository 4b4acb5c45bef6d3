"""Sequential models of HDF5 files that Keras 3 leaves without weights: no layer says its input.

Keras before 2.4 wrote no input layer, and a first layer without ``batch_input_shape`` has no shape
then. Keras 3 makes the model, does not build it, and finds more weights in the file than it has:
``Layer count mismatch … expected 0 layers, found 2``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kdoctor.models.at import At
from kdoctor.models.contents import Contents
from kdoctor.models.kinds import FileKind
from kdoctor.models.obstacle import Fault, Obstacle, Remedy


def unbuilt_obstacles(found: Contents, at: At) -> Iterator[Obstacle]:
    """Yield an obstacle where the model of a file is not built as it is loaded."""
    if found.kind is not FileKind.HDF5 or found.model is None:
        return
    count = sum(bool(each.weights) for each in found.weights or ())
    if not count or _has_input(found.model):
        return
    yield at.named(found.model).obstacle(
        Fault.STRUCTURE,
        f"no layer says what its input is, so that {at.target} does not build the model: it has 0 "
        f"layers with weights, and the file {count}",
        "Make the model of its configuration, `model = keras.Sequential.from_config(config)`, "
        "then `model.build(…)` with the shape of the input, `None` for the batch, and "
        "`model.load_weights(…)` with this file.",
        Remedy.CODE,
    )


def _has_input(model: Any) -> bool:
    """Say whether a model, or the first layer of one, says what its input is."""
    for _ in range(100):  # models in one another
        config = model.get("config") if isinstance(model, dict) else None
        if not isinstance(config, dict) or model.get("class_name") != "Sequential":
            return _says_input(model)
        layers = config.get("layers")
        if config.get("build_input_shape") or not isinstance(layers, list) or not layers:
            return True
        model = layers[0]
    return True


def _says_input(layer: Any) -> bool:
    """Say whether a layer says what its input is; of what is no layer of Keras it may."""
    config = layer.get("config") if isinstance(layer, dict) else None
    if (
        not isinstance(config, dict)
        or "layers" in config
        or layer.get("class_name") == "InputLayer"
    ):
        return True
    return any(config.get(key) is not None for key in ("batch_input_shape", "input_shape"))
