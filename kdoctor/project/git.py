"""Query git without running hooks or programs of the repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from kdoctor.project.root import start_of

_SECONDS = 10.0  # in a repository that takes longer, silence is better than waiting
_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",  # `status` would write the index
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
# A partial clone would fetch what it lacks.
_SETTINGS = ("-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "-c", "core.pager=cat")
# Set where git itself runs kdoctor (a hook), for the repository and the work tree of the hook.
_OF_HOOKS = frozenset(
    {"GIT_COMMON_DIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_DIFF_OPTS"}
)


class GitProblem(Exception):
    """Git failed."""


def not_in_git(paths: Sequence[str]) -> list[str]:
    """Return the files whose content ``git checkout`` cannot restore.

    These are the untracked ones and those with changes that are not even staged. Files that git
    ignores, or that lie in no repository, are none of its business and not among them.
    """
    if not paths:
        return []
    folder = start_of(paths)
    status_command = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
    try:
        top = git(folder, "rev-parse", "--show-toplevel", seconds=_SECONDS)
        status = git(
            folder, *status_command, "--ignore-submodules=all", "--", ".", seconds=_SECONDS
        )
    except GitProblem:
        return []
    root = os.fsdecode(top.rstrip(b"\r\n"))
    changed = {_real(f"{root}/{path}") for path in _unsafe(status)}
    return [path for path in paths if _real(path) in changed]


def tracked_files(top: str) -> list[str]:
    """Return the files that git tracks in the repository at ``top``, from there, with ``/``.

    None if git cannot be run: then only the .gitignore rules apply.
    """
    try:
        listed = git(Path(top), "ls-files", "-z", "--cached", seconds=_SECONDS)
    except GitProblem:
        return []
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _unsafe(status: bytes) -> Iterator[str]:
    """Yield the paths of ``git status`` whose working copy differs from what git has of it."""
    for entry in status.split(b"\0"):
        # "XY path": X is the state of the index, Y that of the working copy.
        if entry and entry[1:2] != b" ":
            yield os.fsdecode(entry[3:])


def git(folder: Path, *arguments: str, stdin: bytes = b"", seconds: float | None = None) -> bytes:
    """Return the output of git for the repository around a folder.

    Nothing is fetched, no hook runs, and the index is left as it is.

    Raises:
        GitProblem: there is no git, it says no, or it does not answer in time.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    try:
        done = subprocess.run(
            ["git", *_SETTINGS, "-C", str(folder), *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=seconds,
            env=inherited | _QUIET,
        )
    except OSError as error:
        raise GitProblem(f"git cannot be run: {error.strerror or error}") from error
    except subprocess.TimeoutExpired as error:
        raise GitProblem(f"git did not answer within {seconds} seconds") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitProblem(said[-1] if said else f"git exited with {done.returncode}")
    return done.stdout


def _real(path: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - a link stays a link
    return f"{os.path.realpath(folder)}{os.sep}{name}"
