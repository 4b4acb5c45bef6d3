"""libcst node construction and tests without the parts that a scan does not need.

The classes are frozen dataclasses: their ``__init__`` stores each field by ``object.__setattr__``,
makes blanks anew for each node and validates what the grammar has just made sure of. A node's hash
is its ``id``, asked for in Python each time. They are abstract base classes, too, so that
``isinstance`` asks in Python for what may have been registered: nothing ever is.

Here nodes are made through their slots, with blanks that all of them share. All else stays: nodes
are frozen, and validated where they are made by hand.
"""

from __future__ import annotations

import dataclasses
from abc import ABCMeta
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType, MemberDescriptorType
from typing import Any

import libcst as cst
from libcst import native  # type: ignore[attr-defined]

from kdoctor.syntax.libcst_walk import NODES
from kdoctor.syntax.lowering.process import may_change_libcst


def node_maker(kind: type[cst.CSTNode], *given: str, **always: object) -> Callable[..., Any]:
    """Return a fast constructor for a node class from the fields ``given``, in order.

    What the other fields hold is ``always`` the same, where it is not said the class' default.
    Nothing is validated.
    """
    if not _is_as_expected(kind):
        return lambda *values: kind(**dict(zip(given, values, strict=True)), **always)
    scope: dict[str, Any] = {"new": object.__new__, "kind": kind}
    for place, name in enumerate(given):
        scope[f"store_{place}"] = getattr(kind, name).__set__
    others = [field for field in dataclasses.fields(kind) if field.name not in given]
    for place, field in enumerate(others, len(given)):
        scope[f"store_{place}"] = getattr(kind, field.name).__set__
        scope[f"value_{place}"] = always[field.name] if field.name in always else _default(field)
    return FunctionType(_code(len(given), len(others)), scope)


@cache
def _code(given: int, others: int) -> CodeType:
    """Return the code of a function that stores so many values, and as many that it knows."""
    values = [f"value_{place}" for place in range(given + others)]
    stores = [f" store_{place}(node, {value})" for place, value in enumerate(values)]
    source = [f"def make({', '.join(values[:given])}):", " node = new(kind)", *stores]
    scope: dict[str, Any] = {}
    # As `dataclasses` itself does it; many classes share one text, which takes its time to compile.
    exec("\n".join([*source, " return node"]), scope)  # noqa: S102
    code: CodeType = scope["make"].__code__
    return code


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _is_as_expected(kind: type[cst.CSTNode]) -> bool:
    """Say whether ``__init__`` stores the fields in slots and validates, and does nothing else."""
    return (
        kind.__post_init__ is cst.CSTNode.__post_init__
        and _names_in(kind.__post_init__) == ("_validate",)
        and kind.__new__ is object.__new__
        and all(
            isinstance(getattr(kind, field.name, None), MemberDescriptorType)
            for field in dataclasses.fields(kind)
        )
    )


def _names_in(function: Callable[..., object]) -> tuple[str, ...]:
    return function.__code__.co_names


class _Kind(ABCMeta):
    """An abstract base class whose subclasses are those that say so: none is registered."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def make_lean() -> None:
    """Speed up ``isinstance`` and ``hash`` of libcst's classes, where no other code sees it."""
    if may_change_libcst():
        _change_classes()


@cache
def _change_classes() -> None:
    for kind in NODES | {cst.CSTNode}:
        if type(kind) is ABCMeta:
            type.__setattr__(kind, "__class__", _Kind)
    if _names_in(cst.CSTNode.__hash__) == ("id",):
        for kind in NODES:
            if kind.__hash__ is cst.CSTNode.__hash__:
                type.__setattr__(kind, "__hash__", object.__hash__)


def parse_module(text: str) -> cst.Module:
    """Return what ``libcst.parse_module`` does, or raise what it raises."""
    make_lean()
    # What `cst.parse_module` asks before is of use for bytes only.
    module: cst.Module = native.parse_module(text, encoding="utf-8")
    return module
