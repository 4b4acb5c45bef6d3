"""What is kept in an attribute of ``self``."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.uses import attributes_named
from kdoctor.analysis.models.user_classes import class_around
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.syntax import Module

_AROUND = (cst.Element, cst.StarredElement, cst.Tuple, cst.List)
_BINDS = (
    *(cst.AnnAssign, cst.AsName, cst.AssignTarget, cst.AugAssign, cst.CompFor, cst.Del, cst.For),
)
# With these anything may be assigned, and no one sees it.
_BY_NAME = ("setattr", "__setattr__", "__dict__", "vars")


def all_kept_in(module: Module, node: cst.Attribute) -> Sequence[cst.BaseExpression]:
    """Return all that is ever assigned to ``self.x``, nothing where that is not sure.

    What is assigned to an ``x`` of anything else may be of the same object: then nothing is. Nor is
    it in a class whose bases may assign to it as well, or that has an ``x`` itself, as one below.
    """
    cls = class_around(module, node)
    if cls is None or not _is_self(node.value) or any(each in module.words for each in _BY_NAME):
        return ()
    return _kept_in(module, cls, node.attr.value)


@once
def _kept_in(module: Module, cls: cst.ClassDef, name: str) -> Sequence[cst.BaseExpression]:
    if not _is_of_keras(module, cls) or any(
        name in module.scope_of(first).bindings
        for each in (cls, *_derived(module))
        for first in each.body.body[:1]
    ):
        return ()
    values: list[cst.BaseExpression] = []
    for each in attributes_named(module, name):
        target: cst.CSTNode = each
        parent = module.parent(target)
        while isinstance(parent, _AROUND):
            target, parent = parent, module.parent(parent)
        if not isinstance(parent, _BINDS) or not _is_bound_by(parent, target):
            continue
        assign = module.parent(parent)
        if target is not each or not isinstance(assign, cst.Assign) or not _is_self(each.value):
            return ()
        if class_around(module, each) is cls:
            values.append(assign.value)
        else:
            return ()
    return values


@once
def _derived(module: Module) -> tuple[cst.ClassDef, ...]:
    """Return the classes that are derived from classes of this file."""
    return tuple(
        each
        for each in module.nodes(cst.ClassDef)
        if any(class_named(module, base.value) is not None for base in each.bases)
    )


def _is_of_keras(module: Module, cls: cst.ClassDef) -> bool:
    names = [module.qualified(each.value) for each in cls.bases]
    return all(name is not None and split_root(name) is not None for name in names)


def _is_self(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "self"


def _is_bound_by(statement: cst.CSTNode, target: cst.CSTNode) -> bool:
    """Say whether it is what a statement assigns to; what it assigns may hold the same name."""
    if isinstance(statement, cst.Del):
        return True
    assert isinstance(statement, _BINDS)
    if isinstance(statement, cst.AsName):
        return statement.name is target
    return getattr(statement, "target", None) is target
