"""Lay Python code out as `ruff format` does, in lines of 88 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

WIDTH: Final = 88  # of `ruff format` and `black`, where nobody says otherwise
_INDENT: Final = "    "


class Brackets(Struct, frozen=True):
    """Something in brackets: a call, a list, a tuple, a dict. ``inside`` are texts or brackets."""

    start: str
    inside: tuple[tuple[str, Brackets | str], ...]  # `name=` or `key: `, and what it is
    end: str
    is_tuple: bool = False

    def flat(self) -> str:
        """Return it on one line."""
        parts = ", ".join(before + _flat(each) for before, each in self.inside)
        comma = "," if self.is_tuple and len(self.inside) == 1 else ""
        return f"{self.start}{parts}{comma}{self.end}"


Expression = Brackets | str


def _flat(value: Expression) -> str:
    return value if isinstance(value, str) else value.flat()


def statement(before: str, value: Expression, indent: int) -> list[str]:
    """Return the lines of `before` and a value: ``x = ``, ``return ``."""
    return _lines(before, value, "", indent)


def _lines(before: str, value: Expression, after: str, indent: int) -> list[str]:
    lead = _INDENT * indent
    whole = f"{lead}{before}{_flat(value)}{after}"
    if len(whole) <= WIDTH or isinstance(value, str) or not value.inside:
        return [whole]
    first, last = f"{lead}{before}{value.start}", f"{lead}{value.end}{after}"
    one = ", ".join(name + _flat(each) for name, each in value.inside)
    is_call = value.start not in {"[", "(", "{"}
    if is_call and len(lead) + len(_INDENT) + len(one) <= WIDTH:
        return [first, f"{lead}{_INDENT}{one}", last]
    inside = [line for name, each in value.inside for line in _lines(name, each, ",", indent + 1)]
    return [first, *inside, last]


def call(name: str, positional: Sequence[Expression], named: dict[str, Expression]) -> Brackets:
    """Return a call."""
    inside = [*(("", each) for each in positional), *((f"{k}=", v) for k, v in named.items())]
    return Brackets(f"{name}(", tuple(inside), ")")


def sequence(values: Sequence[Expression], *, is_tuple: bool = False) -> Brackets:
    """Return a list or a tuple."""
    start, end = ("(", ")") if is_tuple else ("[", "]")
    return Brackets(start, tuple(("", each) for each in values), end, is_tuple)


def literal(value: Any, *, as_tuple: bool = False) -> Expression:
    """Return a value of JSON as Python writes it."""
    match value:
        case str():
            return text(value)
        case float() if not math.isfinite(value):
            return f'float("{value}")'
        case list():
            inside = [literal(each, as_tuple=as_tuple) for each in value]
            return sequence(inside, is_tuple=as_tuple)
        case dict():
            pairs = tuple((f"{text(key)}: ", literal(each)) for key, each in value.items())
            return Brackets("{", pairs, "}")
        case _:
            return repr(value)


def text(value: str) -> str:
    """Return a text in the quotes that `ruff format` prefers."""
    made = repr(value)
    return f'"{made[1:-1]}"' if made[0] == "'" and '"' not in made and "\\'" not in made else made
