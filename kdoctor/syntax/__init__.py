"""A libcst tree plus what its names mean: bindings, references, light types, contexts, guards."""

from kdoctor.syntax.members import MemberStore, MemberUse
from kdoctor.syntax.module import Module
from kdoctor.syntax.package import ClassInfo, Package
from kdoctor.syntax.references import ImportBinding, Reference, ReferenceKind
from kdoctor.syntax.type_oracle import NO_KNOWLEDGE, Knowledge
from kdoctor.value_types import Context, Kind, Type

__all__ = [
    "NO_KNOWLEDGE",
    "ClassInfo",
    "Context",
    "ImportBinding",
    "Kind",
    "Knowledge",
    "MemberStore",
    "MemberUse",
    "Module",
    "Package",
    "Reference",
    "ReferenceKind",
    "Type",
]
