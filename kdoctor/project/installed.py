"""Distributions in a virtual environment, from its metadata. Nothing is imported."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from kdoctor.errors import FileProblem
from kdoctor.interpreters import ACTIVE, ENVIRONMENT_FOLDERS
from kdoctor.lazy_regex import pattern
from kdoctor.project.evidence import (
    Distribution,
    Evidence,
    EvidenceKind,
    EvidenceSource,
    distribution_of,
)
from kdoctor.project.requirement import Where, pinned
from kdoctor.project.root import shown

# tensorflow-2.15.0.dist-info, Keras-2.3.1-py3.7.egg-info; not pip's leftovers ~eras-….
METADATA: Final = pattern(
    r"(?P<name>[A-Za-z][\w.]*?)-(?P<version>\d[^-]*)(?:-py[\d.]+)?\.(?:dist|egg)-info"
)
_OWN_VERSION: Final = pattern(r"^__version__\s*=\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_VERSION_FILES: Final = {
    Distribution.KERAS: ("keras/src/version.py", "keras/version.py", "keras/__init__.py"),
    Distribution.TF_KERAS: ("tf_keras/src/__init__.py", "tf_keras/__init__.py"),
    Distribution.TENSORFLOW: (),
}


def environments_in(folder: Path) -> Iterator[EvidenceSource]:
    """Yield the distributions of the virtual environments in a folder."""
    for name in ENVIRONMENT_FOLDERS:
        if (folder / name / "pyvenv.cfg").is_file():
            yield _environment(folder / name, shown(folder / name), str(folder))


def active_environments(environ: Mapping[str, str]) -> Iterator[EvidenceSource]:
    """Yield the distributions of the activated environment."""
    for variable in ACTIVE:
        prefix = environ.get(variable)
        if prefix and Path(prefix).is_dir():
            yield _environment(Path(prefix), f"${variable} ({prefix})", "")
            return


def _environment(prefix: Path, path: str, folder: str) -> EvidenceSource:
    found = tuple(
        evidence
        for packages in _site_packages(prefix)
        for evidence in _distributions(packages, path)
    )
    return EvidenceSource(EvidenceKind.INSTALLED, path, folder, found)


def _site_packages(prefix: Path) -> list[Path]:
    places = [prefix / "Lib" / "site-packages", *sorted(prefix.glob("lib/python*/site-packages"))]
    return [place for place in places if place.is_dir()]


def _distributions(packages: Path, path: str) -> Iterator[Evidence]:
    found: dict[Distribution, dict[str, str]] = {}
    try:
        names = sorted(os.listdir(packages))  # noqa: PTH208 - thousands of names
    except OSError:
        return
    for name in names:
        matched = METADATA.fullmatch(name)
        distribution = distribution_of(matched["name"]) if matched else None
        if matched is None or distribution is None or not _is_whole(packages / name):
            continue
        found.setdefault(distribution, {})[matched["version"]] = matched["name"]
    for distribution, versions in found.items():
        version = version_in_use(packages, distribution, list(versions))
        try:
            yield pinned(distribution, versions[version], version, Where(path, None))
        except FileProblem:
            continue


def _is_whole(metadata: Path) -> bool:
    """Say whether metadata is complete, not a leftover of an uninstall."""
    return metadata.is_file() or any(
        (metadata / name).is_file() for name in ("METADATA", "PKG-INFO")
    )


def version_in_use(packages: Path, distribution: Distribution, versions: list[str]) -> str:
    """Return the version that the installed package really has; other metadata is stale."""
    if len(versions) == 1:
        return versions[0]
    for name in _VERSION_FILES[distribution]:
        try:
            text = (packages / name).read_text("utf-8", errors="replace")
        except OSError:
            continue
        own = _OWN_VERSION.search(text)
        if own and own.group(1) in versions:
            return own.group(1)
    from packaging.version import Version  # noqa: PLC0415

    def newest(version: str) -> Version:
        try:
            return Version(version)
        except ValueError:  # also a number of thousands of digits
            return Version("0")

    return max(versions, key=newest)
