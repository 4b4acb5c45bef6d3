"""Tell files of protobuf apart, which has no mark at the start: by the numbers of its fields."""

from __future__ import annotations

import enum
from typing import BinaryIO, Final

from kdoctor.models.wire import Message

# From onnx.proto (ModelProto), saved_model.proto (SavedModel), graph.proto (GraphDef) and
# node_def.proto (NodeDef); a test holds them to the classes of the installed packages.
ONNX_FIELDS: Final = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})
ONNX: Final = {
    "ir_version": 1,
    "producer_name": 2,
    "producer_version": 3,
    "graph": 7,
    "opset_import": 8,
}
SAVED_MODEL: Final = {"saved_model_schema_version": 1, "meta_graphs": 2}
GRAPH: Final = {"node": 1}
NODE: Final = {"name": 1, "op": 2}
_MAX_NAME: Final = 1000  # bytes
_MAX_LOOKED_AT: Final = 1000  # fields


class ProtobufKind(enum.Enum):
    """Which message a file is."""

    SAVED_MODEL = enum.auto()
    GRAPH = enum.auto()
    ONNX = enum.auto()


def kind_of_protobuf(file: BinaryIO) -> ProtobufKind | None:
    """Return which message a file is, None where it is none of these."""
    try:
        return _kind(Message.of(file))
    except ValueError:
        return None


def _kind(whole: Message) -> ProtobufKind | None:
    seen = dict[int, int | Message]()
    for looked_at, (number, value) in enumerate(whole.fields()):
        if looked_at == 0 and number == GRAPH["node"] and isinstance(value, Message):
            return ProtobufKind.GRAPH if _is_node(value) else None
        seen.setdefault(number, value)
        if looked_at > _MAX_LOOKED_AT or not seen.keys() <= ONNX_FIELDS:
            return None
    first = seen.get(ONNX["ir_version"])
    if not isinstance(first, int):
        return None
    graph = seen.get(ONNX["graph"])
    if isinstance(graph, Message) and ONNX["opset_import"] in seen:
        return ProtobufKind.ONNX
    is_saved_model = seen.keys() == {1, 2} and isinstance(seen[2], Message)
    return ProtobufKind.SAVED_MODEL if is_saved_model else None


def _is_node(message: Message) -> bool:
    """Say whether a message is a node of a graph: it has a name and an operation."""
    found = dict[int, str]()
    for number, value in message.fields():
        if number in NODE.values() and isinstance(value, Message):
            if value.end - value.start > _MAX_NAME:
                return False
            found.setdefault(number, value.decoded())
    return set(found) == set(NODE.values()) and all(each.isprintable() for each in found.values())
