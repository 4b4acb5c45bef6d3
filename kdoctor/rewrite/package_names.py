"""Packages that imports bind: which are the same, and which import binds one as well."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from kdoctor.model import Edit, ImportNeed
from kdoctor.rewrite.roots import package_of
from kdoctor.rewrite.visibility import is_conditional
from kdoctor.syntax import ImportBinding, Module


def are_kin(need: ImportNeed, binding: ImportBinding) -> bool:
    """Say whether an import and what is to be imported are of one package."""
    return package_of(binding.name) == package_of(need.module)


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
    return all(
        module.span(use).start >= end or not module.scope_of(use).runs_with(other.scope)
        for use in uses
    ) and all(edit.span.start >= end for edit in new)


def _is_seen_through(module: Module, other: ImportBinding, binding: ImportBinding) -> bool:
    """Say whether the name is that of the module, once a function no longer imports it."""
    is_global = other.scope is module.scope_of(module.tree)
    return is_global and len(binding.scope.bindings[binding.local]) == 1
