"""The classes that a protocol buffer's module builds when it is imported."""

from __future__ import annotations

import ast

from google.protobuf.descriptor_pb2 import FileDescriptorProto


def messages(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Return a class for each message of a ``_pb2`` module, by the file that it registers."""
    found: dict[str, ast.ClassDef] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="AddSerializedFile"), args=[ast.Constant(value=bytes(data))]
            ):
                for message in FileDescriptorProto.FromString(data).message_type:
                    found[message.name] = _message(message.name)
            case _:
                pass
    return found


def _message(name: str) -> ast.ClassDef:
    """``class VersionDef(google.protobuf.message.Message)``, whose metaclass makes the rest."""
    definition = ast.parse(
        f"class {name}(google.protobuf.message.Message, metaclass=MessageMeta): pass"
    ).body[0]
    assert isinstance(definition, ast.ClassDef)
    return definition
