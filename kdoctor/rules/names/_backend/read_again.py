"""Where a value is read again: by the names and attributes it is kept in, by who calls for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from kdoctor.once import once
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Scope

_MOST: Final = 256  # places; of more nobody is asked


def read_again(module: Module, value: cst.CSTNode) -> list[cst.CSTNode]:
    """Return a value and all places that may read it: more of them than do.

    An attribute of the same name counts whatever it is of, and so does a call of a function or
    method of the name of the one that returns it.
    """
    places = [value]
    seen = {value}
    known: set[int] = set()
    for place in places:  # it grows meanwhile
        for reads in _read_by(module, place):
            if id(reads) in known:
                continue
            known.add(id(reads))
            for each in reads:
                if len(places) == _MOST:
                    return places
                if each not in seen:
                    seen.add(each)
                    places.append(each)
    return places


def _read_by(module: Module, value: cst.CSTNode) -> Iterator[Sequence[cst.CSTNode]]:
    """Yield the reads of what a value is assigned to, and the calls of what returns it.

    The same ones are the same object.
    """
    parent = module.parent(value)
    if isinstance(parent, cst.Return):
        function = module.scope_of(value).node
        if isinstance(function, cst.FunctionDef):
            yield _calls(module).get(function.name.value, ())
        return
    for target in _targets(module, value):
        match target:
            case cst.Name():
                yield _of_the_name(module, target)
            case cst.Attribute(attr=cst.Name(value=member)):
                yield _attributes(module).get(member, ())


def _of_the_name(module: Module, name: cst.Name) -> Sequence[cst.CSTNode]:
    owner = module.scope_of(name).owner(name.value)
    return _by_owner(module, name.value).get(owner, ())


@once
def _by_owner(module: Module, name: str) -> dict[Scope | None, list[cst.CSTNode]]:
    """Return the places of a name by the scope that it is of."""
    found: dict[Scope | None, list[cst.CSTNode]] = {}
    for each in _names(module).get(name, ()):
        found.setdefault(module.scope_of(each).owner(name), []).append(each)
    return found


@once
def _names(module: Module) -> dict[str, list[cst.CSTNode]]:
    found: dict[str, list[cst.CSTNode]] = {}
    for each in module.nodes(cst.Name):
        found.setdefault(each.value, []).append(each)
    return found


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
