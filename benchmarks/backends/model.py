"""The words of the benchmark: what is run, in which state, on which backend."""

from __future__ import annotations

import enum
import hashlib
import os
from pathlib import Path

import msgspec

from benchmarks.migration import catalogue
from benchmarks.migration.model import Package

LIST = Path(__file__).with_name("subjects.toml")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kdoctor-backends"


class Half(enum.StrEnum):
    """Which subjects kdoctor may be fitted to."""

    WORK = "work"
    HELD = "held"  # measured; nobody reads its code or its errors to write a rule

    @classmethod
    def of(cls, author: str) -> Half:
        """Return the half of an author's code; a hash decides, nobody chooses."""
        digest = hashlib.sha256(author.lower().encode()).digest()
        return cls.HELD if digest[0] % 2 else cls.WORK


class Stage(enum.StrEnum):
    """A state of the code. Each is made of the one before it on the way to every backend."""

    MIGRATED = "migrated"  # `kdoctor fix --unsafe`: it runs on Keras 3
    SAFE = "safe"  # then `kdoctor fix --backend all`
    UNSAFE = "unsafe"  # the same with `--unsafe`


class Backend(enum.StrEnum):
    """A backend of Keras 3."""

    TENSORFLOW = "tensorflow"
    JAX = "jax"
    TORCH = "torch"


OTHERS = (Backend.JAX, Backend.TORCH)


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Example code with a driver. ``subjects.toml`` says what each field means."""

    name: str
    repository: str
    commit: str
    files: tuple[str, ...]
    driver: str
    path: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()


class Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``subjects.toml``."""

    packages: tuple[str, ...]
    program: tuple[Program, ...]
    looked_into: tuple[str, ...] = ()


class Subject(msgspec.Struct, frozen=True):
    """What is measured: a package with its own tests, or example code with those of a driver."""

    package: Package
    files: tuple[str, ...] = ()  # of a program: only these
    driver: str = ""
    looked_into: bool = False

    @property
    def name(self) -> str:
        """How the tables call it."""
        return self.package.name

    @property
    def half(self) -> Half:
        """Whether rules may be fitted to it."""
        return Half.WORK if self.looked_into else Half.of(self.package.owner)


def read(path: Path = LIST) -> list[Subject]:
    """Return the subjects: packages of the migration benchmark's seen part, and programs."""
    listed = msgspec.toml.decode(path.read_bytes(), type=Listed)
    seen = {each.name: each for each in catalogue.read().seen}
    packages = [
        Subject(seen[name], looked_into=name in listed.looked_into) for name in listed.packages
    ]
    return packages + [
        Subject(
            Package(
                name=each.name,
                repository=each.repository,
                commit=each.commit,
                path=each.path,
                requires=each.requires,
                tests=(each.driver,),
            ),
            each.files,
            each.driver,
            each.name in listed.looked_into,
        )
        for each in listed.program
    ]
