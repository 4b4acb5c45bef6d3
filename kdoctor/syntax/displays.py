"""Parts of tuples and lists that are written out."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst


def elements_of(node: cst.CSTNode | None) -> list[cst.BaseExpression] | None:
    """Return the elements of a tuple or list; None of anything else, and where one has a star."""
    if not isinstance(node, cst.Tuple | cst.List):
        return None
    if any(isinstance(each, cst.StarredElement) for each in node.elements):
        return None
    return [each.value for each in node.elements]


def part_of(
    value: cst.BaseExpression | None, path: Sequence[int | str | None]
) -> cst.BaseExpression | None:
    """Return the part of a display (``(a, b)``) that an unpacking assignment takes, if clear."""
    for step in path:
        elements = elements_of(value)
        if elements is None or not isinstance(step, int) or step >= len(elements):
            return None
        value = elements[step]
    return value
