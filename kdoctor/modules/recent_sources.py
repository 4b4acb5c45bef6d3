"""The sources of project files that were lately examined, or that others were asked about.

What is found out of a file serves both: whoever comes second makes no tree of it again. Trees are
much larger than what is told of them, so that few of Python's are kept, and none when a scan is
over; none of libcst's outlives the file that led to it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from kdoctor.documents import Document, Unit
from kdoctor.documents.encoding import decode_python
from kdoctor.documents.python_source import read_python
from kdoctor.errors import FileProblem, SyntaxProblem
from kdoctor.modules.ast_cache import AstCache
from kdoctor.modules.dependencies import Dependencies
from kdoctor.modules.module_summary import parsed
from kdoctor.modules.name_uses import NameUses
from kdoctor.syntax.quick_facts import QuickFacts

if TYPE_CHECKING:
    from kdoctor.syntax.module import Module
    from kdoctor.syntax.project_types import Noted, Project
    from kdoctor.syntax.quick_facts import Stars
    from kdoctor.syntax.type_oracle import TypeOracle

_T = TypeVar("_T")
_PYTHON: Final = (".py", ".pyw")
_CACHE_SIZE: Final = 150_000  # characters of source: its trees take a hundred times as much
_MAX_LIGHT: Final = 2 * _CACHE_SIZE  # of those that only Python has parsed


class _Recent(Generic[_T]):
    """The last things by key, of so many characters of source."""

    def __init__(self, most: int = _CACHE_SIZE) -> None:
        self._most = most
        self._kept: dict[object, tuple[_T, int]] = {}
        self._size = 0

    def get(self, key: object) -> _T | None:
        """Return what is kept under a key, if anything."""
        if key not in self._kept:
            return None
        self._kept[key] = self._kept.pop(key)  # the last that was asked for
        return self._kept[key][0]

    def keep(self, key: object, value: _T, size: int) -> None:
        """Keep something of the size of its source."""
        self._size += size - self._kept.pop(key, (value, 0))[1]
        while self._kept and self._size > self._most:
            self._size -= self._kept.pop(next(iter(self._kept)))[1]
        self._kept[key] = value, size

    def forget(self) -> None:
        """Drop all."""
        self._kept.clear()
        self._size = 0


class _Notes:
    """Notes all that was looked at to find something out of a source: see ``Noted``.

    Some of it is found only once, and rests on the same for all who ask.
    """

    def __init__(self, trace: Dependencies) -> None:
        self._trace = trace
        self._seen: set[str] = set()

    def __call__(self, ask: Callable[[], _T]) -> _T:
        """Return what ``ask`` does."""
        if not self._trace.listens:
            return ask()
        with self._trace.isolated() as seen:
            answer = ask()
        self._seen |= seen
        return answer

    def tell(self) -> None:
        """Tell whoever asks now."""
        self._trace.add(self._seen)


class RecentSource(NameUses):
    """One unit of a project file."""

    def __init__(self, path: str, tree: ast.Module, text: str, unit: Unit | None = None) -> None:
        super().__init__(path, 0 if unit is None else unit.index, tree, text)
        self._unit = unit

    def as_unit(self) -> Unit:
        """Return it as a unit; of a Python file it is the only one."""
        return self._unit or read_python(self.text, self.path)


class RecentSources:
    """Reads project files, and keeps those that were asked for last."""

    def __init__(self, trace: Dependencies, trees: AstCache) -> None:
        self._trace = trace
        self._trees = trees
        self._read = _Recent[Sequence[RecentSource]](_MAX_LIGHT)  # by path
        # By path and text; the modules, of what one examined file led to, by oracle, too.
        self._facts = _Recent[tuple[QuickFacts, _Notes]](_MAX_LIGHT)
        self._modules: _Recent[tuple[Module, _Notes]] = _Recent()
        self._examined: tuple[str, str, ast.Module | None] = "", "", None  # the last of all

    def of(self, path: str) -> Sequence[RecentSource] | None:
        """Return the units of a file, None if it cannot be read, or one is no Python."""
        known = self._read.get(path)
        if known is not None:
            self._trace.add((path,))
            return known
        data = self._trace.read(path)
        found = None if data is None else self._sources(path, data)
        if found is not None:
            self._read.keep(path, found, sum(len(each.text) for each in found))
        return found

    def tree(self, path: str, text: str) -> ast.Module | None:
        """Return the tree of a source that is to be examined, None if it is no Python."""
        sources = self._read.get(path) or ()
        known = next((each.tree for each in sources if each.text == text), None)
        tree = known or self._trees.take(text)
        self._examined = path, text, tree
        return tree

    def facts(
        self, path: str, text: str, tree: ast.Module, package: Project, stars: Stars
    ) -> QuickFacts:
        """Return the quick facts of a source; ``path`` is absolute."""
        known = self._facts.get((path, text))
        if known is None or known[0].tree is not tree:
            notes = _Notes(self._trace)
            known = QuickFacts(tree, path, package, stars, notes), notes
            self._facts.keep((path, text), known, len(text))
        facts, notes = known
        notes.tell()
        return facts

    def drop_modules(self) -> None:
        """Drop the modules: none outlives the file that led to it."""
        self._modules.forget()

    def module(
        self, source: RecentSource, package: Project, oracle: TypeOracle
    ) -> tuple[Module, Noted] | None:
        """Return a source as a module, to be asked through the other; None if it is no Python."""
        key = source.path, source.text, oracle
        known = self._modules.get(key)
        if known is None:
            notes = _Notes(self._trace)
            module = notes(partial(self._parsed, source, package, oracle))
            if module is None:
                return None
            known = module, notes
            self._modules.keep(key, known, len(source.text))
        known[1].tell()
        return known

    def _parsed(self, source: RecentSource, package: Project, oracle: TypeOracle) -> Module | None:
        from kdoctor.syntax.module import Module  # noqa: PLC0415 - it imports libcst

        try:
            return Module.parse(source.as_unit(), oracle, package, source.tree)
        except SyntaxProblem:
            return None

    def forget(self) -> None:
        """Drop all."""
        for each in (self._read, self._facts, self._modules):
            each.forget()
        self._examined = "", "", None

    def _sources(self, path: str, data: bytes) -> Sequence[RecentSource] | None:
        try:
            if path.endswith(_PYTHON):
                text = decode_python(data).text
                facts = self._facts.get((path, text))
                tree = self._examined[2] if facts is None else facts[0].tree
                if facts is None and self._examined[:2] != (path, text):
                    tree = self._trees.of_bytes(data)
                return None if tree is None else [RecentSource(path, tree, text)]
            units = Document.parse(data, path).units
        except FileProblem:
            return None
        trees = [parsed(each.text) for each in units]
        found = zip(units, trees, strict=True)
        made = [RecentSource(path, tree, unit.text, unit) for unit, tree in found if tree]
        return made if len(made) == len(trees) else None
