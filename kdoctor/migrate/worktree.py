"""The working tree in which a migration is carried out, on a branch of its own.

The user's own tree is only read. Each run of the tests starts from the same files: those of the
branch, and copies of what the user's tree has beside them, such as data that git ignores.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kdoctor.errors import UsageProblem
from kdoctor.migrate.state import Home
from kdoctor.project.git import GitProblem, git

_BRANCH: Final = "kdoctor-migrate"
_MARK: Final = "Kdoctor-migrate"  # the trailer of commits that kdoctor made
_ALONE: Final = ("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false")
_SUBMODULE: Final = "160000"
_NOT_COPIED: Final = frozenset(
    {".git", ".kdoctor", ".kdoctor_cache", "node_modules", "__pycache__", ".tox", ".nox"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "htmlcov"}
)
_ENVIRONMENT_MARKS: Final = ("pyvenv.cfg", "conda-meta")
MAX_COPIED_FILE: Final = 100_000_000  # bytes
MAX_COPIED: Final = 1_000_000_000

Stamp = tuple[int, int]


def top_of(folder: Path) -> Path:
    """Return the top folder of the repository around a folder.

    Raises:
        UsageProblem: there is no git, no repository, or it has no commit yet.
    """
    try:
        top = os.fsdecode(git(folder, "rev-parse", "--show-toplevel").rstrip(b"\r\n"))
    except GitProblem as problem:
        why = str(problem) if "cannot be run" in str(problem) else "this is no git repository"
        raise UsageProblem(
            f"{why}: `migrate --apply` works on a branch, so that your files stay as they are; "
            "run `git init`, add and commit your files, and call it again"
        ) from None
    try:
        git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitProblem:
        raise UsageProblem(
            "the repository has no commit yet, and a branch needs one: commit your files first"
        ) from None
    return Path(top)


def changed_files(top: Path) -> list[str]:
    """Return the tracked files whose changes are not committed."""
    status = _git(
        top,
        *("status", "--porcelain=v1", "-z", "--no-renames"),
        *("--untracked-files=no", "--ignore-submodules=all"),
    )
    return sorted(os.fsdecode(each[3:]) for each in status.split(b"\0") if each)


class Worktree:
    """The working tree of a migration, and its branch."""

    def __init__(self, home: Home, branch: str, base: str) -> None:
        self.home = home
        self.folder = home.tree
        self.branch = branch
        self.base = base
        self._copied: dict[str, Stamp] = {}
        self._folders = set[str]()

    def make(self) -> list[str]:
        """Create branch and tree, or take those that are there back to where they began.

        Returns what of the user's tree is not there, and why, as sentences.

        Raises:
            UsageProblem: git refuses.
        """
        try:
            if not (self.folder / ".git").exists():
                _git(self.home.top, "worktree", "prune")
                shutil.rmtree(self.folder, ignore_errors=True)
                where = ("--force", "-B", self.branch, str(self.folder), self.base)
                _git(self.home.top, "worktree", "add", *where)
            self.reset(self.base)
        except GitProblem as problem:
            raise UsageProblem(f"git cannot make a working tree: {problem}") from problem
        missing = [*self._add_submodules(), *self._add_untracked()]
        self._remove_others()  # what a run that was stopped has left behind
        return missing

    def reset(self, commit: str) -> None:
        """Have the branch, and the tree's files of it, be what they were at a commit."""
        _git(self.folder, "reset", "--hard", "--quiet", commit)

    def undo_changes(self) -> None:
        """Have the files of the tree be what they are in its last commit."""
        _git(self.folder, "reset", "--hard", "--quiet")

    def tree(self) -> str:
        """Return the name of git's tree with the files as they are now."""
        _git(self.folder, "add", "--update")
        return _git(self.folder, "write-tree").decode().strip()

    def restore(self, tree: str) -> None:
        """Undo what a run of the tests has written: each begins with the same files."""
        changed = _git(self.folder, "diff", "--name-only", "-z", "--ignore-submodules", tree)
        paths = [each for each in changed.split(b"\0") if each]
        if paths:
            listed = b"\0".join(paths)
            where = ("--pathspec-from-file=-", "--pathspec-file-nul")
            git(self.folder, *_ALONE, "checkout", "--quiet", tree, *where, stdin=listed)
        self._remove_others()
        for path in self._folders:
            (self.folder / path).mkdir(parents=True, exist_ok=True)
        for path, stamp in self._copied.items():
            if _stamp(self.folder / path) != stamp:
                self._copy(path)

    def _remove_others(self) -> None:
        """Remove what is neither of the branch nor a copy of what the user's tree has."""
        known = self.tracked() | self._copied.keys()
        for path in list(_files(self.folder)):
            if path not in known:
                with contextlib.suppress(OSError):
                    (self.folder / path).unlink()
        wanted = self._folders | {str(above) for path in known for above in Path(path).parents}
        for path in sorted(_folders(self.folder), reverse=True):
            if path not in wanted:
                with contextlib.suppress(OSError):
                    (self.folder / path).rmdir()

    def commit(self, subject: str, body: str) -> str:
        """Commit the changes of tracked files; return the commit."""
        _git(self.folder, "add", "--update")
        message = f"{subject}\n\n{body}\n\n{_MARK}: {self.base}\n"
        who = [] if _has_identity(self.folder) else _OWN_IDENTITY
        _git(self.folder, *who, "commit", "--quiet", "--no-verify", "--message", message)
        return self.head()

    def head(self) -> str:
        """Return the last commit of the branch."""
        return _git(self.folder, "rev-parse", "HEAD").decode().strip()

    def tracked(self) -> frozenset[str]:
        """Return the files of the branch, from its top."""
        listed = _git(self.folder, "ls-files", "-z", "--cached")
        return frozenset(os.fsdecode(each) for each in listed.split(b"\0") if each)

    def _add_submodules(self) -> Iterator[str]:
        """Copy the files of submodules that the user's tree has checked out."""
        for path in _submodules(self.folder):
            own = self.home.top / path
            if not (own / ".git").exists():
                yield f"the submodule {path} is not checked out, so its files are not there"
                continue
            for each in _files(own):
                self._copy(f"{path}/{each}")

    def _add_untracked(self) -> Iterator[str]:
        """Copy what the user's tree has beside the files of the branch, within limits."""
        there, total = self.tracked(), 0
        self._folders = set(_folders(self.home.top))
        for path in self._folders:  # those that are empty, too: tests write into them
            with contextlib.suppress(OSError):
                (self.folder / path).mkdir(parents=True, exist_ok=True)
        for path in _files(self.home.top):
            if path in there or path in self._copied:
                continue
            with contextlib.suppress(OSError):
                size = (self.home.top / path).lstat().st_size
                if size > MAX_COPIED_FILE or total + size > MAX_COPIED:
                    yield f"{path} is too large to be copied, so tests do not find it"
                    continue
                total += size
                self._copy(path)

    def _copy(self, path: str) -> None:
        target = self.folder / path
        if any(each.is_symlink() for each in target.relative_to(self.folder).parents):
            return
        with contextlib.suppress(OSError, shutil.SameFileError):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.home.top / path, target, follow_symlinks=False)
            self._copied[path] = _stamp(target)


