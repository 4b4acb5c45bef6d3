"""Where a project begins: the folder that what belongs to all of it lies in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_HISTORIES = (".git", ".hg", ".jj", ".svn")
_MARKS = ("kdoctor.toml", "pyproject.toml", "setup.cfg", "setup.py")


def root_of(start: Path) -> Path | None:
    """Return the folder of the repository around ``start``, else of the project, if any."""
    for marks in (_HISTORIES, _MARKS):
        for folder in (start, *start.parents):
            if any((folder / mark).exists() for mark in marks):
                return folder
    return None


def folders_to_root(start: Path) -> Iterator[Path]:
    """Yield ``start`` and the folders above it up to where its project begins."""
    root = root_of(start) or start
    for folder in (start, *start.parents):
        yield folder
        if folder == root:
            return
