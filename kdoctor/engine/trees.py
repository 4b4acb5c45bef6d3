"""Syntax trees of the sources that were parsed last: a module is imported near where it stands.

The gate looks at each file, and an outline is made of what it imports: the files beside it, which
come next.
"""

from __future__ import annotations

import ast

from kdoctor.documents.encoding import decode_python
from kdoctor.engine.outline import parsed
from kdoctor.errors import FileProblem

_MOST = 150_000  # characters of source; a tree takes 40 times as much memory
_LARGEST = _MOST // 4  # of one source: it would drive the others out


class Trees:
    """Parses by Python's own ``ast``; what a text means never changes, so none is out of date."""

    def __init__(self) -> None:
        self._known: dict[str, ast.Module | None] = {}
        self._size = 0

    def of(self, source: str) -> ast.Module | None:
        """Return the tree of a source, which nobody may change; None where Python has none."""
        if source in self._known:
            return self._known[source]
        tree = parsed(source)
        if len(source) <= _LARGEST:
            self._known[source] = tree
            self._size += len(source)
        while self._size > _MOST:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._size -= len(oldest)
        return tree

    def of_bytes(self, data: bytes) -> ast.Module | None:
        """Return the tree of a file with these bytes."""
        try:
            text = decode_python(data).text
        except FileProblem:
            return parsed(data)
        return self.of(text)
