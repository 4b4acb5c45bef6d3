"""Find the first error that stops an import, following imports as Python would."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kdoctor.model import Finding, Severity
from kdoctor.modules.module_finder import ModuleFinder
from kdoctor.progress.model import Stop
from kdoctor.progress.reading import Reading
from kdoctor.rules import rule_by_code

# An error of these is met where it stands. One of behaviour may come later, in training.
_MET_WHERE_WRITTEN = frozenset({"names", "members", "arguments", "idioms", "saving", "environment"})


class FirstImportErrors:
    """The start of every file: what it imports and what fails there, in order."""

    def __init__(self, readings: Iterable[Reading], findings: Iterable[Finding]) -> None:
        self._readings = {os.path.abspath(each.path): each for each in readings}  # noqa: PTH100
        self._errors: dict[str, list[Finding]] = {}
        for finding in findings:
            key = os.path.abspath(finding.place.path)  # noqa: PTH100
            reading = self._readings.get(key)
            if reading is not None and _stops(finding) and reading.stops_at(finding):
                self._errors.setdefault(key, []).append(finding)
        self._tree = ModuleFinder()
        self._steps: Mapping[str, Sequence[Finding | str]] = {
            key: tuple(self._steps_of(key, reading)) for key, reading in self._readings.items()
        }

    def stops(self) -> tuple[Stop, ...]:
        """Return the first errors, those that stop most files first."""
        ways: dict[Finding, list[tuple[str, ...]]] = {}
        for key in sorted(self._readings):
            met = self._first(key)
            if met is not None:
                finding, way = met
                ways.setdefault(finding, []).append(
                    tuple(self._readings[each].path for each in way)
                )
        stops = [Stop(finding, tuple(each)) for finding, each in ways.items()]
        return tuple(sorted(stops, key=lambda stop: (-len(stop.ways), stop.finding.place)))

    def entries(self) -> frozenset[str]:
        """Return the files that no other file imports as it starts."""
        imported = {
            step
            for key, steps in self._steps.items()
            for step in steps
            if isinstance(step, str) and step != key
        }
        return frozenset(
            reading.path for key, reading in self._readings.items() if key not in imported
        )

    def starting_errors(self, path: str) -> Sequence[Finding]:
        """Return the errors of a file itself that stop it as it starts."""
        return self._errors.get(os.path.abspath(path), ())  # noqa: PTH100

    def _first(self, start: str) -> tuple[Finding, tuple[str, ...]] | None:
        """Return the error that an import of ``start`` meets first, and the way to it.

        Each module runs once, however many import it, as in Python; a ring of imports ends.
        """
        loaded: set[str] = set()
        stack: list[tuple[str, Iterator[Finding | str]]] = []

        def load(key: str) -> None:
            loaded.add(key)
            stack.append((key, iter(self._steps[key])))

        for package in self._packages_of(start):
            if package not in loaded:
                load(package)
                met = self._run(stack, loaded)
                if met is not None:
                    finding, way = met
                    return finding, way if way[0] == start else (start, *way)
        if start in loaded:
            return None
        load(start)
        return self._run(stack, loaded)

    def _run(
        self, stack: list[tuple[str, Iterator[Finding | str]]], loaded: set[str]
    ) -> tuple[Finding, tuple[str, ...]] | None:
        while stack:
            step = next(stack[-1][1], None)
            if step is None:
                stack.pop()
            elif isinstance(step, Finding):
                return step, tuple(key for key, _ in stack)
            elif step not in loaded:
                loaded.add(step)
                stack.append((step, iter(self._steps[step])))
        return None

    def _packages_of(self, key: str) -> Iterator[str]:
        """Yield the ``__init__.py`` that are run before a module of a package, outermost first."""
        if not self._readings[key].is_module:
            return
        found: list[str] = []
        folder = os.path.dirname(key)  # noqa: PTH120
        while os.path.isfile(init := f"{folder}{os.sep}__init__.py"):  # noqa: PTH113
            found.append(init)
            parent = os.path.dirname(folder)  # noqa: PTH120
            if parent == folder:
                break
            folder = parent
        yield from (each for each in reversed(found) if each != key and each in self._readings)

    def _steps_of(self, key: str, reading: Reading) -> Iterator[Finding | str]:
        """Yield what a file does as it starts: errors, and files that it imports, in order."""
        errors: list[tuple[int, int, Finding | str]] = [
            (each.place.span.start, 1, each) for each in self._errors.get(key, ())
        ]
        imports: list[tuple[int, int, Finding | str]] = [
            (each.at, 0, file)
            for each in reading.imports
            for file in self._files(key, each.module, each.level)
        ]
        steps = sorted([*errors, *imports], key=lambda step: step[:2])
        yield from (step for _, _, step in steps)

    def _files(self, importer: str, module: str, level: int) -> Iterator[str]:
        """Yield the files that are run for ``import a.b.c``: those of a, a.b and a.b.c."""
        parts = module.split(".") if module else []
        for end in range(0 if level else 1, len(parts) + 1):
            found = self._tree.find(importer, ".".join(parts[:end]), level)
            if found is not None and found != importer and found in self._readings:
                yield found


def _stops(finding: Finding) -> bool:
    family = rule_by_code(finding.code).family
    return finding.severity is Severity.ERROR and family in _MET_WHERE_WRITTEN
