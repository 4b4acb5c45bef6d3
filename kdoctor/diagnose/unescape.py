"""Restore messages as Python wrote them, undoing the escapes of mail, Markdown and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# Typed without quotes around the whole, `kdoctor explain module 'keras' has …`: a shell eats the
# inner ones.
_UNQUOTED: Final = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (r"\bmodule ([\w.]+) has no attribute ([\w.]+)", r"module '\1' has no attribute '\2'"),
        (r"(?<!type )\b(\w+) object has no attribute (\w+)", r"'\1' object has no attribute '\2'"),
        (r"\btype object (\w+) has no attribute (\w+)", r"type object '\1' has no attribute '\2'"),
        (r"\bcannot import name ([\w.]+) from ([\w.]+)", r"cannot import name '\1' from '\2'"),
        (r"\bNo module named ([\w.]*\w)", r"No module named '\1'"),
        (r"\b(keyword argument|values for argument) (\w+)", r"\1 '\2'"),
    )
)
# Markdown writes `\_` for `_`. A path of Windows has other backslashes, too.
_ESCAPED: Final = re.compile(r"\\([_*`\[\]])")
_MAX_TEXT_LENGTH: Final = 200_000  # characters that anyone types or copies
_CURLY: Final = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def restored(text: str) -> str:
    r"""Return the text with straight quotes where there were some, and no backslash of Markdown.

    >>> restored("module keras.backend has no attribute sum")
    "module 'keras.backend' has no attribute 'sum'"
    >>> restored(r"'Functional' object has no attribute '\_make\_predict\_function'")
    "'Functional' object has no attribute '_make_predict_function'"
    """
    return text if len(text) > _MAX_TEXT_LENGTH else "\n".join(_lines(text.translate(_CURLY)))


def _lines(text: str) -> Iterator[str]:
    is_markdown = text.count("\\") == len(_ESCAPED.findall(text))
    for line in text.split("\n"):
        found = _ESCAPED.sub(r"\1", line) if is_markdown else line
        for pattern, put in _UNQUOTED:
            found = pattern.sub(put, found)
        yield found
