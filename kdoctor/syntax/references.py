"""References and import bindings: the results of name resolution."""

from __future__ import annotations

import enum

import libcst as cst
from msgspec import Struct

from kdoctor.model import Confidence
from kdoctor.syntax.package import ClassInfo
from kdoctor.syntax.scopes import Scope


class ReferenceKind(enum.Enum):
    """The syntactic form of a reference."""

    LOAD = enum.auto()
    STORE = enum.auto()  # an attribute of it is assigned to
    DELETE = enum.auto()
    IMPORT = enum.auto()  # the import itself
    ANNOTATION_STRING = enum.auto()  # inside a string that is a type


class ImportBinding(Struct, frozen=True, eq=False):
    """One name that an import binds.

    ``name`` is what the local name then means: ``keras`` for ``import keras.backend``, the module
    for a star import. Where the import goes through a module of the tree to something from outside
    (``from .compat import K``), it is the name of that. A relative name that stays inside the tree
    keeps its dots: ``.compat.helper``. ``imported`` is what the statement says.
    """

    local: str  # "*" for a star import
    name: str
    imported: str
    statement: cst.Import | cst.ImportFrom
    alias: cst.ImportAlias | None
    scope: Scope
    exported: bool
    own_class: ClassInfo | None = None


class Reference(Struct, frozen=True, eq=False):
    """One use of something imported.

    ``node`` is the outermost attribute (or name), the ImportAlias (or ImportStar) of an import, or
    the string of a string annotation. ``name`` is the absolute dotted name as it was imported.

    ``names`` are all that it may mean where branches of one ``try`` (or version check) import it
    from different places, in source order; ``name`` is then the one that the target takes, or
    the first where that is not known.
    """

    node: cst.CSTNode
    name: str
    binding: ImportBinding
    kind: ReferenceKind
    call: cst.Call | None = None
    confidence: Confidence = Confidence.CERTAIN
    names: tuple[str, ...] = ()
