"""Which files may be worth a look, by their bytes alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kdoctor.engine.tree import Tree

# What stands on the (continued) line behind a from or an import. Nothing in it can be matched in
# two ways: no text makes this slow.
_IMPORT = re.compile(rb"\b(?:from|import)\b((?:\\\r?\n|[^\n\\;#(])*+)")
_NAME = re.compile(rb"\w+")


class Prefilter:
    """Goes by the bytes of a file alone. ``words``: a file must speak of one for a rule to fire."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = [word.encode() for word in words]
        self._tree = Tree()

    def admits(self, path: str, data: bytes) -> bool:
        """Say whether a rule could fire: a word occurs, or the project's own modules are used."""
        return any(word in data for word in self._words) or self._imports_own_modules(path, data)

    def _imports_own_modules(self, path: str, data: bytes) -> bool:
        named: set[bytes] = set()
        for modules in _IMPORT.findall(data):
            if modules.lstrip(b" \t\f\\\r\n").startswith(b"."):
                return True
            named.update(_NAME.findall(modules))
        return any(self._tree.owns(path, name.decode()) for name in named)
