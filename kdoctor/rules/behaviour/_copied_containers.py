"""Containers of which Keras 3 keeps a plain, tracked copy as an attribute of a layer or model.

The classes that are copied are those of ``keras.src.utils.tracking``: subclasses of dict, list and
set, whatever they add. ``tests/rules/test_container_is_copied.py`` assigns one of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct
from packaging.version import Version

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.user_classes import methods_in, only_base, receiver
from kdoctor.syntax import Module
from kdoctor.syntax.classes import unsubscripted
from kdoctor.syntax.libcst_walk import descendants

TRACKED: Final = {"dict": "TrackedDict", "list": "TrackedList", "set": "TrackedSet"}
"""What takes the place of a container, by its builtin base."""
OF_COLLECTIONS: Final = {
    "collections.defaultdict": frozenset({"default_factory"}),
    "collections.Counter": frozenset({"elements", "most_common", "subtract", "total"}),
    "collections.OrderedDict": frozenset({"move_to_end"}),
}
"""Subclasses of dict, and the members that a dict has not."""
_WITH_A_DEFAULT: Final = frozenset({"collections.defaultdict", "collections.Counter"})
_ORDERED: Final = "collections.OrderedDict"
ORDER_IS_KEPT_SINCE: Final = Version("3.14.0")  # by a `TrackedOrderedDict`
_MISSING: Final = "__missing__"
_MAX_DEPTH: Final = 32  # classes of which each derives from the next


class Container(Struct, frozen=True):
    """A class of containers: what replaces it, and what that lacks."""

    name: str
    tracked: str
    members: frozenset[str]
    gives_defaults: bool


def container_of(module: Module, call: cst.Call, keras: Version) -> Container | None:
    """Return the class whose object a call makes, if Keras makes a plain copy of that."""
    found = _container(module, call.func, 0)
    is_kept = found is not None and found.name == "OrderedDict" and keras >= ORDER_IS_KEPT_SINCE
    # A bare subclass is only a name for what is plain.
    return found if found is not None and found.members and not is_kept else None


def _container(module: Module, cls: cst.BaseExpression, depth: int) -> Container | None:
    if depth > _MAX_DEPTH:
        return None
    cls = unsubscripted(cls)
    name = module.qualified(cls) or ""
    if name in OF_COLLECTIONS:
        leaf = name.rpartition(".")[2]
        return Container(leaf, TRACKED["dict"], OF_COLLECTIONS[name], name in _WITH_A_DEFAULT)
    if isinstance(cls, cst.Name) and cls.value in TRACKED and is_builtin(module, cls):
        return Container(cls.value, TRACKED[cls.value], frozenset(), gives_defaults=False)
    own = class_named(module, cls)
    base = None if own is None else only_base(module, own)
    found = None if base is None else _container(module, base, depth + 1)
    if own is None or found is None:
        return None
    members = frozenset(_members(own))
    return Container(
        own.name.value,
        found.tracked,
        found.members | members,
        found.gives_defaults or _MISSING in members,
    )


def _members(node: cst.ClassDef) -> Iterator[str]:
    """Yield what a class adds to its base: methods, attributes of it, and those of its objects."""
    for name, method in methods_in(node).items():
        yield name
        own = receiver(method)
        for each in descendants(method.body):
            match each:
                case (
                    cst.AssignTarget(
                        target=cst.Attribute(value=cst.Name(value=of), attr=cst.Name(value=member))
                    )
                    | cst.AnnAssign(
                        target=cst.Attribute(value=cst.Name(value=of), attr=cst.Name(value=member))
                    )
                ) if of == own:
                    yield member
    for line in node.body.body:
        for each in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match each:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
                    if not name.startswith("__"):  # `__slots__`, `__hash__ = None`
                        yield name
