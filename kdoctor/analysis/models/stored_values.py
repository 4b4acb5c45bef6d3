"""What the methods of a layer store on `self`, as what computes with shapes wants to know it."""

from __future__ import annotations

from collections.abc import Callable, Collection

import libcst as cst

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.tensors.shape_values import Tensor, Value
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.libcst_walk import descendants


def attributes_of(
    module: Module, methods: Collection[cst.FunctionDef]
) -> Callable[[str], Value | cst.Call | None]:
    """Return what tells of an attribute which weight it is, or which call created it.

    Nothing is told of what they store twice, nor of what others than classes store on themselves.
    """

    def of(name: str) -> Value | cst.Call | None:
        stores = [each for each in module.stores if each.node.attr.value == name]
        own = [
            each for each in stores if any(each.node in descendants(one.body) for one in methods)
        ]
        others = (each.node.value for each in stores if each not in own)
        if len(own) != 1 or not all(isinstance(e, cst.Name) and e.value == "self" for e in others):
            return None
        value = own[0].value
        if own[0].path or not isinstance(value, cst.Call):
            return None
        return _created(module, value)

    return of


def _created(module: Module, call: cst.Call) -> Value | cst.Call:
    match call.func:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value="add_weight")):
            sizes = elements_of(value_of(module, passed(call, "shape", 0)))
            return call if sizes is None else Tensor((None,) * len(sizes))
    return call
