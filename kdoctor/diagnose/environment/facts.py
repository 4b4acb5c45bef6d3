"""What is known of releases that are not installed: read off wheels, or run.

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
    """What became of a program of a few lines with this version beside TensorFlow."""

    version: Version
    error: str  # "" where it ran


@cache
def neighbours(tensorflow: str, package: str) -> tuple[Neighbour, ...]:
    """Return what was tried beside a minor release of TensorFlow ("2.10"), oldest first."""
    for version, tried in _read("neighbours.json").items():
        if version.split(".")[:2] == tensorflow.split("."):
            told = tried.get(package, {})
            return tuple(
                sorted(
                    (Neighbour(Version(each), error) for each, error in told.items()),
                    key=lambda each: each.version,
                )
            )
    return ()


@cache
def _read(name: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((_HERE / name).read_text("utf-8"))
    return table
