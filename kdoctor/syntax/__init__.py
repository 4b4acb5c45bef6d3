"""A libcst tree with name resolution, inferred types, contexts and reachability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdoctor.lazy_exports import deferred

if TYPE_CHECKING:
    from kdoctor.syntax.members import MemberStore, MemberUse
    from kdoctor.syntax.module import Module
    from kdoctor.syntax.package import ClassInfo, Package
    from kdoctor.syntax.references import ImportBinding, Reference, ReferenceKind
    from kdoctor.syntax.type_oracle import NO_ORACLE, TypeOracle

# Imported when first asked for: `lowering` has to come before libcst does.
_HOMES = {
    "NO_ORACLE": "type_oracle",
    "ClassInfo": "package",
    "ImportBinding": "references",
    "TypeOracle": "type_oracle",
    "MemberStore": "members",
    "MemberUse": "members",
    "Module": "module",
    "Package": "package",
    "Reference": "references",
    "ReferenceKind": "references",
}

__all__ = [
    "NO_ORACLE",
    "ClassInfo",
    "ImportBinding",
    "MemberStore",
    "MemberUse",
    "Module",
    "Package",
    "Reference",
    "ReferenceKind",
    "TypeOracle",
]


def __getattr__(name: str) -> object:
    return deferred(__name__, _HOMES, name)
