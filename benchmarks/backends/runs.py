"""The tests of a subject in one state on one backend: run once for each text of its files."""

from __future__ import annotations

import fnmatch
import hashlib
import shutil
from pathlib import Path

import msgspec

from benchmarks.backends.model import OTHERS, Backend, Stage, Subject
from benchmarks.migration import catalogue, environment, repairs, sources, suites
from benchmarks.migration.arms import alone
from benchmarks.migration.model import Arm, Places, Suite

DRIVERS = Path(__file__).with_name("drivers")
HARNESS = "harness.py"
BACKENDS = (
    "jax==0.10.2",
    "jaxlib==0.10.2",
    "torch==2.13.0",
    "filelock",
    "fsspec",
    "jinja2",
    "MarkupSafe",
    "mpmath",
    "networkx",
    "sympy",
    "typing_extensions",
)
_FIX = {
    Stage.MIGRATED: ["--unsafe"],
    Stage.SAFE: ["--backend", "all"],
    Stage.UNSAFE: ["--backend", "all", "--unsafe"],
}


class Runner:
    """Runs suites, or reads them from the cache where the files and the frameworks are the same."""

    def __init__(self, places: Places, backends: Path | None = None) -> None:
        """``backends`` is a folder with JAX and PyTorch; without it, one is made in the cache."""
        self._places = places
        self._catalogue = catalogue.read()
        self._backends = backends or environment.besides(places.cache, places.python, BACKENDS)
        # All that is installed: without Matplotlib a test fails, whatever Keras it is run with.
        self._versions = environment.installed(places.python)
        self._versions += environment.installed(places.python, self._backends)

    def suite(self, subject: Subject, stage: Stage, backend: Backend) -> Suite:
        """Return what happened to each test.

        Raises:
            FetchProblem: the sources could not be had.
            KdoctorProblem: kdoctor crashed.
        """
        lock = self._places.cache / "locks" / f"{subject.name}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        with alone(lock):
            return self._suite(subject, stage, backend)

    def _suite(self, subject: Subject, stage: Stage, backend: Backend) -> Suite:
        root = self.root(subject, stage)
        key = self._key(root, subject, backend)
        record = self._places.cache / "records" / subject.name / f"{key}.json"
        if record.is_file():
            return msgspec.json.decode(record.read_bytes(), type=Suite)
        # A copy: what a run leaves behind is no part of what the next one finds.
        arena = self._places.cache / "arenas" / subject.name / f"{stage}-{backend}"
        shutil.rmtree(arena, ignore_errors=True)
        for name in self._names(subject):
            shutil.copytree(root / name, arena / name, symlinks=True)
        for path in _driver(subject):
            shutil.copy(path, arena / subject.name / path.name)
        package = subject.package
        seconds = package.seconds or self._places.seconds_a_test
        places = msgspec.structs.replace(self._places, seconds_a_test=seconds)
        needed = [package, *self._catalogue.needed_by(package)]
        also = [arena / each.name / inside for each in needed for inside in each.path]
        if requires := tuple(dict.fromkeys(r for each in needed for r in each.requires)):
            also.append(environment.besides(places.cache, places.python, requires))
        if backend in OTHERS:
            also.append(self._backends)
        suite = suites.run(
            package, Arm.BEFORE, arena, places, also, variables={"KERAS_BACKEND": backend.value}
        )
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_bytes(msgspec.json.encode(suite))
        return suite

    def root(self, subject: Subject, stage: Stage) -> Path:
        """Return the folder with the subject's files in this state, made where it is not there."""
        kdoctor = repairs.source_hash()[:16] if stage is not Stage.MIGRATED else "migrated"
        root = self._places.cache / "stages" / subject.name / f"{stage}-{kdoctor}"
        if not root.is_dir():
            partial = root.with_name(f"{root.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            if stage is Stage.MIGRATED:
                self._copy(subject, partial)
            else:
                migrated = self.root(subject, Stage.MIGRATED)
                for name in self._names(subject):
                    shutil.copytree(migrated / name, partial / name, symlinks=True)
            repairs.run_fix(partial, _FIX[stage], self._names(subject))
            partial.rename(root)
        return root

    def _copy(self, subject: Subject, root: Path) -> None:
        for each in (subject.package, *self._catalogue.needed_by(subject.package)):
            source = sources.fetch(each, self._places)
            if not subject.files:
                shutil.copytree(source, root / each.name, symlinks=True)
                continue
            for path in sorted(source.rglob("*.py")):
                inside = path.relative_to(source).as_posix()
                if any(fnmatch.fnmatch(inside, pattern) for pattern in subject.files):
                    (root / each.name / inside).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, root / each.name / inside)

    def _names(self, subject: Subject) -> list[str]:
        needed = self._catalogue.needed_by(subject.package)
        return [subject.name, *(each.name for each in needed)]

    def _key(self, root: Path, subject: Subject, backend: Backend) -> str:
        told = hashlib.sha256(f"{self._versions}\n{backend}\n{subject.package}".encode())
        for name in self._names(subject):
            for path in sorted((root / name).rglob("*.py")):
                told.update(path.relative_to(root).as_posix().encode())
                told.update(path.read_bytes())
        for path in _driver(subject):
            told.update(path.read_bytes())
        return f"{backend}-{told.hexdigest()[:16]}"


def _driver(subject: Subject) -> list[Path]:
    """Return what is put beside a program to run it. It is the benchmark's own, and never fixed."""
    return [DRIVERS / name for name in (subject.driver, HARNESS)] if subject.driver else []
