"""One file: bytes in, what matters of it for the migration out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import libcst as cst

from kdoctor.documents import Document
from kdoctor.engine.orders import Orders, Task
from kdoctor.engine.package import ProjectPackage
from kdoctor.errors import SyntaxProblem
from kdoctor.keras_api import knowledge
from kdoctor.migration.model import Tie
from kdoctor.migration.starting import later
from kdoctor.migration.ties import is_of_keras, ties_of
from kdoctor.model import Place, Span
from kdoctor.rules import words
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted
from kdoctor.target import Target


@dataclass(frozen=True, slots=True)
class OwnImport:
    """A module that is named by an import that runs as the file starts. ``at`` is its offset.

    It need not be of the tree.
    """

    at: int
    module: str
    level: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file has to do with Keras and TensorFlow, and what runs as it starts."""

    path: str
    is_module: bool  # other files can import it
    imports_keras: bool = False
    ties: Mapping[Tie, int] = field(default_factory=dict)
    imports: tuple[OwnImport, ...] = ()
    later: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)  # by unit

    def starts_with(self, place: Place) -> bool:
        """Say whether the code at ``place`` surely runs as the file is imported."""
        spans = self.later.get(place.unit)
        return spans is not None and not any(span.covers(place.span) for span in spans)


def read(orders: Orders, tasks: Sequence[Task]) -> list[Reading]:
    """Read files, for ``engine.workers``."""
    return [_reader(orders.target).read(task) for task in tasks]


@lru_cache(maxsize=1)
def _reader(target: Target) -> _Reader:
    return _Reader(target)


class _Reader:
    """Reads one file after another; each worker process has one."""

    def __init__(self, target: Target) -> None:
        self._knowledge = knowledge(target)
        self._package = ProjectPackage(self._knowledge.star_names)

    def read(self, task: Task) -> Reading:
        path = task.source.path
        try:
            return self._read(path, task.source.read())
        except Exception:  # noqa: BLE001 - the scan tells what is wrong with it
            return Reading(path, is_module=False)

    def _read(self, path: str, data: bytes) -> Reading:
        document = Document.parse(data, path)
        keras = False
        ties: Counter[Tie] = Counter()
        imports: list[OwnImport] = []
        spans: dict[int, tuple[Span, ...]] = {}
        is_whole = document.kind in ("python", "notebook")
        for unit in document.units:
            if not is_whole and not any(word in unit.text for word in words()):
                continue
            try:
                module = Module.parse(unit, self._knowledge, self._package)
                spans[unit.index] = later(module)
            except SyntaxProblem:
                continue
            keras = keras or any(map(is_of_keras, module.references))
            ties.update(ties_of(module))
            if is_whole:
                imports += _imports(module, spans[unit.index])
        return Reading(path, document.kind == "python", keras, dict(ties), tuple(imports), spans)


def _imports(module: Module, apart: Sequence[Span]) -> Iterator[OwnImport]:
    """Yield what is imported as the module starts, in source order."""
    for statement in dict.fromkeys(each.statement for each in module.imports):
        span = module.span(statement)
        if any(each.covers(span) for each in apart):
            continue
        if isinstance(statement, cst.Import):
            for alias in statement.names:
                yield OwnImport(span.start, dotted(alias.name) or "", 0)
            continue
        name, level = dotted(statement.module) or "", len(statement.relative)
        yield OwnImport(span.start, name, level)
        if not isinstance(statement.names, cst.ImportStar):
            for alias in statement.names:
                below = dotted(alias.name) or ""
                yield OwnImport(span.start, f"{name}.{below}" if name else below, level)
