"""Sources of the packages, fetched once into the cache: from PyPI, GitHub or local repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.migration.model import Package, Places

GITHUB = "https://github.com"


class FetchProblem(Exception):
    """Sources could not be fetched."""


def fetch(package: Package, places: Places) -> Path:
    """Return the folder with the package's sources as they were released.

    Raises:
        FetchProblem: neither in the cache nor to be had.
    """
    folder = places.home(package) / "sources" / package.version.replace("/", "+")
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as partial:
        whole = Path(partial, "whole")
        if package.sdist:
            _from_index(package.sdist, Path(partial, "archive"), whole)
        else:
            write_commit(_repository(package, places, Path(partial)), package.commit, whole)
        whole.rename(folder)
    return folder


def _from_index(sdist: str, archives: Path, folder: Path) -> None:
    """Download and unpack a source distribution; no code of it is run."""
    name, _, version = sdist.partition("==")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
    _run([*pip, "--no-binary", name, "--dest", str(archives), f"{name}=={version}"])
    archive = next(iter(archives.iterdir()))
    unpacked = archives.with_name("unpacked")
    if archive.suffix == ".zip":
        shutil.unpack_archive(archive, unpacked)
    else:
        shutil.unpack_archive(archive, unpacked, filter="data")
    next(iter(unpacked.iterdir())).rename(folder)


def _repository(package: Package, places: Places, partial: Path) -> Path:
    """Return a git repository that holds the commit."""
    if places.repositories is not None:
        found = places.repositories / package.repository.replace("/", "+") / "repo"
        if not found.is_dir():
            raise FetchProblem(f"{package.name}: there is no repository at {found}")
        return found
    clone = partial / "clone"
    _run(["git", "init", "--quiet", str(clone)])
    address = f"{GITHUB}/{package.repository}"
    _run(["git", "-C", str(clone), "fetch", "--quiet", "--depth=1", address, package.commit])
    return clone


def write_commit(repository: Path, commit: str, folder: Path) -> None:
    """Write the files of a commit; a partial mirror may lack large ones, which are left out.

    Raises:
        FetchProblem: git does not know the commit.
    """
    git = ["git", "-C", str(repository)]
    listing = _run([*git, "ls-tree", "-r", "-z", commit])
    for entry in filter(None, listing.split(b"\0")):
        about, _, name = entry.partition(b"\t")
        _mode, kind, blob = about.split()
        if kind == b"blob":
            _write(git, blob.decode(), folder / os.fsdecode(name))


def _write(git: list[str], blob: str, path: Path) -> None:
    got = subprocess.run([*git, "cat-file", "blob", blob], capture_output=True, check=False)
    if got.returncode == 0:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(got.stdout)


def _run(command: list[str]) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()
        raise FetchProblem(f"{' '.join(command)}\n{why}")
    return done.stdout
