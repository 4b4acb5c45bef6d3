"""Positions of values in a JSON text, and its style of escaping strings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kdoctor.lazy_regex import pattern

_DECODER = json.JSONDecoder()
_SPACE = pattern(r"[ \t\n\r]*")
_STRING = pattern(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_CHARACTER = pattern(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a surrogate pair
    r"|\\u[0-9a-fA-F]{4}|\\.|[^\\]"
)
_ESCAPED_NON_ASCII = pattern(r"\\u(?!00[0-7])")


@dataclass(frozen=True, slots=True)
class Value:
    """A decoded value and the characters ``start`` up to ``end`` that spell it."""

    start: int
    end: int
    value: Any


def decode(text: str) -> Value:
    """Decode a whole JSON text.

    Raises:
        json.JSONDecodeError: not valid JSON.
        ValueError: a number is too long.
        RecursionError: it is nested too deeply.
    """
    start = _skip_space(text, 0)
    value, end = _DECODER.raw_decode(text, start)
    rest = _skip_space(text, end)
    if rest != len(text):
        raise json.JSONDecodeError("Extra data", text, rest)
    return Value(start, end, value)


def members(text: str, value: Value) -> dict[str, Value]:
    """Return the values of a decoded object. Of a key that is there twice, the last one counts."""
    found: dict[str, Value] = {}
    at = _skip_space(text, value.start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip_space(text, at) + 1  # the colon
        found[key], at = _value(text, at)
    return found


def items(text: str, value: Value) -> Iterator[Value]:
    """Yield the values of a decoded array."""
    at = _skip_space(text, value.start + 1)
    while text[at] != "]":
        item, at = _value(text, at)
        yield item


def spelled_at(text: str, value: Value) -> list[int]:
    r"""Return where each character of a string, or of a list of strings, is spelled; then the end.

    >>> text = r'["a\\n", "b"]'
    >>> spelled_at(text, decode(text))
    [2, 3, 9, 10]
    """
    strings = list(items(text, value)) if isinstance(value.value, list) else [value]
    offsets = [
        character.start()
        for string in strings
        for character in _CHARACTER.finditer(text, string.start + 1, string.end - 1)
    ]
    return [*offsets, strings[-1].end - 1 if strings else value.end - 1]


def _value(text: str, at: int) -> tuple[Value, int]:
    """Return the value at ``at``, and where the next one or the closing bracket stands."""
    start = _skip_space(text, at)
    value, end = _DECODER.raw_decode(text, start)
    at = _skip_space(text, end)
    return Value(start, end, value), _skip_space(text, at + 1) if text[at] == "," else at


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


@dataclass(frozen=True, slots=True)
class Spelling:
    r"""How a JSON text writes characters: ``é`` or ``\u00e9``, ``/`` or ``\/``."""

    ascii_only: bool
    seen: Mapping[str, str]

    @classmethod
    def of(cls, source: str, document: str) -> Spelling:
        r"""Learn from the strings of ``source``; what is not in there, ``document`` tells.

        Non-ASCII characters are escaped where the document has none and escapes some.
        """
        seen = {
            json.loads(f'"{character}"'): character
            for string in _STRING.findall(source)
            for character in _CHARACTER.findall(string)
        }
        ascii_only = document.isascii() and _ESCAPED_NON_ASCII.search(document) is not None
        return cls(ascii_only, seen)

    def string(self, text: str) -> str:
        """Return ``text`` as a JSON string."""
        return f'"{"".join(self._character(character) for character in text)}"'

    def _character(self, character: str) -> str:
        known = self.seen.get(character)
        if known is not None:
            return known
        return json.dumps(character, ensure_ascii=self.ascii_only)[1:-1]
