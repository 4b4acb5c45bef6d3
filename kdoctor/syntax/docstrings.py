"""Parameter types in docstrings, in the three common styles.

Google's ``model (tf.keras.Model): what to look into``, NumPy's ``model : tf.keras.Model`` and
Sphinx' ``:type model: tf.keras.Model`` or ``:param tf.keras.Model model: …``.
"""

from __future__ import annotations

import re
from functools import lru_cache

import libcst as cst

from kdoctor.syntax.literals import literal

_NAME = r"(?P<name>\w+)"
_TYPE = r"(?P<type>[~`]*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*`*)"
# Looked for at the start of each line; what they take may go on in the next.
_STYLES = tuple(
    (mark, rf"(?m)^(?=[^\S\n]*{style})")
    for mark, style in (
        ("(", rf"(?:[-*]\s+)?{_NAME}\s*\({_TYPE}(?:,\s*optional)?\)\s*:"),
        (":", rf"{_NAME}\s*:\s*{_TYPE}(?:,\s*optional)?\s*$"),
        (":type", rf":type\s+{_NAME}:\s*{_TYPE}\s*$"),
        (":param", rf":param\s+{_TYPE}\s+{_NAME}:"),
    )
)


class Docstrings:
    """The docstrings of a module's functions, each evaluated once."""

    def __init__(self) -> None:
        self._texts: dict[cst.FunctionDef, str | None] = {}

    def type_of(self, function: cst.FunctionDef, parameter: str) -> str | None:
        """Return the dotted name of a parameter's documented type."""
        if function not in self._texts:
            self._texts[function] = _docstring_of(function)
        return documented_type(self._texts[function], parameter)


def _docstring_of(function: cst.FunctionDef) -> str | None:
    """Return what libcst's ``get_docstring(clean=False)`` does, by way of ``literal``."""
    first = next(iter(function.body.body), None)
    if isinstance(first, cst.SimpleStatementLine):
        first = next(iter(first.body), None)
    if not isinstance(first, cst.Expr):
        return None
    value = literal(first.value)
    return value if isinstance(value, str) else None


def documented_type(text: str | None, parameter: str) -> str | None:
    """Return the dotted name of a parameter's type in a docstring."""
    if not text or parameter not in text:
        return None
    for types in _types_in(text):
        found = types.get(parameter)
        if found:
            return found[0].strip("~`") if len(found) == 1 else None
    return None


@lru_cache(maxsize=16)  # it is asked about all parameters of one function, one after the other
def _types_in(docstring: str) -> tuple[dict[str, list[str]], ...]:
    """Return the types by parameter, for each style."""
    # Few have the marks of all styles, and an expression takes longer to compile than to search.
    return tuple(_types_by_name(style, docstring) for mark, style in _STYLES if mark in docstring)


def _types_by_name(style: str, docstring: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    seen: set[int] = set()
    for match in re.finditer(style, docstring):
        if match.start("name") not in seen:
            seen.add(match.start("name"))
            found.setdefault(match["name"], []).append(match["type"])
    return found
