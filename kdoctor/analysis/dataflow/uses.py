"""Find the uses of variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.memoize import once
from kdoctor.syntax import ImportBinding, Module, Reference
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind, ScopeKind


def reads_of(module: Module, bound: cst.CSTNode) -> Iterator[cst.Name]:
    """Yield the reads of the name that a target or parameter binds."""
    name = bound.name if isinstance(bound, cst.Param) else bound
    if isinstance(name, cst.Name):
        found = _by_binding(module, name.value).get(bound, ())
        yield from found


def names_with_spelling(module: Module, spelling: str) -> Sequence[cst.Name]:
    """Return all names with this spelling, attributes and keywords included."""
    return _by_spelling(module).get(spelling, ())


def names_of_variable(module: Module, defined: cst.Name) -> Sequence[cst.Name]:
    """Return all names that mean the variable of a name, itself included.

    What is bound in a class is reached as a member, too: of that all names with its spelling.
    """
    spelling = defined.value
    names = names_with_spelling(module, spelling)
    owner = module.scope_of(defined).owner(spelling)
    if owner is not None and owner.kind is ScopeKind.CLASS:
        return names
    return [
        each
        for each in names
        if is_variable(module, each) and module.scope_of(each).owner(spelling) is owner
    ]


def attributes_named(module: Module, member: str) -> Sequence[cst.Attribute]:
    """Return all attributes of this name, whatever they are of."""
    return _by_member(module).get(member, ())


def references_through(module: Module, binding: ImportBinding) -> Sequence[Reference]:
    """Return an import's own reference, and all that is read by way of it."""
    return _by_import(module).get(binding, ())


@once
def _by_binding(module: Module, spelling: str) -> dict[cst.CSTNode, list[cst.Name]]:
    found: dict[cst.CSTNode, list[cst.Name]] = {}
    names = names_with_spelling(module, spelling)
    owners = dict.fromkeys(module.scope_of(each).owner(spelling) for each in names)
    stored = {
        binding.node
        for owner in owners
        if owner is not None
        for binding in owner.bindings[spelling]
        if binding.kind is not BindingKind.AUGMENT  # which reads it first
    }
    for each in names:
        if each in stored or not is_variable(module, each):
            continue
        for bound in dict.fromkeys(at.node for at in module.bindings_at(each)):
            found.setdefault(bound, []).append(each)
    return found


def is_variable(module: Module, name: cst.Name) -> bool:
    """Say whether it reads or sets a variable.

    The name of a keyword or of a member does not, nor that of a parameter, which is bound in the
    function's own scope, nor what stands in `global x`.
    """
    parent = module.parent(name)
    is_parameter = isinstance(parent, cst.Param) and parent.name is name  # not its default
    return not (
        is_keyword_or_member(module, name) or is_parameter or isinstance(parent, cst.NameItem)
    )


def is_keyword_or_member(module: Module, name: cst.Name) -> bool:
    """Say whether it is the `x` of `f(x=1)` or of `a.x`, which no variable is meant by."""
    match module.parent(name):
        case cst.Arg(keyword=keyword):
            return keyword is name
        case cst.Attribute(attr=member):
            return member is name
    return False


@once
def _by_spelling(module: Module) -> dict[str, list[cst.Name]]:
    found: dict[str, list[cst.Name]] = {}
    for each in module.nodes(cst.Name):
        found.setdefault(each.value, []).append(each)
    return found


@once
def _by_member(module: Module) -> dict[str, list[cst.Attribute]]:
    found: dict[str, list[cst.Attribute]] = {}
    for each in module.nodes(cst.Attribute):
        found.setdefault(each.attr.value, []).append(each)
    return found


@once
def _by_import(module: Module) -> dict[ImportBinding, list[Reference]]:
    found: dict[ImportBinding, list[Reference]] = {}
    for each in module.references:
        found.setdefault(each.binding, []).append(each)
    return found


def index_read(read: cst.Subscript) -> int | None:
    """Return the constant index of a subscript; None for slices and computed ones."""
    match read.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=index))]:
            place = literal(index)
            return place if isinstance(place, int) else None
    return None
