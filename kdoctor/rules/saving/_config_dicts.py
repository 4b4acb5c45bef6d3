"""Dicts that tell the class and the config of a layer, as Keras 2 wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import libcst as cst

CLASS: Final = "class_name"
CONFIG: Final = "config"
MODULE: Final = "module"


def parts_of_dict(given: cst.BaseExpression) -> Mapping[str, cst.BaseExpression]:
    """Return the values of a dict by its keys, none where one is not written out."""
    found: dict[str, cst.BaseExpression] = {}
    for each in given.elements if isinstance(given, cst.Dict) else ():
        if not isinstance(each, cst.DictElement) or not isinstance(each.key, cst.SimpleString):
            return {}
        found[each.key.raw_value] = each.value
    return found


def class_named(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the class of which this is the name: ``x.__class__.__name__``."""
    match node:
        case cst.Attribute(
            value=cst.Attribute(attr=cst.Name(value="__class__"))
            | cst.Call(func=cst.Name(value="type"), args=[cst.Arg()]) as made,
            attr=cst.Name(value="__name__"),
        ):
            return made
    return None
