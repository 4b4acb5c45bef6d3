"""Python values of literals, in libcst's trees and in Python's own.

``ast.literal_eval`` makes four functions for each question, which hold each other and wait for the
garbage collector; most questions are about constants, or about what is no literal at all.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from kdoctor import parse_ast

if TYPE_CHECKING:
    import libcst as cst

UNKNOWN: Final = object()
"""What a value is that cannot be read off the code."""

_FAILURES: Final = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
_NAMES: Final = {"True": True, "False": False, "None": None}
_SHORT: Final = 60  # characters of a literal; memory must not grow with what is written
_NUMBERS: Final = frozenset({"Float", "Imaginary", "Integer"})
_SIGNS: Final[dict[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("USub", "Minus"), operator.neg),
    **dict.fromkeys(("UAdd", "Plus"), operator.pos),
}
_SUMS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(("Sub", "Subtract"), operator.sub),
    "Add": operator.add,
}


def literal(node: cst.BaseExpression | ast.expr | None, *, absent: object = UNKNOWN) -> object:
    """Return the value of a literal or of a display of literals, ``UNKNOWN`` of anything else.

    It may be a node of either tree. ``absent`` is the answer where there is none.
    """
    if node is None:
        return absent
    read = _READERS.get(type(node).__name__)
    if read is None:
        return UNKNOWN
    try:
        return read(node)
    except _FAILURES:
        return UNKNOWN  # also a set of lists, and what is nested too deeply


def literal_in(source: str) -> object:
    """Return the same for source text."""
    try:
        return _value_in(source)
    except _FAILURES:
        return UNKNOWN


def _value_in(source: str) -> Any:
    return _value((_short if len(source) <= _SHORT else _expression_in)(source))


def _expression_in(source: str) -> ast.expr:
    # Most have no escape that may be invalid, and are asked by the thousand.
    parse = parse_ast.parse if "\\" in source else ast.parse
    return parse(source.lstrip(" \t"), mode="eval").body


_short = lru_cache(maxsize=1024)(_expression_in)  # `"same"`, `None`: few differ


def _value(node: Any) -> Any:
    read = _READERS.get(type(node).__name__)
    if read is None:
        raise ValueError("not a literal")
    return read(node)


def _name(node: Any) -> Any:
    name = getattr(node, "value", None)  # `ast` has constants for these
    if name not in _NAMES:
        raise ValueError("not a literal")
    return _NAMES[name]


def _signed(node: Any) -> Any:
    """Return the value of a number with a sign before it."""
    is_ast = isinstance(node, ast.UnaryOp)
    sign = _SIGNS.get(type(node.op if is_ast else node.operator).__name__)
    if sign is None:
        raise ValueError("not a literal")
    return sign(_number(node.operand if is_ast else node.expression))


def _number(node: Any) -> Any:
    value = _value(node) if type(node).__name__ in {"Constant", *_NUMBERS} else None
    if type(value) not in {int, float, complex}:
        raise ValueError("not a number")
    return value


def _complex(node: Any) -> Any:
    """Return the value of ``1 + 2j``: no other sum is a literal."""
    add = _SUMS.get(type(node.op if isinstance(node, ast.BinOp) else node.operator).__name__)
    imaginary = _number(node.right)
    if add is None or not isinstance(imaginary, complex):
        raise ValueError("not a literal")
    has_sign = type(node.left).__name__ in {"UnaryOp", "UnaryOperation"}
    real = _signed(node.left) if has_sign else _number(node.left)
    if isinstance(real, complex):
        raise ValueError("not a literal")  # noqa: TRY004 - as of all else
    return add(real, imaginary)


def _elements(node: Any) -> Iterator[Any]:
    return map(_value, node.elements if hasattr(node, "elements") else node.elts)


def _dict(node: Any) -> dict[Any, Any]:
    pairs: Iterable[tuple[Any, Any]] = (
        zip(node.keys, node.values, strict=True)
        if isinstance(node, ast.Dict)
        else ((getattr(each, "key", None), each.value) for each in node.elements)
    )
    return {_value(key): _value(value) for key, value in pairs}


def _empty_set(node: Any) -> set[object]:
    arguments = node.args or getattr(node, "keywords", ())
    if arguments or "set" not in {getattr(node.func, each, "") for each in ("id", "value")}:
        raise ValueError("not a literal")
    return set()


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "Constant": lambda node: node.value,
    "Ellipsis": lambda _: ...,
    "Name": _name,
    **dict.fromkeys(("SimpleString", *_NUMBERS), lambda node: _value_in(node.value)),
    "ConcatenatedString": lambda node: _value(node.left) + _value(node.right),
    "Element": lambda node: _value(node.value),
    "List": lambda node: [*_elements(node)],
    "Tuple": lambda node: tuple(_elements(node)),
    "Set": lambda node: {*_elements(node)},
    "Dict": _dict,
    "Call": _empty_set,
    **dict.fromkeys(("UnaryOp", "UnaryOperation"), _signed),
    **dict.fromkeys(("BinOp", "BinaryOperation"), _complex),
}
"""What reads a literal, by the name of its node: libcst's trees and Python's share most."""
