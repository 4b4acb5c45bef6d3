"""Which imports can be read where: for the names that a fix would use again."""

from __future__ import annotations

import libcst as cst

from kdoctor.syntax import ImportBinding, Module

_SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.Module)
_CONDITIONAL = (cst.If, cst.Try, cst.TryStar, cst.For, cst.While, cst.With, cst.Match)


def readable_import(
    module: Module, name: str, node: cst.CSTNode, habit: ImportBinding | None
) -> ImportBinding | None:
    """Return an import of ``name`` that surely can be read at ``node``.

    ``habit`` is the import that the node itself is read by: it is preferred.
    """
    candidates = [
        binding for binding in module.imports if binding.name == name and binding.alias is not None
    ]
    candidates.sort(key=lambda binding: binding is not habit)
    return next(
        (
            each
            for each in candidates
            if (each is habit and _starts_with(node, each.local))
            or _is_readable(module, each, node)
        ),
        None,
    )


def is_conditional(module: Module, statement: cst.CSTNode) -> bool:
    """Say whether a statement is run in some cases only, as far as its own scope goes."""
    for each in module.ancestors(statement):
        if isinstance(each, _SCOPES):
            return False
        if isinstance(each, _CONDITIONAL):
            return True
    return False


def _is_readable(module: Module, binding: ImportBinding, node: cst.CSTNode) -> bool:
    home = binding.scope
    place = module.scope_of(node)
    if place.owner(binding.local) is not home or is_conditional(module, binding.statement):
        return False
    same = {
        other.alias
        for other in module.imports
        if other.scope is home and (other.local, other.name) == (binding.local, binding.name)
    }
    if any(each.node not in same for each in home.bindings[binding.local]):
        return False
    before = module.span(binding.statement) < module.span(node)
    return before or not place.runs_with(home)


def _starts_with(node: cst.CSTNode, local: str) -> bool:
    """Say whether ``node`` is a dotted name whose first part is ``local``."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name) and node.value == local
