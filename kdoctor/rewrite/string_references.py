"""Names read through text: in ``eval``, doctests, type comments and notebook magics."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.syntax import Module

# What these read may come from anywhere; the others are called for many another reason.
_READ_ALL = ("eval", "exec", "globals")
_READ_BY_NAME = ("locals", "vars")
_PROMPT = pattern(r"^[ \t]*(?:>>>|\.\.\.)(.*)$", re.MULTILINE)
# Of a line for the shell IPython fills in these alone: `!ls {K.floatx()} $name`.
_FILLED_IN = pattern(r"\{[^{}]*\}|\$\w+")
_TYPE_COMMENT = pattern(r"#[ \t]*type:(.+)")
_WORD = pattern(r"(?<![\w.])[^\W\d]\w*")


def may_be_read_by_text(module: Module, name: str) -> bool:
    """Say whether text may read a name: ``eval``, a doctest, a type comment, a magic."""
    called = module.unbound_reads
    return (
        any(each in called for each in _READ_ALL)
        or (any(each in called for each in _READ_BY_NAME) and name in _written(module))
        or name in _in_doctests(module)
        or name in _in_magics(module)
        or name in _in_type_comments(module)
    )


@once
def _written(module: Module) -> frozenset[str]:
    return frozenset(word for text in _texts(module) for word in _WORD.findall(text))


@once
def _in_doctests(module: Module) -> frozenset[str]:
    """Return the names that the examples in docstrings read."""
    lines = (line for text in _texts(module) for line in _PROMPT.findall(text))
    return frozenset(word for line in lines for word in _WORD.findall(line))


@once
def _in_magics(module: Module) -> frozenset[str]:
    """Return the names that IPython's own syntax in a notebook reads: `K.sum?`, `!ls {x}`."""
    masked = ("".join(map(str, mask.parts)) for mask in module.unit.masks)
    read = (" ".join(_FILLED_IN.findall(text)) if "!" in text else text for text in masked)
    return frozenset(word for text in read for word in _WORD.findall(text))


@once
def _in_type_comments(module: Module) -> frozenset[str]:
    """Return the names that comments for type checkers read: `# type: (K.Tensor) -> None`."""
    return frozenset(
        word for text in _TYPE_COMMENT.findall(module.text) for word in _WORD.findall(text)
    )


def _texts(module: Module) -> Iterator[str]:
    return (each.value for each in module.nodes(cst.SimpleString))
