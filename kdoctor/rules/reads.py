"""Where the variables of a file stand, and where what they hold is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.once import once
from kdoctor.syntax import Module


def reads_of(module: Module, bound: cst.CSTNode) -> Iterator[cst.Name]:
    """Yield where a name is read that a target or a parameter binds."""
    name = bound.name if isinstance(bound, cst.Param) else bound
    for each in names_spelled(module, name.value) if isinstance(name, cst.Name) else ():
        if each is not bound and any(at.node is bound for at in module.bindings_at(each)):
            yield each


def names_spelled(module: Module, spelling: str) -> Sequence[cst.Name]:
    """Return all names that are spelled so, also those of attributes and keywords."""
    return _by_spelling(module).get(spelling, ())


@once
def _by_spelling(module: Module) -> dict[str, list[cst.Name]]:
    found: dict[str, list[cst.Name]] = {}
    for each in module.nodes(cst.Name):
        found.setdefault(each.value, []).append(each)
    return found
