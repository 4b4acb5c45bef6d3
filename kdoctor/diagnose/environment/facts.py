"""Facts about releases that are not installed, from their wheels or from runs.

``releases.json`` and ``neighbours.json`` are written by ``tools/environment_data``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Release:
    """The Pythons that a release has wheels for, and what these ask for."""

    pythons: tuple[str, ...]
    requires: Mapping[str, str]


@cache
def releases(package: str) -> Mapping[str, Release]:
    """Return the last patch of each minor release: of "tensorflow", "keras" or "tf-keras"."""
    return {
        version: Release(tuple(each["pythons"]), each["requires"])
        for version, each in _read("releases.json")[package].items()
    }


def newest_for(package: str, python: str) -> str | None:
    """Return the newest release that a Python can have.

    >>> newest_for("tensorflow", "3.8")
    '2.13.1'
    """
    fitting = [version for version, each in releases(package).items() if python in each.pythons]
    return max(fitting, key=Version, default=None)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The result of a small program run with this version and a TensorFlow.

    ``tensorflow`` is the release that was run, ``error`` is "" where the program ended well.
    """

    version: Version
    error: str
    tensorflow: Version


@cache
def neighbours(tensorflow: Version, package: str) -> tuple[Neighbour, ...]:
    """Return the trials with the minor release of a TensorFlow, oldest first.

    Where it was not tried itself, the releases around it tell: what runs with an older TensorFlow
    runs with this one, too, and what fails with a newer one fails with it.
    """
    found = []
    tried = {Version(version): errors for version, errors in _read("neighbours.json").items()}
    minor = tensorflow.release[:2]
    own = [version for version in tried if version.release[:2] == minor]
    for version, errors in tried.items():
        for number, error in errors.get(package, {}).items():
            is_own = version in own
            tells = is_own or (not own and bool(error) == (version.release[:2] > minor))
            if tells:
                found.append(Neighbour(Version(number), error, version))
    return tuple(sorted(found, key=lambda each: (each.version, each.tensorflow)))


@cache
def _read(name: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((_HERE / name).read_text("utf-8"))
    return table
