"""Decide from a file's bytes whether it may matter: nothing is parsed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol

from msgspec import Struct

from kdoctor.documents.encoding import as_searched
from kdoctor.documents.notebook_words import code_of
from kdoctor.documents.reading import read_regular
from kdoctor.lazy_regex import pattern
from kdoctor.modules.dependencies import Dependencies, Seen
from kdoctor.modules.file_stamp import file_state
from kdoctor.modules.module_finder import ModuleFinder
from kdoctor.suppression.may_have_comments import may_have_directives

# `from ..a import b` up to its names or their parenthesis, and `import a, b`. Both begin with a
# literal, for which bytes are searched fast; that it begins a word is asked after it. Between two
# that repeat stands what neither takes, so that no text makes this slow. No group is possessive:
# Python before 3.11.5 forgets where it was when one fails. A name may hold letters beyond ASCII.
_BLANK = rb"[ \t\f]*+(?:\\\r?\n[ \t\f]*+)*"
_REST = rb"[^\n\\;#(]*+(?:\\\r?\n[^\n\\;#(]*+)*"
_FROM = pattern(
    rb"from(?<!\wfrom)" + _BLANK + rb"(?:(?P<dots>\.++)" + _BLANK
    + rb")?(?:(?P<module>(?!import\b)[\w.\x80-\xff]++)" + _BLANK
    + rb")?(?P<import>import)\b" + _BLANK + rb"(?P<names>\(|" + _REST + rb")"
)  # fmt: skip
_IMPORT = pattern(rb"import(?<!\wimport)\b(?P<modules>" + _REST + rb")")
_COMMENT = pattern(rb"#[^\n]*+")
_NAME = pattern(rb"[\w\x80-\xff]+|\*")
_DOTTED = pattern(rb"[\w.\x80-\xff]+")
_NOTEBOOK = ".ipynb"
_MAX_NAME_LIST_BYTES = 50_000  # bytes of names in parentheses
_FACTS_CACHE_SIZE = 5_000  # files; memory must not grow with the tree
_TRACE_CACHE_SIZE = 300  # folders that were looked at: those of several projects


class FileWords(Struct, frozen=True):
    """What a file's bytes show: its size, words and imports.

    ``size`` counts them. ``speaks``: they hold a word; ``marked``: they may hold a comment for
    kdoctor. ``imports`` are the own modules that they import, not asked of one that speaks.
    """

    size: int
    speaks: bool
    marked: bool = False
    imports: tuple[str, ...] = ()


_NONE = FileWords(0, speaks=False)


class PrefilterMemo(Protocol):
    """Cached facts of files, by absolute path, while the files are unchanged."""

    def facts(self, path: str) -> FileWords | None:
        """Return the cached facts of a file, None if missing or out of date."""

    def store_facts(self, path: str, facts: FileWords, seen: Seen) -> None:
        """Store the facts of a file and their dependencies."""


class Prefilter:
    """Admits files that contain one of ``words`` or import, transitively, one that does.

    A module of the project can bring Keras into a file that never says so. Which names it
    really exports is asked later, of the few files that get so far. The words are those of
    ``rules.words``.
    """

    def __init__(self, words: Iterable[str], memory: PrefilterMemo | None = None) -> None:
        self._words = [word.encode().split() for word in words]
        self._memory = memory
        self._trace = Dependencies(listens=memory is not None)
        self._tree = ModuleFinder(trace=self._trace)
        self._facts: dict[str, FileWords] = {}
        self._reaches: dict[str, bool] = {}

    def forget(self) -> None:
        """Drop all facts."""
        self._facts.clear()
        self._reaches.clear()
        self._forget_folders()

    def _forget_folders(self) -> None:
        self._tree.forget()
        self._trace.forget()

    def admits(self, path: str, data: bytes) -> bool:
        """Say whether a rule could fire in the file with these bytes."""
        own = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
        return self.admits_with(own, self.of_data(own, data))

    def admits_with(self, path: str, facts: FileWords) -> bool:
        """Say whether a rule could fire in the file with these facts."""
        if len(self._facts) > _FACTS_CACHE_SIZE:
            self._facts.clear()
            self._reaches.clear()
        self._facts[path] = facts
        return facts.speaks or self._reaches_words(path)

    def of_file(self, path: str) -> FileWords:
        """Return the facts of a file, given by its absolute path.

        Raises:
            OSError: it cannot be read.
        """
        known = self._facts.get(path)
        if known is not None and known is not _NONE:
            return known
        if self._memory is None:
            return self.of_data(path, read_regular(path))
        return self._memory.facts(path) or self._new_facts(path, self._memory)

    def _new_facts(self, path: str, memory: PrefilterMemo) -> FileWords:
        state, data = file_state(path)
        with self._trace.isolated() as dependencies:
            facts = self.of_data(path, data)
        memory.store_facts(path, facts, {path: state, **self._trace.seen(dependencies)})
        return facts

    def of_data(self, path: str, data: bytes) -> FileWords:
        """Return the facts of a file's bytes."""
        size, data = len(data), as_searched(data)
        speaks = self._mentions_words(data)
        if not speaks and path.endswith(_NOTEBOOK):
            # JSON may spell a letter by its number, and a list may part a word.
            code = code_of(data)
            speaks = code is None or self._mentions_words(code)
        if not speaks and b"\0" in data:
            speaks = True  # it is no text, whatever it is called: let its reader say so
        imports = () if speaks else tuple(dict.fromkeys(self._imports(path, data)))
        return FileWords(size, speaks, may_have_directives(data), imports)

    def _mentions_words(self, data: bytes) -> bool:
        return any(all(word in data for word in each) for each in self._words)

    def _reaches_words(self, start: str) -> bool:
        came_from = {start: start}
        waiting = [start]
        while waiting:
            path = waiting.pop()
            reaches = self._reaches.get(path)
            if reaches is False:
                continue
            facts = self._facts_of(path)
            if reaches or facts.speaks:
                while path != came_from[path]:
                    self._reaches[path] = True
                    path = came_from[path]
                self._reaches[path] = True
                return True
            for target in facts.imports:
                if target not in came_from:
                    came_from[target] = path
                    waiting.append(target)
        self._reaches.update(dict.fromkeys(came_from, False))
        return False

    def _facts_of(self, path: str) -> FileWords:
        facts = self._facts.get(path)
        if facts is None:
            try:
                facts = self.of_file(path)
            except OSError:
                facts = _NONE
            self._facts[path] = facts
        return facts

    def _imports(self, path: str, data: bytes) -> Iterator[str]:
        """Yield the files of the project that the file may import; some of it is no import."""
        if self._trace.size > _TRACE_CACHE_SIZE:
            self._forget_folders()
        may_hold = partial(self._tree.may_hold, path)
        for level, module in dict.fromkeys(_modules(data, may_hold)):
            found = self._tree.find(path, module, level)
            if found is not None:
                yield found


