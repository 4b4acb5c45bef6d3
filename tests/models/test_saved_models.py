"""The numbers by which protobuf is read are those of the installed TensorFlow and ONNX."""

import io

import pytest

from kdoctor.models import protobuf_kinds, saved_models
from kdoctor.models.wire import Message


def numbers(message):
    return {each.name: each.number for each in message.DESCRIPTOR.fields}


@pytest.mark.frameworks
def test_the_numbers_of_fields_are_those_of_tensorflow():
    from tensorflow.core.framework import (  # noqa: PLC0415
        graph_pb2,
        node_def_pb2,
        tensor_shape_pb2,
        types_pb2,
    )
    from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2  # noqa: PLC0415
    from tf_keras.protobuf import saved_metadata_pb2  # noqa: PLC0415

    shape = tensor_shape_pb2.TensorShapeProto
    meta = meta_graph_pb2.MetaGraphDef
    for used, message in [
        (saved_models.SAVED_MODEL, saved_model_pb2.SavedModel),
        (protobuf_kinds.SAVED_MODEL, saved_model_pb2.SavedModel),
        (saved_models.META_GRAPH, meta),
        (saved_models.META_INFO, meta.MetaInfoDef),
        (saved_models.SIGNATURE, meta_graph_pb2.SignatureDef),
        (saved_models.TENSOR, meta_graph_pb2.TensorInfo),
        (saved_models.SHAPE, shape),
        (saved_models.DIM, shape.Dim),
        (saved_models.GRAPH, graph_pb2.GraphDef),
        (protobuf_kinds.GRAPH, graph_pb2.GraphDef),
        (saved_models.GRAPH_NODE, node_def_pb2.NodeDef),
        (protobuf_kinds.NODE, node_def_pb2.NodeDef),
        (saved_models.METADATA, saved_metadata_pb2.SavedMetadata),
        (saved_models.NODE, saved_metadata_pb2.SavedObject),
    ]:
        assert used.items() <= numbers(message).items()
    names = {number: types_pb2.DataType.Name(number) for number in saved_models.DTYPES}
    spelled = {"float": "float32", "double": "float64", "half": "float16"}
    for number, name in saved_models.DTYPES.items():
        said = names[number].removeprefix("DT_").lower()
        assert spelled.get(said, said) == name


def varint(number):
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def test_what_is_not_needed_is_passed_over_without_being_read():
    class Noting(io.BytesIO):
        size = 0

        def read(self, size=-1):
            self.size += size
            return super().read(size)

    large = b"\x12" + varint(5_000_000) + bytes(5_000_000)
    file = Noting(large + b"\x0a\x03abc")
    assert Message.of(file).text(1) == "abc"
    assert file.size < 1000


@pytest.mark.parametrize("data", [b"\x0a\xff\x01", b"\x00", b"\x0f\x01", b"\xff" * 20, b"\x0a"])
def test_what_is_no_message_is_an_error(data):
    with pytest.raises(ValueError, match="no message of protobuf"):
        list(Message.of(io.BytesIO(data)).fields())
