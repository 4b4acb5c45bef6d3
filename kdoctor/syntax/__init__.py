"""A libcst tree plus what its names mean: bindings, references, light types, contexts, guards."""

from kdoctor.kinds import Context, Kind, Type
from kdoctor.syntax.knowledge import NO_KNOWLEDGE, Knowledge
from kdoctor.syntax.members import MemberStore, MemberUse
from kdoctor.syntax.module import Module
from kdoctor.syntax.package import ClassInfo, Package
from kdoctor.syntax.references import ImportBinding, Reference, ReferenceKind

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
