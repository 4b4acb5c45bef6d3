"""Parse the texts of a file that may be hostile: bounded in size, in values and in depth."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

MAX_TEXT: Final = 32_000_000  # bytes of a configuration; the largest of Keras Applications has 1.5
_MAX_VALUES: Final = 1_500_000  # of a configuration: each takes some 100 bytes in memory
_MAX_DEPTH: Final = 400  # of models in models
_MAX_REMEMBERED: Final = 1_000_000  # bytes of a text


def parsed(text: str | bytes) -> dict[str, Any] | None:
    """Return the object that a JSON text holds, None where it is another value.

    The last few are remembered: the checkpoints of a training have one configuration, and get one
    object. Nobody changes it.

    Raises:
        ValueError: it is no JSON, or too large or too deep for a configuration.
    """
    return _remembered(text) if len(text) <= _MAX_REMEMBERED else _parsed(text)


def _parsed(text: str | bytes) -> dict[str, Any] | None:
    if len(text) > MAX_TEXT:
        raise ValueError(f"its configuration is larger than {MAX_TEXT // 1_000_000} MB")
    if isinstance(text, bytes):
        text = text.decode()
    if sum(map(text.count, "[{,")) > _MAX_VALUES:
        raise ValueError(f"its configuration has more than {_MAX_VALUES:,} values")
    made = json.loads(text)
    check_depth(made)
    return made if isinstance(made, dict) else None


_remembered: Final = lru_cache(maxsize=8)(_parsed)


def check_depth(made: object) -> None:
    """Check that code which follows a value down does not end in a RecursionError.

    Raises:
        ValueError: it is nested too deeply, or has too many values.
    """
    level, seen = [made], 0
    for _ in range(_MAX_DEPTH):
        inner = list[Any]()
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list | tuple):
                inner += each
            if len(inner) + seen > _MAX_VALUES:
                raise ValueError(f"its configuration has more than {_MAX_VALUES:,} values")
        if not inner:
            return
        level, seen = inner, seen + len(inner)
    raise ValueError("its configuration is nested too deeply")
