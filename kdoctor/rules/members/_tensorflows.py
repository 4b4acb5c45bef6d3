"""Which names stand for TensorFlow's own tensors, by what is done with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.syntax import Module

OF_RAGGED_TENSORS: Final = frozenset(
    {"bounding_shape", "merge_dims", "nested_row_lengths", "row_lengths", "to_sparse", "to_tensor"}
)


def seems_tensorflows(module: Module, name: cst.Name) -> bool:
    """Say whether a name of this scope is used as no Keras tensor can be."""
    scope = module.scope_of(name)
    return any(
        each.value == name.value and module.scope_of(each) is scope
        for call in module.nodes(cst.Call)
        for each in _used_as_tensorflows(module, call)
    )


def _used_as_tensorflows(module: Module, call: cst.Call) -> Iterator[cst.Name]:
    """Yield the names that stand for TensorFlow's own tensors, if the call works.

    Its functions give those and take no Keras tensor; some methods only its ragged tensors have.
    """
    function = call.func
    if isinstance(function, cst.Attribute) and function.attr.value in OF_RAGGED_TENSORS:
        if isinstance(function.value, cst.Name):
            yield function.value
        return
    dotted = module.qualified(function) or ""
    if not dotted.startswith("tensorflow.") or split_root(dotted) is not None:
        return
    assign = module.parent(call)
    targets = [each.target for each in assign.targets] if isinstance(assign, cst.Assign) else []
    for each in (*targets, *(argument.value for argument in call.args)):
        if isinstance(each, cst.Name):
            yield each
