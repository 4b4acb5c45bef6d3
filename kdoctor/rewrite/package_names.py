"""Packages that imports are of: which are the same, which import binds one as well."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from kdoctor.model import Edit, ImportNeed
from kdoctor.rewrite.import_habits import from_module
from kdoctor.rewrite.roots import package_of
from kdoctor.rewrite.visibility import is_conditional
from kdoctor.syntax import ImportBinding, Module


def are_kin(need: ImportNeed, binding: ImportBinding) -> bool:
    """Say whether an import and what is to be imported are of one package."""
    return package_of(binding.name) == package_of(need.module)


def is_import_of_others(module: Module, statement: cst.CSTNode) -> bool:
    """Say whether a statement only imports from packages that are installed."""
    modules: list[str | None] = []
    if isinstance(statement, cst.Import):
        modules = [_dotted(alias.name) for alias in statement.names]
    elif isinstance(statement, cst.ImportFrom):
        modules = [from_module(statement)]
    tops = [each and each.partition(".")[0].strip() for each in modules]
    return bool(tops) and all(top and not module.is_project_module(top) for top in tops)


def binds_in_place_of(
    module: Module,
    other: ImportBinding,
    binding: ImportBinding,
    uses: Iterable[cst.CSTNode],
    new: Iterable[Edit],
) -> bool:
    """Say whether ``other`` has bound the name wherever it is read, if ``import keras.gone`` goes.

    ``uses`` are the names that stay, ``new`` the edits whose code reads the name.
    """
    if other is binding or is_conditional(module, other.statement):
        return False
    if other.scope is not binding.scope and not _is_seen_through(module, other, binding):
        return False
    end = module.span(other.statement).end
    starts = [module.span(use).start for use in uses]
    return all(each >= end for each in (*starts, *(edit.span.start for edit in new)))


def _is_seen_through(module: Module, other: ImportBinding, binding: ImportBinding) -> bool:
    """Say whether the name is that of the module, once a function no longer imports it."""
    is_global = other.scope is module.scope_of(module.tree)
    return is_global and len(binding.scope.bindings[binding.local]) == 1


def _dotted(node: cst.CSTNode) -> str:
    return cst.Module(()).code_for_node(node)
