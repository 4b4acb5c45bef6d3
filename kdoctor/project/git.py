"""What git says about files, asked without running anything of the repository's own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from kdoctor.project.root import start_of

_SECONDS = 10.0  # in a repository that takes longer, silence is better than waiting


def not_in_git(paths: Sequence[str]) -> list[str]:
    """Return the files whose content no ``git checkout`` would bring back.

    These are the untracked ones and those with changes that are not even staged. Files that git
    ignores, or that lie in no repository, are none of its business and not among them.
    """
    if not paths:
        return []
    folder = start_of(paths)
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        return []
    status = _git(
        folder,
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=all",
        "--",
        ".",
    )
    root = os.fsdecode(top.rstrip(b"\r\n"))
    changed = {_real(f"{root}/{path}") for path in _unsafe(status or b"")}
    return [path for path in paths if _real(path) in changed]


def _unsafe(status: bytes) -> Iterator[str]:
    """Yield the paths of ``git status`` whose working copy differs from what git has of it."""
    for entry in status.split(b"\0"):
        # "XY path": X is the state of the index, Y that of the working copy.
        if entry and entry[1:2] != b" ":
            yield os.fsdecode(entry[3:])


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return what git writes, None where there is no git, no repository, or no answer in time."""
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _real(path: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - a link stays a link
    return f"{os.path.realpath(folder)}{os.sep}{name}"
