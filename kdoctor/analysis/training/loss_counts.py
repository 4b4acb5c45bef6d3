"""Count the losses or weights in an argument of `compile`."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.escapes import unmutated_value_of
from kdoctor.analysis.models.user_classes import decorated_by
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind


def count_losses(module: Module, loss: cst.BaseExpression) -> int | None:
    """Return how many losses an argument surely holds, None if not sure."""
    value = unmutated_value_of(module, loss)
    match value:
        case None:
            return None
        case cst.List() | cst.Tuple() | cst.Dict():
            return count_elements(value)
        case cst.SimpleString() | cst.Lambda():
            return 1
        case cst.Name():
            bound = module.bindings_at(value)
            if [each.kind for each in bound] == [BindingKind.FUNCTION]:
                return 1 if is_as_written(module, bound[0].node) else None
    found = module.type_of(value)
    if found is not None and found.kind is Kind.LOSS:
        return 1
    name = module.qualified(value) if isinstance(value, cst.Name | cst.Attribute) else None
    return 1 if name is not None and ".losses." in name and "keras" in name else None


def is_as_written(module: Module, function: cst.CSTNode) -> bool:
    """Say whether no decorator makes something else of a function; those of the packages do not."""
    return all(
        each.startswith(("keras.", "tensorflow.")) for each in decorated_by(module, function)
    )


def count_elements(display: cst.List | cst.Tuple | cst.Dict) -> int | None:
    """Return how many elements there are; None where one is None, or holds several."""
    for each in display.elements:
        if isinstance(each, cst.StarredElement | cst.StarredDictElement):
            return None
        if isinstance(each.value, cst.List | cst.Tuple | cst.Dict):
            return None
        if isinstance(each.value, cst.Name) and each.value.value == "None":
            return None
    return len(display.elements)
