"""One arm of one package: its copy, its repair, its tests; kept in the cache, run once."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.migration import environment, repairs, sources, suites
from benchmarks.migration.catalogue import Catalogue
from benchmarks.migration.model import Arm, Package, Places, Record, Repair, Suite

UNKNOWN_SECONDS = 300  # what an arm is thought to take that no run has timed


BEGUN = "begun.json"


class Begun(msgspec.Struct, frozen=True):
    """What a run that was stopped among the tests had done before them. It goes on there."""

    key: str
    repair: Repair | None


class Runner:
    """Runs arms, or reads them from the cache where nothing that decides them has changed."""

    def __init__(self, catalogue: Catalogue, places: Places) -> None:
        self._catalogue = catalogue
        self._places = places
        self._fetching = threading.Lock()  # packages that run side by side may share a library
        self._framework = environment.versions(places.python) + _hash_of(
            suites.SHIMS, suites.KERAS_2_NAMES
        )
        self._kdoctor = repairs.source_hash()

    def record(self, package: Package, arm: Arm) -> Record:
        """Return the arm's record, run now where there is none for these very sources.

        Raises:
            FetchProblem: the sources could not be had.
            KdoctorProblem: kdoctor crashed.
        """
        path = self._path(package, arm)
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone(path.with_suffix(".lock")):
            known = self.known(package, arm)
            if known is not None:
                return known
            record = self._run(package, arm)
            partial = path.with_suffix(".partial")
            partial.write_bytes(msgspec.json.encode(record))
            partial.rename(path)
        return record

    def known(self, package: Package, arm: Arm) -> Record | None:
        """Return the record in the cache, if it is of these very sources."""
        record = self.kept(package, arm)
        return record if record and record.key == self._key(package, arm) else None

    def kept(self, package: Package, arm: Arm) -> Record | None:
        """Return the record in the cache, also where it is of other sources or another kdoctor."""
        try:
            return msgspec.json.decode(self._path(package, arm).read_bytes(), type=Record)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def expected_seconds(self, package: Package) -> float:
        """Return how long the arms that have to be run again will take, by what they took."""
        left = [arm for arm in Arm if self.known(package, arm) is None]
        took = [record.suite.seconds for arm in Arm if (record := self.kept(package, arm))]
        return len(left) * (max(took) if took else UNKNOWN_SECONDS)

    def folder(self, package: Package, arm: Arm) -> Path:
        """Return where the arm's copy lies, for people who want to look into it."""
        return self._places.home(package) / "arms" / package.name / arm

    def places_of(self, package: Package) -> Places:
        """Return the places, with the time that a test of the package may take."""
        seconds = package.seconds or self._places.seconds_a_test
        return msgspec.structs.replace(self._places, seconds_a_test=seconds)

    def on_the_path(self, package: Package) -> list[Package]:
        """Return the package and what it needs besides."""
        return [package, *self._catalogue.needed_by(package)]

    def originals(self, package: Package) -> dict[str, Path]:
        """Return the sources as released of the package and of what it needs, by name."""
        with self._fetching:
            return {
                each.name: sources.fetch(each, self._places) for each in self.on_the_path(package)
            }

    def _run(self, package: Package, arm: Arm) -> Record:
        root, key = self.folder(package, arm), self._key(package, arm)
        begun = _begun(root, key)
        if begun is None:
            originals = self.originals(package)
            shutil.rmtree(root, ignore_errors=True)
            for name, original in originals.items():
                shutil.copytree(original, root / name, symlinks=True)
            begun = Begun(key, repairs.repair(arm, root, originals) if arm.is_fixed else None)
            (root / BEGUN).write_bytes(msgspec.json.encode(begun))
        suite = self._suite(package, arm)
        (root / BEGUN).unlink()
        return Record(package.name, package.version, arm, key, suite, begun.repair)

    def suite(self, package: Package, arm: Arm) -> Suite:
        """Run all tests of the arm's copy as it lies there.

        Raises:
            FetchProblem: what the package requires besides could not be installed.
        """
        suites.forget(self.folder(package, arm))
        return self._suite(package, arm)

    def _suite(self, package: Package, arm: Arm) -> Suite:
        """Run the tests that the log in the arm's folder does not tell of."""
        root = self.folder(package, arm)
        also = [
            root / each.name / inside for each in self.on_the_path(package) for inside in each.path
        ]
        if requires := self.requires(package):
            with self._fetching:
                also.append(environment.besides(self._places.cache, self._places.python, requires))
        return suites.run(package, arm, root, self.places_of(package), also)

    def requires(self, package: Package) -> tuple[str, ...]:
        """Return the distributions that a package and what it needs ask for."""
        return tuple(dict.fromkeys(r for each in self.on_the_path(package) for r in each.requires))

    def _path(self, package: Package, arm: Arm) -> Path:
        return self._places.home(package) / "records" / package.name / f"{arm}.json"

    def _key(self, package: Package, arm: Arm) -> str:
        parts = [
            *(each.version for each in self.on_the_path(package)),
            self._framework,
            f"{self.places_of(package).seconds_a_test:g}",
            self._kdoctor if arm.is_fixed else "",
            *filter(None, (each.selection for each in self.on_the_path(package))),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _begun(root: Path, key: str) -> Begun | None:
    """Return what a stopped run has left in an arm's folder, if it is of these very sources."""
    try:
        begun = msgspec.json.decode((root / BEGUN).read_bytes(), type=Begun)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return begun if begun.key == key else None


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other benchmark runs this; the lock goes with the process that holds it."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _hash_of(*folders: Path) -> str:
    paths = (path for folder in folders for path in sorted(folder.rglob("*.py")))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
