"""The root of a project."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from kdoctor.errors import UsageProblem

HISTORIES = (".git", ".hg", ".jj", ".svn")
_STDIN: Final = "-"
MARKS = ("kdoctor.toml", "pyproject.toml", "setup.cfg", "setup.py")


def root_of(start: Path) -> Path | None:
    """Return the folder of the repository around ``start``, else of the project, if any."""
    for marks in (HISTORIES, MARKS):
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


def leads_into(path: Path, folder: Path) -> bool:
    """Say whether a path is inside a folder after resolving all links."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def start_of(paths: Iterable[str | os.PathLike[str]]) -> Path:
    """Return the folder in which all the paths lie; the working folder for standard input."""
    folders = []
    for path in paths:
        text = os.fspath(path)
        absolute = os.path.abspath("." if text == _STDIN else text)  # noqa: PTH100 - links stay
        folders.append(absolute if os.path.isdir(absolute) else os.path.dirname(absolute))  # noqa: PTH112, PTH120
    try:
        return Path(os.path.commonpath(folders or [str(Path.cwd())]))
    except ValueError:  # several drives of Windows
        return Path.cwd()


def check_exists(path: str) -> None:
    """Check that a named path exists.

    Raises:
        UsageProblem: nothing does.
    """
    if not os.path.lexists(path):
        named = path or "''"
        raise UsageProblem(f"{named}: no such file or folder; check the path")


def shown(path: Path) -> str:
    """Return the path to display: relative to the working folder if it is near."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive of Windows
        return path.as_posix()
    near = not relative.startswith(os.path.join("..", "..", ".."))  # noqa: PTH118
    return Path(relative).as_posix() if near else path.as_posix()
