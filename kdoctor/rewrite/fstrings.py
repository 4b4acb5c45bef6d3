"""Write f-strings of a right side, with arguments inside.

Before Python 3.12 the expressions in an f-string hold neither its quotes, nor backslashes,
comments or line breaks.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from kdoctor.lazy_regex import pattern
from kdoctor.model import Hole
from kdoctor.rewrite.refusal import Refused

Parts = tuple[str | Hole, ...]

_PLAIN_TEXT = pattern(r"""(['"])([^'"\\{}\r\n]*)\1""")
_CONVERSIONS = {-1: "", ord("s"): "!s", ord("r"): "!r", ord("a"): "!a"}


def f_string(
    node: ast.JoinedStr, emit: Callable[[ast.expr], Parts], text_of: Callable[[Hole], str]
) -> Parts:
    """Return the f-string with its expressions emitted, in quotes that fit them.

    Raises:
        Refused: an argument cannot stand in an f-string.
    """
    pieces = _pieces(node.values, emit, text_of)
    inner = "".join(piece if isinstance(piece, str) else text_of(piece) for piece in pieces)
    quote = next((mark for mark in ('"', "'") if mark not in inner), None)
    if quote is None or any(mark in inner for mark in ("\\", "\n", "\r", "#")):
        raise Refused("an argument does not fit into an f-string")
    return (f"f{quote}", *pieces, quote)


def _pieces(
    values: Sequence[ast.expr], emit: Callable[[ast.expr], Parts], text_of: Callable[[Hole], str]
) -> list[str | Hole]:
    pieces: list[str | Hole] = []
    for value in values:
        if isinstance(value, ast.Constant):
            pieces.append(_escaped(str(value.value)))
            continue
        assert isinstance(value, ast.FormattedValue)
        expression = emit(value.value)
        plain = _as_plain_text(value, expression, text_of)
        if plain is not None:
            pieces.append(_escaped(plain))
            continue
        pieces += ["{", *expression, _CONVERSIONS[value.conversion]]
        if isinstance(value.format_spec, ast.JoinedStr):
            pieces += [":", *_pieces(value.format_spec.values, emit, text_of)]
        pieces.append("}")
    return pieces


def _as_plain_text(
    value: ast.FormattedValue, expression: Parts, text_of: Callable[[Hole], str]
) -> str | None:
    """Return the text of ``{'conv'}``: it may as well be part of the f-string itself."""
    if value.conversion != -1 or value.format_spec is not None or len(expression) != 1:
        return None
    only = expression[0]
    found = _PLAIN_TEXT.fullmatch(only if isinstance(only, str) else text_of(only))
    return None if found is None else found[2]


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
