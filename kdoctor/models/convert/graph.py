"""The graph of a functional model: its nodes as Keras 3 writes them, and the order of its layers.

A node says which tensors a layer was called on. Keras 2 writes the first argument as
``[layer, node, tensor, {other arguments}]``, Keras 3 all of them as ``{"args": …, "kwargs": …}``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

CONSTANT: Final = "_CONSTANT_VALUE"
_TENSOR: Final = "__keras_tensor__"
# `[layer, node, tensor]`, with other arguments behind it in a node.
_SIZES: Final = (3, 4)

Tensor = tuple[str, int, int]  # layer, index of the node, index of the tensor
NodeKey = tuple[str, int]


def is_tensor(value: object, names: Mapping[str, Any]) -> bool:
    """Say whether a value of a configuration of Keras 2 stands for a tensor or a constant."""
    return (
        isinstance(value, list)
        and len(value) in _SIZES
        and isinstance(value[0], str)
        and (value[0] in names or value[0] == CONSTANT)
        and isinstance(value[1], int)
    )


def written_tensor(tensor: Tensor) -> dict[str, Any]:
    """Return a tensor as Keras 3 writes it; the layers that it comes from say its real shape."""
    return {
        "class_name": _TENSOR,
        "config": {"shape": [None], "dtype": "float32", "keras_history": list(tensor)},
    }


def is_whole_input(layer: Mapping[str, Any]) -> bool:
    """Say whether a layer is an input of whole numbers, or of what is no number."""
    config = layer.get("config")
    dtype = config.get("dtype") if isinstance(config, dict) else None
    return layer["class_name"] == "InputLayer" and "float" not in str(dtype or "float32")


def chained(name: str, layers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the configuration of a functional model whose layers follow one another.

    Those that have nodes already keep them.
    """
    made: list[dict[str, Any]] = []
    for each in layers:
        nodes = each.get("inbound_nodes")
        if nodes is None:
            calls = [[written_tensor((made[-1]["name"], 0, 0))]] if made else []
            nodes = [{"args": args, "kwargs": {}} for args in calls]
        made.append({**each, "name": each["config"]["name"], "inbound_nodes": nodes})
    last = made[-1]
    number = int(last["class_name"] == "Functional")  # Keras 3 counts its own call
    ends = {"input_layers": [made[0]["name"], 0, 0], "output_layers": [last["name"], number, 0]}
    return {"name": name, "trainable": True, "layers": made, **ends}


def tensors_in(value: object) -> Iterator[Tensor]:
    """Yield the tensors of a node of Keras 3, in the order in which Keras flattens them."""
    if isinstance(value, list):
        for each in value:
            yield from tensors_in(each)
    elif isinstance(value, dict):
        if value.get("class_name") == _TENSOR:
            layer, node, tensor = value["config"]["keras_history"]
            yield layer, node, tensor
        else:
            for _, each in sorted(value.items()):
                yield from tensors_in(each)


def outputs_of(config: Mapping[str, Any], names: Mapping[str, Any]) -> Iterator[Tensor]:
    """Yield the tensors that a functional model returns."""
    yield from _flat(config["output_layers"], names)


def _flat(value: object, names: Mapping[str, Any]) -> Iterator[Tensor]:
    if is_tensor(value, names):
        assert isinstance(value, list)
        yield value[0], value[1], value[2]
    elif isinstance(value, list):
        for each in value:
            yield from _flat(each, names)
    elif isinstance(value, dict):
        for _, each in sorted(value.items()):
            yield from _flat(each, names)


def order_of_layers(config: Mapping[str, Any], models: Sequence[str]) -> list[str]:
    """Return the names of the layers of a functional model of Keras 3, as ``model.layers`` has it.

    As ``keras.src.ops.function.map_graph`` does it: the deepest first, and in one depth as they
    were met on the way from the outputs. ``models`` are the layers that are functional models: a
    node of such a one counts from 1 in ``output_layers``.
    """
    parents: dict[NodeKey, list[NodeKey]] = {}
    for layer in config["layers"]:
        name = layer["name"]
        nodes = layer["inbound_nodes"] or [None]
        for index, node in enumerate(nodes):
            found = () if node is None else tensors_in([node["args"], node["kwargs"]])
            parents[name, index] = [(parent, number) for parent, number, _ in found]
    names = {each["name"]: each for each in config["layers"]}
    starts = [
        (name, index - 1 if name in models else index)
        for name, index, _ in outputs_of(config, names)
    ]
    nodes_by_depth, first_met = _sorted_nodes(starts, parents)
    depths = _depths(nodes_by_depth, parents)
    inputs = [name for name, _, _ in _flat(config["input_layers"], names)]
    unused = [name for name in dict.fromkeys(inputs) if name not in depths]
    by_depth: dict[int, list[str]] = defaultdict(list)
    for name, depth in [*depths.items(), *((name, 0) for name in unused)]:
        by_depth[depth].append(name)
    return [
        name
        for depth in sorted(by_depth, reverse=True)
        for name in sorted(by_depth[depth], key=lambda each: first_met.get(each, -1))
    ]


def _sorted_nodes(
    starts: Sequence[NodeKey], parents: Mapping[NodeKey, Sequence[NodeKey]]
) -> tuple[list[NodeKey], dict[str, int]]:
    """Return the nodes from inputs to outputs, and when each layer was first met."""
    finished: dict[NodeKey, None] = {}
    met: set[NodeKey] = set()
    first_met: dict[str, int] = {}
    for start in starts:
        waiting = [(start, False)]
        while waiting:
            node, is_left = waiting.pop()
            if is_left:
                finished[node] = None
                continue
            if node in met:
                continue
            met.add(node)
            first_met.setdefault(node[0], len(first_met))
            waiting.append((node, True))
            waiting += [(each, False) for each in reversed(parents.get(node, ()))]
    return list(finished), first_met


def _depths(
    nodes: Sequence[NodeKey], parents: Mapping[NodeKey, Sequence[NodeKey]]
) -> dict[str, int]:
    """Return how far each layer is from the outputs, at most."""
    of_nodes: dict[NodeKey, int] = {}
    of_layers: dict[str, int] = {}
    for node in reversed(nodes):
        depth = max(of_nodes.get(node, 0), of_layers.get(node[0], 0))
        of_layers[node[0]] = of_nodes[node] = depth
        for parent in parents.get(node, ()):
            of_nodes[parent] = max(depth + 1, of_nodes.get(parent, 0))
    return of_layers
