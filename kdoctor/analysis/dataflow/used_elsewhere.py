"""Whether other files of the project may use what a file defines."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.syntax import Module
from kdoctor.syntax.scopes import ScopeKind


def may_be_used_elsewhere(module: Module, node: cst.CSTNode) -> bool:
    """Say whether another file may import what a node is part of.

    That is the function or class of the module itself around it, or the name it is assigned to
    there: a name of a function is nobody else's.
    """
    return any(map(module.name_may_be_imported_elsewhere, _defined_by(module, node)))


def _defined_by(module: Module, node: cst.CSTNode) -> Iterator[str]:
    for each in (node, *module.ancestors(node)):
        match each:
            case cst.FunctionDef() | cst.ClassDef() if _is_global(module, each):
                yield each.name.value
            case cst.Assign(targets=targets) if _is_global(module, each):
                yield from (t.target.value for t in targets if isinstance(t.target, cst.Name))


def _is_global(module: Module, node: cst.CSTNode) -> bool:
    return module.scope_of(node).kind is ScopeKind.MODULE
