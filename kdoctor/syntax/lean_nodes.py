"""libcst's nodes, made at a parse without what a parse does not need.

libcst's parser is native code that calls a Python class for every node, blanks and commas too. The
classes are frozen dataclasses: their ``__init__`` stores each field by ``object.__setattr__`` and
then validates what the grammar has just made sure of. A node's hash is its ``id``, asked for in
Python each time. Together that is a fifth of the time of a scan. They are abstract base classes,
too, so that ``isinstance`` asks in Python for what may have been registered: nothing ever is.

Here the classes that make up nine tenths of a tree store through their slots, and skip at a parse
what cannot fail there. All else stays: nodes are frozen, and validated where they are made by hand.
A class that is not laid out as its own ``dataclasses.fields`` tell is left as it is.
"""

from __future__ import annotations

import dataclasses
from abc import ABCMeta
from collections.abc import Callable
from functools import cache
from types import FunctionType, MemberDescriptorType
from typing import Any, Final

import libcst as cst
from libcst import native  # type: ignore[attr-defined]

from kdoctor.syntax.walk import NODES

# Their validation asks for what the grammar cannot give otherwise: brackets in pairs, blanks of
# blanks. (Not so `Call`: that no keyword stands before a position is left to validation.) Of names
# and integers that is so of the plain ones, which are nearly all.
_SURE: Final[tuple[type[cst.CSTNode], ...]] = (
    cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.TrailingWhitespace, cst.EmptyLine,
    cst.Newline, cst.Comma, cst.Dot, cst.AssignEqual, cst.LeftParen, cst.RightParen,
    cst.LeftSquareBracket, cst.RightSquareBracket, cst.Attribute, cst.Arg, cst.Param, cst.Element,
    cst.Subscript, cst.SubscriptElement, cst.Index, cst.Tuple, cst.List, cst.BinaryOperation,
    cst.Assign, cst.AssignTarget, cst.Expr, cst.SimpleStatementLine, cst.IndentedBlock,
)  # fmt: skip
_IS_PLAIN_DECIMAL: Final = (
    "(value == '0' or value.isascii() and value.isdecimal() and value[0] > '0')"
)
_WHEN_VALIDATED: Final[dict[type[cst.CSTNode], str]] = {
    **dict.fromkeys(_SURE, "if not parsing: "),
    cst.Name: "if not (parsing and value.isascii()): ",
    cst.Integer: f"if not (parsing and {_IS_PLAIN_DECIMAL}): ",
    cst.Call: "",
    cst.SimpleString: "",
}


def parse_module(text: str) -> cst.Module:
    """Return what ``libcst.parse_module`` does, or raise what it raises, sooner.

    In a thread that makes nodes by hand meanwhile, those are not validated.
    """
    scope = _made_lean()
    scope["parsing"] = True
    try:
        # What `cst.parse_module` asks before is of use for bytes only.
        module: cst.Module = native.parse_module(text, encoding="utf-8")
    finally:
        scope["parsing"] = False
    return module


class _Kind(ABCMeta):
    """An abstract base class whose subclasses are those that say so: none is registered."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


@cache
def _made_lean() -> dict[str, Any]:
    """Change the classes, once for the process; return what their ``__init__`` read."""
    scope: dict[str, Any] = {"parsing": False}
    kinds = [kind for kind in _WHEN_VALIDATED if _is_as_expected(kind)]
    # As `dataclasses` itself does it; what is run holds nothing but names of fields.
    exec("\n".join(_init(kind, scope) for kind in kinds), scope)  # noqa: S102
    for kind in kinds:
        _replace(kind, "__init__", _like_the_usual(scope[kind.__name__], kind))
    for kind in NODES | {cst.CSTNode}:
        if type(kind) is ABCMeta:
            type.__setattr__(kind, "__class__", _Kind)
    if _names_in(cst.CSTNode.__hash__) == ("id",):
        for kind in NODES:
            if kind.__hash__ is cst.CSTNode.__hash__:
                _replace(kind, "__hash__", object.__hash__)
    return scope


def _is_as_expected(kind: type[cst.CSTNode]) -> bool:
    """Say whether ``__init__`` stores the fields in slots and validates, and does nothing else."""
    return (
        kind.__post_init__ is cst.CSTNode.__post_init__
        and _names_in(kind.__post_init__) == ("_validate",)
        and kind.__new__ is object.__new__
        and all(
            field.init
            and not field.kw_only
            and isinstance(getattr(kind, field.name, None), MemberDescriptorType)
            for field in dataclasses.fields(kind)
        )
    )


def _names_in(function: Callable[..., object]) -> tuple[str, ...]:
    return function.__code__.co_names


def _init(kind: type[cst.CSTNode], scope: dict[str, Any]) -> str:
    """Write an ``__init__`` with the same parameters; put what it reads into ``scope``."""
    parameters, stores = ["self"], []
    for field in dataclasses.fields(kind):
        own = f"{kind.__name__}_{field.name}"
        scope[f"store_{own}"] = getattr(kind, field.name).__set__
        value = field.name
        if field.default is not dataclasses.MISSING:
            scope[f"default_{own}"] = field.default
            parameters.append(f"{field.name}=default_{own}")
        elif field.default_factory is not dataclasses.MISSING:
            scope[f"make_{own}"] = field.default_factory
            parameters.append(f"{field.name}=make_{own}")  # the factory itself: none was given
            value = f"make_{own}() if {field.name} is make_{own} else {field.name}"
        else:
            parameters.append(field.name)
        stores.append(f" store_{own}(self, {value})")
    validate = f" {_WHEN_VALIDATED[kind]}self._validate()"
    return "\n".join([f"def {kind.__name__}({', '.join(parameters)}):", *stores, validate])


def _like_the_usual(init: FunctionType, kind: type[cst.CSTNode]) -> FunctionType:
    """Let an ``__init__`` be to others what the class has, which may not be written yet."""
    init.__module__, init.__name__ = kind.__module__, "__init__"
    init.__qualname__ = f"{kind.__qualname__}.__init__"
    init.__annotations__ = {each.name: each.type for each in dataclasses.fields(kind)}
    init.__annotations__["return"] = None
    init.__wrapped__ = vars(kind)["__init__"]  # type: ignore[attr-defined]
    return init


def _replace(kind: type[cst.CSTNode], name: str, function: Callable[..., Any]) -> None:
    type.__setattr__(kind, name, function)
