"""Installed distributions of a Python, read from metadata and files; nothing is imported."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from kdoctor.project.evidence import Distribution, distribution_of
from kdoctor.project.installed import METADATA, version_in_use

_EXTENSIONS: Final = (".so", ".pyd", ".py", ".pyc")


@dataclass(frozen=True)
class Installed:
    """One distribution, as its metadata says it."""

    name: str  # normalized: tf-keras
    version: Version
    metadata: Path  # its .dist-info or .egg-info
    stale: tuple[Path, ...] = ()  # metadata of other versions that lie beside it

    @property
    def site(self) -> Path:
        """The folder that it is installed in."""
        return self.metadata.parent

    @property
    def is_tensorflow(self) -> bool:
        """Whether it is TensorFlow, under whichever of its names."""
        return distribution_of(self.name) is Distribution.TENSORFLOW

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        """Its requirements, with markers."""
        found = []
        for line in _headers(self.metadata):
            key, _, value = line.partition(":")
            if key.lower() == "requires-dist":
                try:
                    found.append(Requirement(value.strip()))
                except ValueError:
                    continue
        return tuple(found)

    @cached_property
    def record(self) -> Mapping[str, int | None] | None:
        """The files that it brought, with their sizes; None where no list was kept."""
        try:
            with (self.metadata / "RECORD").open(encoding="utf-8", newline="") as file:
                rows = [row for row in csv.reader(file) if row]
        except (OSError, UnicodeDecodeError):
            return None
        sizes = {}
        for row in rows:
            size = row[2] if len(row) > 2 and row[2].isdigit() else None
            sizes[row[0].replace("\\", "/")] = None if size is None else int(size)
        return sizes


class Packages:
    """The distributions on a search path: for each name, all that are found, in order."""

    def __init__(self, path: Iterable[Path]) -> None:
        self._found: dict[str, list[Installed]] = {}
        for folder in dict.fromkeys(path):
            for each in _distributions(folder):
                self._found.setdefault(each.name, []).append(each)

    def get(self, name: str) -> Installed | None:
        """Return the distribution that counts: the first on the path."""
        return next(iter(self._found.get(canonicalize_name(name), ())), None)

    def all_of(self, name: str) -> tuple[Installed, ...]:
        """Return all installations of a distribution in different folders."""
        return tuple(self._found.get(canonicalize_name(name), ()))

    @property
    def all(self) -> tuple[Installed, ...]:
        """Every distribution, including hidden ones."""
        return tuple(each for found in self._found.values() for each in found)

    @property
    def tensorflows(self) -> tuple[Installed, ...]:
        """TensorFlow, under all names that it is installed under; the plainest name first."""
        found = [each for each in self.all if each.is_tensorflow]
        return tuple(sorted(found, key=lambda each: (each.name != "tensorflow", len(each.name))))

    @property
    def tensorflow(self) -> Installed | None:
        """The TensorFlow that counts."""
        return next(iter(self.tensorflows), None)

    @property
    def keras(self) -> Installed | None:
        """What ``import keras`` finds, as its metadata says it."""
        return self.get("keras") or self.get("keras-nightly") or self.get("keras-gpu")

    @property
    def tf_keras(self) -> Installed | None:
        """The Keras 2 that is named tf_keras."""
        return self.get("tf-keras") or self.get("tf-keras-nightly")


def module_file(name: str, path: Iterable[Path]) -> Path | None:
    """Return what ``import name`` would load, as Python's own finder goes about it.

    A package's ``__init__`` stands for it. A folder without one is no package as long as any other
    folder of the path has the name: it is not returned.
    """
    for entry in path:
        package = entry / name / "__init__"
        for stem in (package, entry / name):
            found = _file(stem)
            if found is not None:
                return found
    return None


def _file(stem: Path) -> Path | None:
    for extension in _EXTENSIONS:
        candidate = stem.with_name(stem.name + extension)
        if candidate.is_file():
            return candidate
    if not stem.parent.is_dir():
        return None
    tagged = re.compile(rf"{re.escape(stem.name)}\.(?:cpython-|cp|abi)\S*\.(?:so|pyd)")
    try:
        names = os.listdir(stem.parent)  # noqa: PTH208 - thousands of names
    except OSError:
        return None
    return next((stem.with_name(name) for name in names if tagged.fullmatch(name)), None)


def _distributions(folder: Path) -> Iterator[Installed]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return
    found: dict[str, dict[str, Path]] = {}
    for name in names:
        matched = METADATA.fullmatch(name)
        if matched and _is_version(matched["version"]) and _headers(folder / name):
            own = found.setdefault(canonicalize_name(matched["name"]), {})
            own[matched["version"]] = folder / name
    for name, versions in found.items():
        distribution = distribution_of(name)
        version = (
            max(versions, key=Version)
            if distribution is None
            else version_in_use(folder, distribution, list(versions))
        )
        stale = tuple(path for each, path in versions.items() if each != version)
        yield Installed(name, Version(version), versions[version], stale)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except ValueError:  # also a number of thousands of digits
        return False
    return True


def _headers(metadata: Path) -> list[str]:
    """Return the lines above the description; none of a folder that an uninstall left behind."""
    for place in (metadata, metadata / "METADATA", metadata / "PKG-INFO"):
        if place.is_file():
            try:
                text = place.read_text("utf-8", errors="replace")
            except OSError:
                return []
            return text.partition("\n\n")[0].splitlines()
    return []
