"""What is kept in an attribute of ``self``."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.rules.own_classes import class_around
from kdoctor.syntax import Module

_AROUND = (cst.Element, cst.StarredElement, cst.Tuple, cst.List)
_BINDS = (cst.AnnAssign, cst.AssignTarget, cst.AugAssign, cst.CompFor, cst.Del, cst.For)


def all_kept_in(module: Module, node: cst.Attribute) -> Sequence[cst.BaseExpression]:
    """Return all that is ever assigned to ``self.x``, nothing where that is not sure.

    What is assigned to an ``x`` of anything else may be of the same object: then nothing is. Nor is
    it in a class whose bases may assign to it as well, or that has an ``x`` itself.
    """
    cls = class_around(module, node)
    if cls is None or not _is_self(node.value) or not _is_of_keras(module, cls):
        return ()
    if any(node.attr.value in module.scope_of(each).bindings for each in cls.body.body[:1]):
        return ()
    values: list[cst.BaseExpression] = []
    for each in module.nodes(cst.Attribute):
        if each.attr.value != node.attr.value:
            continue
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
    return getattr(statement, "target", None) is target
