"""Where a value is read again: by the names and attributes it is kept in, by who calls for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.uses import attributes_named
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Scope

_MAX_READS: Final = 256  # places; of more nobody is asked
_PUTS: Final = frozenset({"add", "append", "insert", "setdefault"})
_TAKES: Final = frozenset({"get", "pop"})


def read_again(module: Module, value: cst.CSTNode) -> list[cst.CSTNode]:
    """Return a value and all places that may read it: more of them than do.

    An attribute of the same name counts whatever it is of, and so does a call of a function or
    method of the name of the one that returns it.
    """
    places = [value]
    seen = {value}
    known: dict[int, Sequence[cst.CSTNode]] = {}  # by identity, and kept: it must stay theirs
    for place in places:  # it grows meanwhile
        for reads in _read_by(module, place):
            if id(reads) in known:
                continue
            known[id(reads)] = reads
            for each in reads:
                if len(places) == _MAX_READS:
                    return places
                if each not in seen:
                    seen.add(each)
                    places.append(each)
    return places


def places_of(module: Module, name: cst.Name) -> Sequence[cst.CSTNode]:
    """Return all places of a name, those that bind it among them."""
    return _of_the_name(module, name)


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
    if isinstance(parent, cst.Arg):
        yield from _as_a_parameter(module, parent)
    for target in _targets(module, value):
        yield from _of_the_target(module, target)
    for container in _containers(module, value):
        for each in container:
            yield from _elements_of(module, each)


def _of_the_target(module: Module, target: cst.CSTNode) -> Iterator[Sequence[cst.CSTNode]]:
    match target:
        case cst.Name():
            yield _of_the_name(module, target)
        case cst.Attribute(attr=cst.Name(value=member)):
            yield attributes_named(module, member)
        case cst.Tuple() | cst.List():
            for each in target.elements:
                yield from _of_the_target(module, each.value)


def _as_a_parameter(module: Module, argument: cst.Arg) -> Iterator[Sequence[cst.CSTNode]]:
    """Yield the reads of what functions, methods and classes of the file call an argument."""
    call = module.parent(argument)
    match call:
        case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
            place = next(i for i, each in enumerate(call.args) if each is argument)
        case _:
            return
    for function in _functions(module).get(name, ()):
        for each in _parameters(function, argument, place):
            yield _of_the_name(module, each.name, function)


def _parameters(function: cst.FunctionDef, argument: cst.Arg, place: int) -> Iterator[cst.Param]:
    """Yield which parameters an argument may fill: the first may be `self`."""
    given = function.params
    if argument.keyword is not None:
        every = (*given.posonly_params, *given.params, *given.kwonly_params)
        yield from (each for each in every if each.name.value == argument.keyword.value)
        return
    yield from (*given.posonly_params, *given.params)[place : place + 2]


def _containers(module: Module, value: cst.CSTNode) -> Iterator[Sequence[cst.CSTNode]]:
    """Yield the reads of each list, tuple or dict that a value is put into."""
    parent = module.parent(value)
    if isinstance(parent, cst.Element | cst.DictElement):
        display = module.parent(parent)
        if display is not None:
            yield (display,)
            yield from _read_by(module, display)
    if isinstance(parent, cst.Arg):
        match module.parent(parent):
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))) if (
                name in _PUTS
            ):
                yield from _of_the_target(module, owner)
    for target in _targets(module, value):
        if isinstance(target, cst.Subscript):
            yield from _of_the_target(module, target.value)


def _elements_of(module: Module, container: cst.CSTNode) -> Iterator[Sequence[cst.CSTNode]]:
    """Yield what takes an element out of a list, tuple or dict where that is read."""
    parent = module.parent(container)
    match parent:
        case cst.Subscript(value=owner) if owner is container:
            yield (parent,)
        case cst.For(target=target, iter=whole) | cst.CompFor(target=target, iter=whole) if (
            whole is container
        ):
            yield from _of_the_target(module, target)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List() as target)]):
            yield from _of_the_target(module, target)
        case cst.Attribute(attr=cst.Name(value=name)) if name in _TAKES:
            call = module.parent(parent)
            if isinstance(call, cst.Call):
                yield (call,)


def _of_the_name(
    module: Module, name: cst.Name, function: cst.FunctionDef | None = None
) -> Sequence[cst.CSTNode]:
    """Return the places of a name; of a parameter, in the function that has it."""
    scope = module.scope_of(name if function is None else function.body)
    return _by_owner(module, name.value).get(scope.owner(name.value), ())


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
def _calls(module: Module) -> dict[str, list[cst.CSTNode]]:
    """Return the calls by the last name of what is called."""
    found: dict[str, list[cst.CSTNode]] = {}
    for each in module.nodes(cst.Call):
        match each.func:
            case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
                found.setdefault(name, []).append(each)
    return found


@once
def _functions(module: Module) -> dict[str, list[cst.FunctionDef]]:
    """Return the functions of the file by name, and what makes an object by its class."""
    found: dict[str, list[cst.FunctionDef]] = {}
    for each in module.nodes(cst.FunctionDef):
        found.setdefault(each.name.value, []).append(each)
        if each.name.value == "__init__":
            around = next((e for e in module.ancestors(each) if isinstance(e, cst.ClassDef)), None)
            if around is not None:
                found.setdefault(around.name.value, []).append(each)
    return found
