"""Keywords that a call gets out of a dict: ``kw = {"lr": 0.1}``, and ``Adam(**kw)`` below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.dataflow.uses import is_variable, names_with_spelling
from kdoctor.memoize import once
from kdoctor.model import Edit
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding, BindingKind, ScopeKind

# What is called of a dict and takes no key out of it.
_KEEPING: Final = frozenset({"copy", "get", "items", "keys", "setdefault", "update", "values"})


class HeldKeyword(Struct, frozen=True, eq=False):
    """A keyword that a call surely gets by ``**``.

    ``key`` is what writes it: the place to tell of it, for what the call gets may be several.
    ``is_alone``: nothing else has to do with the dict.
    """

    keyword: str
    value: cst.BaseExpression
    key: cst.Name | cst.SimpleString
    is_alone: bool

    def renamed(self, module: Module, name: str) -> Edit:
        """Return the edit that gives it another name."""
        key = self.key
        text = name if isinstance(key, cst.Name) else key.value.replace(self.keyword, name)
        return Edit(module.span(key), (text,))


def held_keywords(module: Module, call: cst.Call) -> Iterator[HeldKeyword]:
    """Yield what a call gets out of dicts that are written out, and stay what they were."""
    for argument in call.args:
        if argument.star != "**":
            continue
        if isinstance(argument.value, cst.Name):
            made, is_alone = _bound_once(module, argument.value)
        else:
            made, is_alone = argument.value, True
        for keyword, (key, value) in _keys(module, made).items():
            yield HeldKeyword(keyword, value, key, is_alone)


def _keys(
    module: Module, made: cst.BaseExpression | None
) -> dict[str, tuple[cst.Name | cst.SimpleString, cst.BaseExpression]]:
    match made:
        case cst.Dict(elements=elements):
            return {
                each.key.raw_value: (each.key, each.value)
                for each in elements
                if isinstance(each, cst.DictElement)
                and isinstance(each.key, cst.SimpleString)
                and not each.key.prefix
            }
        case cst.Call(func=cst.Name(value="dict") as function, args=args) if is_builtin(
            module, function
        ):
            return {
                each.keyword.value: (each.keyword, each.value)
                for each in args
                if each.keyword is not None
            }
    return {}


def _bound_once(module: Module, name: cst.Name) -> tuple[cst.BaseExpression | None, bool]:
    """Return the value of a name that holds what it was bound to, and whether only this reads it.

    None where the name may hold something else, or lack a key, by then.
    """
    bindings = module.bindings_at(name)
    if len(bindings) != 1 or not _is_plain(module, name, bindings[0]):
        return None, False
    keeps, reads = _uses(module, name.value)[bindings[0]]
    return (bindings[0].value, reads == 1) if keeps else (None, False)


@once
def _uses(module: Module, spelling: str) -> Mapping[Binding, tuple[bool, int]]:
    """Return of each binding whether what reads it keeps its keys, and how often it is read."""
    found: dict[Binding, tuple[bool, int]] = {}
    for each in names_with_spelling(module, spelling):
        for binding in module.bindings_at(each) if is_variable(module, each) else ():
            if binding.node is not each:
                keeps, reads = found.get(binding, (True, 0))
                found[binding] = keeps and _keeps_the_keys(module, each), reads + 1
    return found


def _is_plain(module: Module, name: cst.Name, binding: Binding) -> bool:
    """Say whether no other name has the same dict, and the code of one scope makes and reads it."""
    target = module.parent(binding.node)
    statement = None if target is None else module.parent(target)
    is_lone = isinstance(target, cst.AnnAssign) or (
        isinstance(statement, cst.Assign) and len(statement.targets) == 1
    )
    return (
        is_lone
        and binding.kind is BindingKind.ASSIGN
        and not binding.path
        and not binding.remote
        and binding.scope.kind is not ScopeKind.CLASS
        and module.scope_of(name) is binding.scope
    )


def _keeps_the_keys(module: Module, name: cst.Name) -> bool:
    """Say whether what a name is read for takes no key out of the dict that it holds."""
    match module.parent(name):
        case cst.Arg(star="**") | cst.StarredDictElement():
            return True
        case cst.Subscript(value=value) as part if value is name:
            return not isinstance(module.parent(part), cst.Del | cst.Element)
        case cst.Attribute(value=value, attr=cst.Name(value=method)) as read if value is name:
            return method in _KEEPING and _is_called(module, read)
    return False


def _is_called(module: Module, read: cst.Attribute) -> bool:
    above = module.parent(read)
    return isinstance(above, cst.Call) and above.func is read
