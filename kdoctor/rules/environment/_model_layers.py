"""What layers a model is given: in the list of a `Sequential`, and by `add`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import passed
from kdoctor.syntax import Module
from kdoctor.value_types import Kind, Type


def layers_given(module: Module) -> Iterator[tuple[Type, cst.BaseExpression]]:
    """Yield each model with what it is given for a layer, whosever that is."""
    for reference in module.references:
        made = None if reference.call is None else module.type_of(reference.call)
        if reference.call is None or made is None or made.cls != "Sequential":
            continue
        layers = passed(reference.call, "layers", 0)
        if isinstance(layers, cst.List | cst.Tuple):
            yield from ((made, each.value) for each in layers.elements)
    for use in module.members_named("add"):
        if use.called is not None and use.owner.kind is Kind.MODEL:
            added = passed(use.called, "layer", 0)
            if added is not None and not use.owner_defines:
                yield use.owner, added
