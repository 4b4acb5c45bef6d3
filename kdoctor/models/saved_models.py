"""Read what a TensorFlow SavedModel says of itself, of its files in protobuf.

The numbers of the fields are those of ``saved_model.proto``, ``meta_graph.proto``,
``tensor_shape.proto`` and ``types.proto`` of TensorFlow, and ``saved_metadata.proto`` of Keras 2; a
test holds them to the classes of the installed TensorFlow.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from kdoctor.models.bounds import parsed
from kdoctor.models.contents import Contents, Signature, Weight, Writer
from kdoctor.models.kinds import FileKind
from kdoctor.models.wire import Message

SAVED_MODEL: Final = {"meta_graphs": 2}
META_GRAPH: Final = {"meta_info_def": 1, "signature_def": 5}
META_INFO: Final = {"tensorflow_version": 5}
SIGNATURE: Final = {"inputs": 1, "outputs": 2}
TENSOR: Final = {"dtype": 2, "tensor_shape": 3}
SHAPE: Final = {"dim": 2, "unknown_rank": 3}
DIM: Final = {"size": 1}
METADATA: Final = {"nodes": 1}
NODE: Final = {"node_path": 3, "metadata": 5}
DTYPES: Final = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string",
    8: "complex64", 9: "int64", 10: "bool", 14: "bfloat16", 17: "uint16", 18: "complex128",
    19: "float16", 22: "uint32", 23: "uint64",
}  # fmt: skip
GRAPH: Final = {"node": 1}
GRAPH_NODE: Final = {"name": 1, "op": 2, "input": 3}
_MAX_NODES: Final = 20_000  # of a graph that is looked at
_INITIALIZER: Final = "__saved_model_init_op"  # no signature that one calls
_SIGN: Final = 1 << 63


def of_saved_model(folder: Path, kind: FileKind) -> Contents:
    """Return what the files of a SavedModel say.

    Raises:
        ValueError: they are no messages.
        OSError: they cannot be read.
    """
    tensorflow, signatures = "", tuple[Signature, ...]()
    with (folder / "saved_model.pb").open("rb") as file:
        graph = Message.of(file).first(SAVED_MODEL["meta_graphs"])
        if graph is None:
            raise ValueError("saved_model.pb holds no graph")
        info = graph.first(META_GRAPH["meta_info_def"])
        if info is not None:
            tensorflow = info.text(META_INFO["tensorflow_version"])
        signatures = tuple(
            Signature(
                name,
                tuple(_tensors(each, SIGNATURE["inputs"])),
                tuple(_tensors(each, SIGNATURE["outputs"])),
            )
            for name, each in graph.mapping(META_GRAPH["signature_def"])
            if name != _INITIALIZER
        )
    model, training = _of_keras(folder) if kind is FileKind.KERAS_SAVED_MODEL else (None, None)
    return Contents(
        folder,
        kind,
        Writer(tensorflow=tensorflow),
        model=model,
        training=training,
        signatures=signatures,
    )


def of_graph(path: Path) -> Contents:
    """Return what a frozen graph takes and gives: its placeholders, and what no node takes.

    Raises:
        ValueError: it is no message.
        OSError: it cannot be read.
    """
    inputs, nodes, taken = list[Weight](), list[str](), set[str]()
    with path.open("rb") as file:
        for node in islice(Message.of(file).all(GRAPH["node"]), _MAX_NODES + 1):
            name, operation = node.text(GRAPH_NODE["name"]), node.text(GRAPH_NODE["op"])
            nodes.append(name)
            taken |= {_node_of(each.decoded()) for each in node.all(GRAPH_NODE["input"])}
            if operation == "Placeholder":
                inputs.append(Weight(name, None, ""))
    if len(nodes) > _MAX_NODES:
        return Contents(path, FileKind.FROZEN_GRAPH)
    outputs = tuple(Weight(name, None, "") for name in nodes if name not in taken)
    return Contents(
        path, FileKind.FROZEN_GRAPH, signatures=(Signature("graph", tuple(inputs), outputs),)
    )


def _node_of(tensor: str) -> str:
    """Return the name of the node that an input comes from: ``^a``, ``a:1`` and ``a`` are of a."""
    return tensor.removeprefix("^").partition(":")[0]


def _tensors(signature: Message, field: int) -> list[Weight]:
    return [
        Weight(name, _shape(tensor), DTYPES.get(tensor.number(TENSOR["dtype"]), ""))
        for name, tensor in signature.mapping(field)
    ]


def _shape(tensor: Message) -> tuple[int, ...] | None:
    shape = tensor.first(TENSOR["tensor_shape"])
    if shape is None or shape.number(SHAPE["unknown_rank"]):
        return None
    sizes = (each.number(DIM["size"]) for each in shape.all(SHAPE["dim"]))
    return tuple(-1 if size & _SIGN else size for size in sizes)


def _of_keras(folder: Path) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the configurations of the model that Keras 2 wrote, None where it has none."""
    with (folder / "keras_metadata.pb").open("rb") as file:
        for node in Message.of(file).all(METADATA["nodes"]):
            if node.text(NODE["node_path"]) == "root":
                told = parsed(node.text(NODE["metadata"])) or {}
                return _model(told), _dictionary(told.get("training_config"))
    return None, None


def _model(told: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the configuration of a model; that of a subclass holds nothing that makes it."""
    config = _dictionary(told.get("config"))
    if config is None or not isinstance(told.get("class_name"), str) or "layers" not in config:
        return None
    return {"class_name": told["class_name"], "config": config}


def _dictionary(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
