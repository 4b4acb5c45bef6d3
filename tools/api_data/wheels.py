"""The Python files of one release: a wheel, a source archive, or the Python part of a wheel."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

# Up to 2.1 the package was called tensorflow_core, behind a facade called tensorflow.
_TENSORFLOW = ("tensorflow/python/", "tensorflow/contrib/keras/")
_TF_KERAS = "tensorflow/python/keras/api/_v2/keras/"


@dataclass(frozen=True, slots=True)
class Wheel:
    """One released wheel: its distribution, its version, and its Python files by path."""

    distribution: str
    version: str
    files: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Wheel:
        """Read the Python files of the release at ``path``, without its tests."""
        distribution, version = path.name.removesuffix(".tar.gz").split("-")[:2]
        found = _source_files(path) if path.name.endswith(".tar.gz") else _wheel_files(path)
        if distribution == "tensorflow":
            found = _tensorflow_files(found)
        files = {
            name: source.decode("utf-8", "replace")
            for name, source in sorted(found)
            if not _is_test(name)
        }
        return cls(distribution.lower(), version, files)

    @property
    def keras_files(self) -> list[str]:
        """The source of every module of Keras itself, without the rest of TensorFlow."""
        is_tensorflow = self.distribution == "tensorflow"
        return [
            source
            for name, source in self.files.items()
            if not is_tensorflow or "keras" in name.split("/")
        ]

    def beside(self, tensorflow: Wheel) -> Wheel:
        """Return this wheel with the modules of TensorFlow that it imports, ``tf.keras`` too."""
        facade = {
            name.replace(_TF_KERAS, "tensorflow/keras/"): source
            for name, source in tensorflow.files.items()
            if name.startswith(_TF_KERAS)
        }
        return replace(self, files={**self.files, **tensorflow.files, **facade})


def requires_python(path: Path) -> str:
    """Return which Pythons a wheel says that it runs on: ``>=3.11``."""
    with zipfile.ZipFile(path) as archive:
        name = next(each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    found = (each.partition(":")[2].strip() for each in lines if each.startswith("Requires-Python"))
    return next(found, "")


def _wheel_files(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                yield name, archive.read(name)


def _source_files(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            _, _, name = member.name.partition("/")
            content = archive.extractfile(member)
            if content is not None and name.endswith(".py") and "/" in name:  # no setup.py
                yield name, content.read()


def _tensorflow_files(files: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for name, source in files:
        name = name.replace("tensorflow_core/", "tensorflow/", 1)  # noqa: PLW2901
        if name.startswith(_TENSORFLOW):
            yield name, source


def _is_test(path: str) -> bool:
    *folders, file = path.split("/")
    return file.endswith("_test.py") or not {"tests", "integration_test"}.isdisjoint(folders)
