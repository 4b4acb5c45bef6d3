"""What a name, an attribute or a key of a dict may hold, where the file itself shows all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.escapes import unmutated_value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.possible_values import MAX_VALUES, values_of_name
from kdoctor.analysis.tensors import elements
from kdoctor.analysis.tensors.constructors import NumberKind
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scope_analysis import Store
from kdoctor.syntax.scopes import Binding, BindingKind

_NUMBERS: Final = frozenset({"int", "len", "float", "round"})
_CLOCKS: Final = frozenset({"time.time", "time.time_ns", "time.perf_counter", "os.getpid"})
_BY_NAME: Final = frozenset({"setattr", "vars", "__dict__"})


def values_of(module: Module, node: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
    """Return what an expression may be: itself, or each of several where it is one of them.

    Nothing where that is not known.
    """
    match node:
        case cst.Name():
            return values_of_name(module, node)
        case cst.Attribute():
            return _kept(module, node)
        case cst.IfExp():
            return [node.body, node.orelse]
        case cst.BooleanOperation(operator=cst.Or()):
            return [node.left, node.right]
        case cst.Subscript(
            value=cst.Name() as held,
            slice=[cst.SubscriptElement(slice=cst.Index(cst.SimpleString() as key))],
        ):
            found = _kept_at(module, held, key)
            return [] if found is None else [found]
    return [node]


def is_number(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression surely is a number."""
    return elements.is_number(module, node, _number_of_call)


def _number_of_call(module: Module, node: cst.BaseExpression) -> NumberKind | None:
    match node:
        case cst.Call(func=cst.Name() as function):
            is_one = function.value in _NUMBERS and is_builtin(module, function)
            return NumberKind.FLOAT if is_one else None
        case cst.Call():
            return NumberKind.FLOAT if module.qualified(node.func) in _CLOCKS else None
    return None


def _kept(module: Module, node: cst.Attribute) -> Sequence[cst.BaseExpression]:
    """Return all that is kept in an attribute of a class of the file, by ``self`` or in its body.

    Also what is assigned to such an attribute of any other object, which may be of that class.
    """
    owner, name = node.value, node.attr.value
    cls = class_named(module, owner) or points_to_of(module).class_written(owner)
    if cls is None or not module.words.isdisjoint(_BY_NAME) or not _is_of(module, cls, name):
        return []
    classes = module.nodes(cst.ClassDef)
    bound: list[Binding | Store] = [
        *(each for cls in classes for each in module.scope_of(cls.body).bindings.get(name, ())),
        *(each for each in module.stores if each.node.attr.value == name),
    ]
    plain = [
        each.value
        for each in bound
        if each.kind is BindingKind.ASSIGN and not each.path and each.value is not None
    ]
    return plain if len(plain) == len(bound) <= MAX_VALUES else []


def _is_of(module: Module, cls: cst.ClassDef, name: str) -> bool:
    """Say whether a class of the file, or one of its bases in it, has the attribute."""
    line = [cls]
    for each in line:  # it grows meanwhile
        bases = (class_named(module, base.value) for base in each.bases)
        line += [base for base in bases if base is not None and base not in line]
    written = points_to_of(module).class_written
    return any(name in module.scope_of(each.body).bindings for each in line) or any(
        store.node.attr.value == name and written(store.node.value) in line
        for store in module.stores
    )


def _kept_at(module: Module, held: cst.Name, key: cst.SimpleString) -> cst.BaseExpression | None:
    """Return what a dict that is written out holds at a key, where nothing changes it later."""
    kept = unmutated_value_of(module, held)
    if not isinstance(kept, cst.Dict):
        return None
    if any(isinstance(each, cst.StarredDictElement) for each in kept.elements):
        return None
    found = [
        each.value
        for each in kept.elements
        if isinstance(each, cst.DictElement) and literal(each.key) == literal(key)
    ]
    return found[0] if len(found) == 1 else None
