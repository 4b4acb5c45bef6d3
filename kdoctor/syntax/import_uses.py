"""All that may read, or delete, the names that imports bind."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from kdoctor.syntax.imports import Imports
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scope_analysis import ScopeAnalysis, Use


def uses_by_import(
    scope_analysis: ScopeAnalysis, imports: Imports, resolver: Resolver, uses: Iterable[Use]
) -> dict[int, tuple[cst.CSTNode, ...]]:
    """Return the uses of each import binding, by its id, those through a star import included."""
    names = {each.name for each in imports.of}
    found: dict[int, list[cst.CSTNode]] = {}
    for use in uses:
        if use.name in names:
            reaching = resolver.bindings(use.name, use.node, use.scope)
            for binding in imports.with_sibling_imports(reaching):
                found.setdefault(id(imports.of[binding]), []).append(use.node)
    for use in uses if scope_analysis.module.stars else ():
        if use.scope.owner(use.name) is None:
            meaning = resolver.meaning(use.name, use.node, use.scope)
            if meaning is not None:
                found.setdefault(id(meaning.binding), []).append(use.node)
    return {each: tuple(nodes) for each, nodes in found.items()}