def _modules(data: bytes, may_hold: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Yield each module that may be imported as (leading dots, dotted name)."""
    for level, module, names in imports_of_bytes(data, may_hold):
        yield level, module
        for name in names:
            yield level, f"{module}.{name}" if module else name


def imports_of_bytes(
    data: bytes, may_hold: Callable[[str], bool]
) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield each module that may be imported as (leading dots, dotted name, names taken from it).

    Most imports are of other people's packages: what is not in one that ``may_hold`` is passed over
    before it is taken apart. Of ``import a.b`` both modules are yielded, without names; a star is a
    name.
    """
    ends = set()
    for found in _FROM.finditer(data):
        ends.add(found.start("import"))
        level, module = len(found["dots"] or b""), _text(found["module"] or b"")
        if not (level or may_hold(module.partition(".")[0])):
            continue
        names = found["names"]
        if names == b"(":
            names = _COMMENT.sub(b"", data[found.end() : found.end() + _MAX_NAME_LIST_BYTES])
            names = names.partition(b")")[0]
        yield level, module, tuple(map(_text, _NAME.findall(names)))
    for found in _IMPORT.finditer(data):
        if found.start() in ends:
            continue
        for dotted in _DOTTED.findall(found["modules"]):
            parts = _text(dotted).strip(".").split(".")
            if may_hold(parts[0]):
                yield from ((0, ".".join(parts[:end]), ()) for end in range(1, len(parts) + 1))


def _text(name: bytes) -> str:
    return name.decode(errors="replace")
