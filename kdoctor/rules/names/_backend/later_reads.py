"""Where a value is read again: by the names and attributes it is kept in, by who calls for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_MOST: Final = 256  # places; of more nobody is asked


def read_again(module: Module, value: cst.CSTNode) -> list[cst.CSTNode]:
    """Return a value and all places that may read it: more of them than do.

    An attribute of the same name counts whatever it is of, and so does a call of a function or
    method of the name of the one that returns it.
    """
    places = [value]
    seen = {value}
    for place in places:  # it grows meanwhile
        for each in _read_by(module, place):
            if each not in seen and len(places) < _MOST:
                seen.add(each)
                places.append(each)
    return places


def _read_by(module: Module, value: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the reads of what a value is assigned to, and the calls of what returns it."""
    parent = module.parent(value)
    if isinstance(parent, cst.Return):
        function = module.scope_of(value).node
        if isinstance(function, cst.FunctionDef):
            yield from _calls(module).get(function.name.value, ())
        return
    for target in _targets(module, value):
        match target:
            case cst.Name():
                yield from _of_the_name(module, target)
            case cst.Attribute(attr=cst.Name(value=member)):
                yield from _attributes(module).get(member, ())


def _of_the_name(module: Module, name: cst.Name) -> Iterator[cst.CSTNode]:
    owner = module.scope_of(name).owner(name.value)
    for each in descendants(module.tree if owner is None else owner.node):
        if (
            isinstance(each, cst.Name)
            and each.value == name.value
            and module.scope_of(each).owner(name.value) is owner
        ):
            yield each


def _targets(module: Module, value: cst.CSTNode) -> list[cst.CSTNode]:
    """Return what a value is assigned to: alone, or as an element of a tuple."""
    parent = module.parent(value)
    if isinstance(parent, cst.NamedExpr | cst.AnnAssign):
        return [parent.target] if parent.value is value else []
    place: int | None = None
    if isinstance(parent, cst.Element) and isinstance(
        display := module.parent(parent), cst.Tuple | cst.List
    ):
        place = list(display.elements).index(parent)
        parent = module.parent(display)
    found: list[cst.CSTNode] = []
    for each in parent.targets if isinstance(parent, cst.Assign) else ():
        target: cst.CSTNode = each.target
        if place is not None and isinstance(target, cst.Tuple | cst.List):
            target = target.elements[place].value if place < len(target.elements) else target
        found.append(target)
    return found


@once
def _attributes(module: Module) -> dict[str, list[cst.CSTNode]]:
    found: dict[str, list[cst.CSTNode]] = {}
    for each in module.nodes(cst.Attribute):
        found.setdefault(each.attr.value, []).append(each)
    return found


@once
def _calls(module: Module) -> dict[str, list[cst.CSTNode]]:
    """Return the calls by the last name of what is called."""
    found: dict[str, list[cst.CSTNode]] = {}
    for each in module.nodes(cst.Call):
        match each.func:
            case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
                found.setdefault(name, []).append(each)
    return found
