"""Read back the settings that the ``get_config()`` of a class of the user's gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .frameworks import Side
from .functions import described
from .measurement import error_text, plain


def settings_of(subject: Any) -> list[str]:
    """Return the names in the ``get_config()`` of a class, without those of Keras."""
    code = getattr(vars(subject).get("get_config"), "__code__", None)
    if code is None:
        return []
    return sorted({text for each in code.co_consts for text in _texts_in(each)})


def config_of(made: Any, names: list[str], side: Side) -> dict[str, Any]:
    """Return those settings of an object that are numbers, texts, or lists of these.

    Both Keras versions write layers and functions each in its own way.
    """
    found: dict[str, Any] = {}
    try:
        config = made.get_config()
        for name in names:
            if name in config or not side.is_old:  # else it is no setting
                _take(found, name, plain(config.get(name)), side)
    except Exception as error:  # noqa: BLE001 - user code may raise anything
        if not side.is_old:
            return {_named(name): error_text(error) for name in names}
    return found


def _take(found: dict[str, Any], name: str, value: Any, side: Side) -> None:
    try:
        kept = described(value, side)
    except TypeError:
        return
    if not isinstance(kept, dict) and "<" not in str(kept):
        found[_named(name)] = kept.item() if getattr(kept, "size", 0) == 1 else kept


def _named(name: str) -> str:
    return f"{name} in its config"


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, tuple):
        for each in value:
            yield from _texts_in(each)
    elif isinstance(value, str) and value.isidentifier():
        yield value
