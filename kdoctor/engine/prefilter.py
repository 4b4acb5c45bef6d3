"""Which files may be worth a look, by their bytes alone: no file is parsed for it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kdoctor.engine.tree import Tree

# `from ..a import b` up to its names or their parenthesis, or `import a, b`. No quantifier gives
# back what it took, so that no text makes this slow.
_BLANK = rb"(?:[ \t\f]|\\\r?\n)*+"
_REST = rb"(?:\\\r?\n|[^\n\\;#(])*+"
_IMPORT = re.compile(
    rb"\b(?:from" + _BLANK + rb"(?P<dots>\.*+)" + _BLANK + rb"(?P<module>(?:(?!import\b)[\w.]++)?+)"
    + _BLANK + rb"import\b" + _BLANK + rb"(?P<names>\(|" + _REST + rb")"
    rb"|import\b(?P<modules>" + _REST + rb"))"
)  # fmt: skip
_COMMENT = re.compile(rb"#[^\n]*+")
_NAME = re.compile(rb"\w+")
_DOTTED = re.compile(rb"[\w.]+")
_LONGEST_LIST = 50_000  # bytes of names in parentheses
_REMEMBERED = 100_000  # files; memory must not grow with the tree


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a file's bytes say: whether they hold a word, and which own modules they import."""

    speaks: bool
    imports: tuple[str, ...]


class Prefilter:
    """Admits a file that holds one of ``words``, or imports a module that does, however far away.

    A module of the project can bring Keras into a file that never says so. Which names it
    really exports is asked later, of the few files that get so far.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = [word.encode() for word in words]
        self._tree = Tree()
        self._facts: dict[str, _Facts] = {}
        self._reaches: dict[str, bool] = {}

    def admits(self, path: str, data: bytes) -> bool:
        """Say whether a rule could fire in the file with these bytes."""
        if any(word in data for word in self._words):
            return True
        own = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
        if len(self._facts) > _REMEMBERED:
            self._facts.clear()
            self._reaches.clear()
        self._facts[own] = self._read(own, data)
        return self._reaches_words(own)

    def _reaches_words(self, start: str) -> bool:
        came_from = {start: start}
        waiting = [start]
        while waiting:
            path = waiting.pop()
            if self._reaches.get(path) is False:
                continue
            if self._reaches.get(path) or self._facts_of(path).speaks:
                while path != came_from[path]:
                    self._reaches[path] = True
                    path = came_from[path]
                self._reaches[path] = True
                return True
            for target in self._facts_of(path).imports:
                if target not in came_from:
                    came_from[target] = path
                    waiting.append(target)
        self._reaches.update(dict.fromkeys(came_from, False))
        return False

    def _facts_of(self, path: str) -> _Facts:
        facts = self._facts.get(path)
        if facts is None:
            try:
                facts = self._read(path, Path(path).read_bytes())
            except OSError:
                facts = _Facts(speaks=False, imports=())
            self._facts[path] = facts
        return facts

    def _read(self, path: str, data: bytes) -> _Facts:
        if any(word in data for word in self._words):
            return _Facts(speaks=True, imports=())
        return _Facts(speaks=False, imports=tuple(dict.fromkeys(self._imports(path, data))))

    def _imports(self, path: str, data: bytes) -> Iterator[str]:
        """Yield the files of the project that the file may import; some of it is no import."""
        for level, module in dict.fromkeys(_modules(data)):
            found = self._tree.find(path, module, level)
            if found is not None:
                yield found


def _modules(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield each module that may be imported as (leading dots, dotted name)."""
    for found in _IMPORT.finditer(data):
        if found["modules"] is not None:
            for dotted in _DOTTED.findall(found["modules"]):
                parts = _text(dotted).strip(".").split(".")
                yield from ((0, ".".join(parts[:end])) for end in range(1, len(parts) + 1))
            continue
        level, module = len(found["dots"]), _text(found["module"])
        yield level, module
        names = found["names"]
        if names == b"(":
            names = _COMMENT.sub(b"", data[found.end() : found.end() + _LONGEST_LIST])
            names = names.partition(b")")[0]
        for name in _NAME.findall(names):
            yield level, f"{module}.{_text(name)}" if module else _text(name)


def _text(name: bytes) -> str:
    return name.decode(errors="replace")
