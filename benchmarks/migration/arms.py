"""One arm of one package: its copy, its repair, its tests; kept in the cache, run once."""

from __future__ import annotations

import hashlib
import shutil
import threading
from pathlib import Path

import msgspec

from benchmarks.migration import environment, repairs, sources, suites
from benchmarks.migration.catalogue import Catalogue
from benchmarks.migration.model import Arm, Package, Places, Record


class Runner:
    """Runs arms, or reads them from the cache where nothing that decides them has changed."""

    def __init__(self, catalogue: Catalogue, places: Places) -> None:
        self._catalogue = catalogue
        self._places = places
        self._fetching = threading.Lock()  # packages that run side by side may share a library
        self._framework = environment.versions(places.python) + _hash_of(suites.SHIMS)
        self._kdoctor = repairs.source_hash()

    def record(self, package: Package, arm: Arm) -> Record:
        """Return the arm's record, run now where there is none for these very sources.

        Raises:
            FetchProblem: the sources could not be had.
            KdoctorProblem: kdoctor crashed.
        """
        known = self.known(package, arm)
        if known is not None:
            return known
        record = self._run(package, arm)
        path = self._path(package, arm)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_bytes(msgspec.json.encode(record))
        partial.rename(path)
        return record

    def known(self, package: Package, arm: Arm) -> Record | None:
        """Return the record in the cache, if it is of these very sources."""
        try:
            record = msgspec.json.decode(self._path(package, arm).read_bytes(), type=Record)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        return record if record.key == self._key(package, arm) else None

    def folder(self, package: Package, arm: Arm) -> Path:
        """Return where the arm's copy lies, for people who want to look into it."""
        return self._places.cache / "arms" / package.name / arm

    def places_of(self, package: Package) -> Places:
        """Return the places, with the time that a test of the package may take."""
        seconds = max(package.seconds, self._places.seconds_a_test)
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
        root = self.folder(package, arm)
        originals = self.originals(package)
        shutil.rmtree(root, ignore_errors=True)
        for name, original in originals.items():
            shutil.copytree(original, root / name, symlinks=True)
        repair = repairs.repair(arm, root, originals) if arm.is_fixed else None
        suite = suites.run(package, arm, root, self.places_of(package))
        key = self._key(package, arm)
        return Record(package.name, package.version, arm, key, suite, repair)

    def _path(self, package: Package, arm: Arm) -> Path:
        return self._places.cache / "records" / package.name / f"{arm}.json"

    def _key(self, package: Package, arm: Arm) -> str:
        parts = [
            *(each.version for each in self.on_the_path(package)),
            self._framework,
            f"{self.places_of(package).seconds_a_test:g}",
            self._kdoctor if arm.is_fixed else "",
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _hash_of(folder: Path) -> str:
    paths = sorted(folder.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
