"""Say whether an argument of a NumPy function may be an eager tensor."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.alternatives import may_be, must_be
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.syntax import Module, ReferenceKind
from kdoctor.value_types import Kind

_TENSORS = frozenset({Kind.TENSOR, Kind.EAGER, Kind.VARIABLE})
_ARRAY_LIBRARIES = ("numpy", "pandas", "sklearn")
_DISPLAYS = (cst.List, cst.Tuple, cst.ListComp, cst.BaseNumber)


def may_be_eager_tensor(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an argument may be a tensor, of a file that computes some if it is not known.

    A file that only builds and trains models of Keras has arrays, unless something tells of a
    tensor.
    """
    if ranks_of(module).of(node) is not None or must_be(module, node, _is_array):
        return False
    return _computes_tensors(module) or may_be(module, node, _is_tensor)


def _is_array(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        name = module.qualified(node.func) or ""
        return name.partition(".")[0] in _ARRAY_LIBRARIES
    return isinstance(node, _DISPLAYS)


def _is_tensor(module: Module, node: cst.BaseExpression) -> bool:
    kind = module.type_of(node)
    if kind is not None:
        return kind.kind in _TENSORS
    name = module.qualified(node.func) if isinstance(node, cst.Call) else None
    split = None if name is None else split_root(name)
    return split is not None and split[1].startswith(("backend.", "ops."))


@once
def _computes_tensors(module: Module) -> bool:
    """Say whether a file uses TensorFlow for more than its Keras."""
    return any(
        each.kind is not ReferenceKind.IMPORT
        and each.name.startswith("tensorflow.")
        and split_root(each.name) is None
        for each in module.references
    )
