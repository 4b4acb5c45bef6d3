"""Analyse one file: imports, coupling to TensorFlow, and what runs on import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kdoctor.documents import Document
from kdoctor.engine.rule_prefilter import RulePrefilter
from kdoctor.engine.schedule.task import ScanOptions, Task
from kdoctor.errors import SyntaxProblem
from kdoctor.keras_api import oracle
from kdoctor.model import Finding
from kdoctor.modules.exports import ProjectPackage
from kdoctor.progress.import_roots import ImportRoot, OwnImport, start_of
from kdoctor.progress.model import Coupling
from kdoctor.progress.tensorflow_coupling import is_of_keras, ties_of
from kdoctor.rules import words
from kdoctor.syntax import Module
from kdoctor.target import Target

_CALLED_STUB = "called-stub"  # the name of the rule


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file has to do with Keras and TensorFlow, and what runs as it starts."""

    path: str
    is_module: bool  # other files can import it
    imports_keras: bool = False
    ties: Mapping[Coupling, int] = field(default_factory=dict)
    imports: tuple[OwnImport, ...] = ()
    starts: Mapping[int, ImportRoot] = field(default_factory=dict)  # by unit

    def stops_at(self, finding: Finding) -> bool:
        """Say whether the code of a finding surely runs, and raises, as the file is imported."""
        start, span = self.starts.get(finding.place.unit), finding.place.span
        if start is None or not start.runs(span):
            return False
        # A stub raises when it is called; a class is made of it without a word.
        return not (finding.name == _CALLED_STUB and start.has_base(span))


def read(scan_options: ScanOptions, tasks: Sequence[Task]) -> list[Reading]:
    """Read files, for ``engine.workers``."""
    return [_reader(scan_options.target).read(task) for task in tasks]


def forget() -> None:
    """Forget what is known of the project's modules: they may have changed since the last call."""
    _reader.cache_clear()


@lru_cache(maxsize=1)
def _reader(target: Target) -> _Reader:
    return _Reader(target)


class _Reader:
    """Reads one file after another; each worker process has one."""

    def __init__(self, target: Target) -> None:
        self._oracle = oracle(target)
        self._package = ProjectPackage(self._oracle.star_names)
        self._gate = RulePrefilter(words(), {"": lambda _: True}, self._package)

    def read(self, task: Task) -> Reading:
        path = task.source.path
        try:
            return self._read(path, task.source.read())
        except Exception:  # noqa: BLE001 - the scan tells what is wrong with it
            return Reading(path, is_module=False)

    def _read(self, path: str, data: bytes) -> Reading:
        document = Document.parse(data, path)
        keras = False
        ties: Counter[Coupling] = Counter()
        starts: dict[int, ImportRoot] = {}
        for unit in document.units:
            start = start_of(unit.text)
            if start is not None:
                starts[unit.index] = start
            tree = self._package.trees.take(unit.text)
            if not self._gate.admits(path, unit.text, tree):
                continue
            try:
                module = Module.parse(unit, self._oracle, self._package, tree)
            except SyntaxProblem:
                continue
            keras = keras or any(map(is_of_keras, module.references))
            ties.update(ties_of(module))
        is_whole = document.kind in ("python", "notebook")
        imports = [each for start in starts.values() for each in start.imports if is_whole]
        return Reading(path, document.kind == "python", keras, dict(ties), tuple(imports), starts)
