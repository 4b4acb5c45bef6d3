"""The names of a functional model's outputs, where they are literal."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.calls import passed, value_of
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal


def names_of_outputs(module: Module, outputs: cst.BaseExpression | None) -> Sequence[str]:
    """Return the names of several outputs in their order, nothing where one is not written out."""
    given = value_of(module, outputs)
    if not isinstance(given, cst.List | cst.Tuple):
        return []
    names = [name_of_output(module, each.value) for each in given.elements]
    known = [each for each in names if isinstance(each, str)]
    return known if len(known) == len(names) and len(set(known)) > 1 else []


def name_of_output(module: Module, tensor: cst.BaseExpression) -> object:
    """Return the name that the layer of a tensor is given, None where that is not written out."""
    made = value_of(module, tensor)
    layer = value_of(module, made.func) if isinstance(made, cst.Call) else None
    given = passed(layer, "name") if isinstance(layer, cst.Call) else None
    return literal(given, absent=None)
