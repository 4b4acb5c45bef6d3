"""Builtin bases and metaclasses that add no members of interest."""

from __future__ import annotations

import ast
from typing import Final

EMPTY_BASES: Final = frozenset({
    *("abc.ABC", "typing.Generic", "typing.Protocol"),
    *("typing_extensions.Generic", "typing_extensions.Protocol"),
})  # fmt: skip
"""They define what Python itself reads, and no more. So does ``object``."""
EMPTY_METACLASSES: Final = frozenset({"abc.ABCMeta"})
"""They add nothing to the classes that they make. Nor does ``type``."""
MAKE_CLASSES: Final = frozenset({
    *("__call__", "__getattribute__", "__init__", "__new__", "__prepare__", "__setattr__", "mro"),
})  # fmt: skip
"""By what a metaclass may change its classes, and what they make."""


def unsubscripted(base: ast.expr) -> ast.expr:
    """Return ``Base`` of ``Base[int]``, which is the same class, and of ``*Base``."""
    inner = base.value if isinstance(base, ast.Starred) else base
    return inner.value if isinstance(inner, ast.Subscript) else inner
