"""Operations that Keras 2 recorded as layers: which function, at which place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kdoctor.models.at import At, shown
from kdoctor.models.obstacle import Fault, Obstacle, Remedy
from kdoctor.models.operations import ops_layer_of


def operation_obstacle(value: Mapping[str, Any], leaf: str, at: At) -> Obstacle:
    """Return the obstacle of a layer that calls a function of TensorFlow."""
    function = recorded_function(value)
    other = ops_layer_of(function)
    if other is not None:
        return at.renamed(
            Fault.OPERATION,
            f"{at.target} has no `{leaf}`: this layer calls `{shown(function)}`",
            function,
            other,
        )
    what = f"calls `{shown(function)}`" if function else "is an operation of TensorFlow"
    return at.obstacle(
        Fault.OPERATION,
        f"{at.target} has no `{leaf}`: this layer {what}",
        "Build the model in code, with a function of `keras.ops` at this place, and load the "
        "weights of the other layers by name.",
        Remedy.CODE,
        subject=function,
    )


def recorded_function(value: Mapping[str, Any]) -> str:
    """Return the name of the function that such a layer calls; "" where the file says none."""
    config = value.get("config")
    if not isinstance(config, dict):
        return ""
    for key in ("function", "attr_name", "method_name"):
        if isinstance(config.get(key), str):
            return str(config[key])
    node = config.get("node_def")  # of TensorFlowOpLayer: the protobuf's text, or JSON
    if isinstance(node, dict):
        return str(node.get("op", ""))
    for line in node.splitlines() if isinstance(node, str) else ():
        if line.strip().startswith(("op:", '"op":')):
            return line.partition(":")[2].strip(' ",')
    return ""