def new_branch(top: Path) -> str:
    """Return the name of a branch that is not there yet."""
    listed = _git(top, "for-each-ref", "--format=%(refname:short)", "refs/heads")
    known = set(listed.decode(errors="replace").split("\n"))
    names = [_BRANCH, *(f"{_BRANCH}-{number}" for number in range(2, len(known) + 3))]
    return next(each for each in names if each not in known)


def foreign_commits(top: Path, branch: str, base: str) -> list[str]:
    """Return the commits on a branch that kdoctor did not make."""
    try:
        told = _git(
            top, "log", f"--format=%h%x00%(trailers:key={_MARK},valueonly)%x01", f"{base}..{branch}"
        )
    except GitProblem:
        return []  # the branch is gone
    entries = [each.strip("\n").partition("\0") for each in told.decode().split("\1")]
    return [commit for commit, _, mark in entries if commit and mark.strip() != base]


def remove(home: Home, branch: str) -> None:
    """Remove the working tree and its branch, as far as they are there.

    Raises:
        UsageProblem: git refuses.
    """
    shutil.rmtree(home.tree, ignore_errors=True)
    try:
        _git(home.top, "worktree", "prune")
        if _git(home.top, "branch", "--list", branch).strip():
            _git(home.top, "branch", "--quiet", "-D", branch)
    except GitProblem as problem:
        raise UsageProblem(f"git cannot remove the branch {branch}: {problem}") from problem


def is_detached(top: Path) -> bool:
    """Say whether no branch is checked out in the user's tree."""
    try:
        git(top, "symbolic-ref", "--quiet", "HEAD")
    except GitProblem:
        return True
    return False


def _submodules(folder: Path) -> list[str]:
    staged = _git(folder, "ls-files", "--stage", "-z").split(b"\0")
    rows = [os.fsdecode(each).partition("\t") for each in staged if each]
    return [path for how, _, path in rows if how.startswith(_SUBMODULE)]


def _git(folder: Path, *arguments: str) -> bytes:
    return git(folder, *_ALONE, *arguments)


def _has_identity(folder: Path) -> bool:
    try:
        return bool(git(folder, "config", "user.email").strip())
    except GitProblem:
        return False


_OWN_IDENTITY: Final = ["-c", "user.name=kdoctor", "-c", "user.email=kdoctor@localhost"]


def _stamp(path: Path) -> Stamp:
    try:
        found = path.lstat()
    except OSError:
        return (-1, -1)
    return found.st_size, found.st_mtime_ns


def _files(folder: Path) -> Iterator[str]:
    """Yield the files below a folder that may matter to tests, from there."""
    for inside, below, names in _walk(folder):
        links = [each for each in below if (folder / inside / each).is_symlink()]
        yield from (
            (inside / name).as_posix() for name in sorted((*names, *links)) if name != ".git"
        )


def _folders(folder: Path) -> Iterator[str]:
    """Yield the folders below a folder that may matter to tests, from there."""
    yield from (str(inside) for inside, _, _ in _walk(folder) if str(inside) != ".")


def _walk(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    for where, below, names in os.walk(folder):
        if any(mark in names or mark in below for mark in _ENVIRONMENT_MARKS):
            below.clear()
            continue
        below[:] = sorted(each for each in below if each not in _NOT_COPIED)
        yield Path(where).relative_to(folder), below, names
