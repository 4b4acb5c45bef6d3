"""``metrics=["ce"]``: the crossentropy that goes with the outputs, which Keras 3 does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import literal
from kdoctor.model import Edit
from kdoctor.rules.arguments._refused_value import Refused
from kdoctor.rules.arguments._short_names import CROSSENTROPIES
from kdoctor.syntax import Module

_LOSSES: Final = frozenset(
    f"{sort}crossentropy" for sort in ("binary_", "categorical_", "sparse_categorical_")
)


def crossentropy(
    module: Module, node: cst.BaseExpression, loss: cst.Arg | None
) -> Iterator[Refused]:
    """Report the metric by that name: with such a loss it is the same function."""
    if not isinstance(node, cst.SimpleString) or node.raw_value not in CROSSENTROPIES:
        return
    name = None if loss is None else literal(loss.value)
    is_told = isinstance(name, str) and name in _LOSSES
    yield Refused(
        node,
        f"ValueError: Could not interpret metric identifier: {node.raw_value}",
        "Write the full name that fits the outputs: 'binary_crossentropy' for one probability, "
        "'categorical_crossentropy' for one-hot targets, 'sparse_categorical_crossentropy' for "
        "class indices.",
        (Edit(module.span(node), (f"{node.quote}{name}{node.quote}",)),) if is_told else (),
        f"Write '{name}'",
        unsafe_because="the history then logs the metric under its new name",
        no_fix_because="which crossentropy it is depends on the shapes of the data",
    )
