"""Moved functions that took lists for arrays, and make tensors of them now."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import passed
from kdoctor.analysis.dataflow.alternatives import may_be
from kdoctor.syntax import Module

# Run on both: of lists of floats `normalize` gave a float64 array and gives a float32 tensor, of
# lists of whole numbers it raises now. The parameter that may be a list, and its place.
_ARRAYS: Final = {"keras.utils.np_utils.normalize": "x"}
_DISPLAYS = (cst.List, cst.Tuple, cst.ListComp)
_MAKERS = frozenset({"list", "tuple", "tolist"})


def list_for_an_array(module: Module, name: str, call: cst.Call | None) -> str:
    """Return what happens to a list that a call may pass, "" where it surely passes none.

    None for ``call``: the function is handed on, and gets whatever there is.
    """
    if name not in _ARRAYS:
        return ""
    given = None if call is None else passed(call, _ARRAYS[name], 0)
    if given is not None and not may_be(module, given, _is_list):
        return ""
    return "for a list it returned an array; now it returns a tensor or raises"


def _is_list(_: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        leaf = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        return isinstance(leaf, cst.Name) and leaf.value in _MAKERS
    return isinstance(node, _DISPLAYS)
