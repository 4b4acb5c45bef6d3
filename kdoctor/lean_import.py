"""libcst, imported without the methods that its classes throw away as soon as they are made.

``CSTNode`` gives each class of nodes a ``__repr__``, ``__eq__`` and ``__hash__`` of its own, "to
prevent dataclass from generating" them. ``dataclass`` writes and compiles them all the same, and
drops them when it finds them there: a tenth of the time that ``import libcst`` takes.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any


def import_libcst() -> None:
    """Import libcst, where that was not done yet; the classes are just what they always are."""
    if "libcst" in sys.modules:
        return
    usual = dataclasses.dataclass

    def lean(cls: type | None = None, /, **options: Any) -> Any:
        if cls is None:
            return lambda cls: lean(cls, **options)
        if all(cls.__dict__.get(name) for name in ("__repr__", "__eq__", "__hash__")):
            options = {"repr": False, "eq": False, **options}
        return usual(cls, **options)

    vars(dataclasses)["dataclass"] = lean  # what another thread makes meanwhile is not changed
    try:
        import libcst  # noqa: F401, PLC0415
    finally:
        vars(dataclasses)["dataclass"] = usual
