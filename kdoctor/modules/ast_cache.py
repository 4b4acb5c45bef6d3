"""Cache syntax trees of imported modules until they are examined themselves.

An outline is made of what a file imports, the files beside it, and the gate looks at each file.
What nobody imported is not waited for: the tree that the gate was given goes when it is done.
"""

from __future__ import annotations

import ast

from kdoctor.documents.encoding import decode_python
from kdoctor.documents.layout import split_lines
from kdoctor.errors import FileProblem
from kdoctor.modules.module_summary import parsed

Lines = tuple[int, int]
"""The first and the last line, from 1."""

_CACHE_SIZE = 150_000  # characters of source, with what is looked at; a tree takes 70 times as much
_MAX_SOURCE_SIZE = _CACHE_SIZE // 2  # of one source: it would drive the others out


class AstCache:
    """Caches ``ast`` trees by source text; entries are never out of date."""

    def __init__(self) -> None:
        self._kept: dict[str, ast.Module | None] = {}
        self._size = 0

    def take(self, source: str) -> ast.Module | None:
        """Return the tree of a source and drop it from the cache; None if it is not Python."""
        if source not in self._kept:
            return self._parsed(source)
        self._size -= len(source)
        return self._kept.pop(source)

    def of_bytes(self, data: bytes, lines: Lines | None = None) -> ast.Module | None:
        """Return the tree of a file with these bytes, and cache it.

        Where only whole statements on some lines are asked for, and the tree is not there, it is
        theirs alone, and not kept.
        """
        try:
            source = decode_python(data).text
        except FileProblem:
            return parsed(data)
        if source in self._kept:
            return self._kept[source]
        if lines is not None:
            first, last = lines
            return parsed("".join(split_lines(source)[first - 1 : last]))
        tree = self._parsed(source)
        if len(source) <= _MAX_SOURCE_SIZE:
            self._kept[source] = tree
            self._size += len(source)
        return tree

    def forget(self) -> None:
        """Drop all trees."""
        self._kept.clear()
        self._size = 0

    def _parsed(self, source: str) -> ast.Module | None:
        """Parse, when there is room for one more tree of such a size."""
        while self._kept and self._size + len(source) > _CACHE_SIZE:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            self._size -= len(oldest)
        return parsed(source)
