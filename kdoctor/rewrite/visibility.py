"""Which imports can be read at a place, for names that a fix reuses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import libcst as cst

from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.rewrite.source_lines import line_end
from kdoctor.syntax import ImportBinding, Module
from kdoctor.syntax.node_predicates import first_name

_SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.Module)
_KEEP_COMMENT = pattern(r"#\s*noqa\s*(?:$|[^:\s]|:.*\bF401\b)|#\s*kdoctor:\s*ignore", re.IGNORECASE)
_CONDITIONAL = (cst.If, cst.Try, cst.TryStar, cst.For, cst.While, cst.With, cst.Match)


def readable_import(
    module: Module, name: str, node: cst.CSTNode, habit: ImportBinding | None
) -> ImportBinding | None:
    """Return an import of ``name`` that is surely readable at ``node``.

    ``habit`` is the import that the node itself is read by: it is preferred.
    """
    return next(
        (
            each
            for each in sorted(_imports_of(module).get(name, ()), key=lambda it: it is not habit)
            if (each is habit and _starts_with(node, each.local))
            or _is_readable(module, each, node)
        ),
        None,
    )


@once
def _imports_of(module: Module) -> Mapping[str, Sequence[ImportBinding]]:
    """Return the imports by what they mean; star imports are left out."""
    found: dict[str, list[ImportBinding]] = {}
    for each in module.imports:
        if each.alias is not None:
            found.setdefault(each.name, []).append(each)
    return found


def is_conditional(module: Module, statement: cst.CSTNode) -> bool:
    """Say whether a statement runs conditionally within its scope."""
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
        for other in _imports_of(module)[binding.name]
        if other.scope is home and other.local == binding.local
    }
    if any(each.node not in same for each in home.bindings[binding.local]):
        return False
    if module.may_be_rebound_by_star(binding) or star_below(module, binding.statement) is not None:
        return False
    # A function above the import may be called before it, in a script or a notebook.
    return module.span(binding.statement) < module.span(node)


def star_below(module: Module, statement: cst.CSTNode) -> cst.Import | cst.ImportFrom | None:
    """Return the last star import below one of the module that may bind any name anew.

    Of a module that cannot be read nobody knows what it brings.
    """
    stars = module.unreadable_stars
    if not stars or any(isinstance(each, _SCOPES[:-1]) for each in module.ancestors(statement)):
        return None
    last = stars[-1].statement
    return last if module.span(last) > module.span(statement) else None


def _starts_with(node: cst.CSTNode, local: str) -> bool:
    """Say whether ``node`` is a dotted name whose first part is ``local``."""
    name = first_name(node)
    return name is not None and name.value == local


def has_keep_comment(module: Module, statement: cst.CSTNode) -> bool:
    """Say whether a comment says to keep an unused import."""
    span = module.span(statement)
    lines = module.text[span.start : line_end(module.text, span.end)].splitlines()
    return any(_KEEP_COMMENT.search(line) for line in lines)
