"""Read-only access to the git repository around some files.

A report may be made in the middle of anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kdoctor.errors import UsageProblem
from kdoctor.progress.model import Commit
from kdoctor.project.git import GitProblem, git

_FILE_MODES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository's work tree; ``root`` is its top folder, without links."""

    root: Path

    @classmethod
    def around(cls, folder: Path) -> Repository | None:
        """Return the repository that a folder lies in, None where there is none, or no git."""
        try:
            found = git(folder, "rev-parse", "--show-toplevel")
        except GitProblem:
            return None
        top = os.fsdecode(found).removesuffix("\n")
        return cls(Path(os.path.realpath(top))) if top else None

    def head(self) -> Commit | None:
        """Return the commit that is checked out, None before the first."""
        try:
            return self._described(["HEAD"])[0]
        except GitProblem:
            return None

    def is_changed(self) -> bool:
        """Say whether files that git knows differ from the commit that is checked out."""
        try:
            return bool(git(self.root, "status", "--porcelain", "--untracked-files=no"))
        except GitProblem:
            return False

    def present(self, pattern: str) -> list[str]:
        """Return the files of the work tree that match and that git does not ignore.

        Raises:
            UsageProblem: git cannot list them.
        """
        asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pattern)
        try:
            listing = git(self.root, *asked)
        except GitProblem as problem:
            raise UsageProblem(f"git cannot list its files: {problem}") from problem
        paths = dict.fromkeys(map(os.fsdecode, listing.split(b"\0")))
        return [path for path in paths if path and (self.root / path).is_file()]

    def commits(self, since: str) -> list[str]:
        """Return the commits of the main line from ``since`` to the newest, oldest first.

        Raises:
            UsageProblem: ``since`` names no commit that came before.
        """
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{since}^{{commit}}")
        try:
            first = git(self.root, *asked).decode().strip()
        except GitProblem as problem:
            raise UsageProblem(f"--since {since}: git knows no such commit here") from problem
        try:
            git(self.root, "merge-base", "--is-ancestor", first, "HEAD")
        except GitProblem as problem:
            raise UsageProblem(
                f"--since {since}: what is checked out does not come from this commit"
            ) from problem
        walk = ("rev-list", "--first-parent", "--reverse", f"{first}..HEAD")
        return [first, *git(self.root, *walk).decode().split()]

    def describe(self, ids: Sequence[str]) -> list[Commit]:
        """Return the commits with these ids, in their order.

        Raises:
            UsageProblem: one cannot be read.
        """
        try:
            return self._described(ids)
        except GitProblem as problem:
            raise UsageProblem(f"git cannot read a commit: {problem}") from problem

    def files(self, commit: str) -> Mapping[str, str]:
        """Return the regular files of a commit: path below the root to blob.

        Raises:
            UsageProblem: the commit cannot be read.
        """
        try:
            listing = git(self.root, "ls-tree", "-r", "-z", "--full-tree", commit)
        except GitProblem as problem:
            raise UsageProblem(f"git cannot read commit {commit}: {problem}") from problem
        found: dict[str, str] = {}
        for entry in listing.split(b"\0"):
            about, _, name = entry.partition(b"\t")
            path = os.fsdecode(name)
            if path and about.decode().split()[0] in _FILE_MODES and _is_inside(path):
                found[path] = about.decode().split()[2]
        return found

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the content of each blob that is there."""
        wanted = "".join(f"{each}\n" for each in dict.fromkeys(ids))
        try:
            answer = git(self.root, "cat-file", "--batch", stdin=wanted.encode())
        except GitProblem as problem:
            raise UsageProblem(f"git cannot read its objects: {problem}") from problem
        at = 0
        while at < len(answer):
            end = answer.index(b"\n", at)
            name, *about = answer[at:end].decode().split()
            at = end + 1
            if len(about) < 2:  # "missing"
                continue
            size = int(about[1])
            yield name, answer[at : at + size]
            at += size + 1

    def _described(self, ids: Sequence[str]) -> list[Commit]:
        form = "--format=%H%x00%ct%x00%s"
        log = ("log", "--no-walk=unsorted", "--no-show-signature", "--encoding=UTF-8", form)
        lines = git(self.root, *log, *ids, "--").split(b"\n")
        found = []
        for line in filter(None, lines):
            name, time, subject = line.split(b"\0", 2)
            text = subject.decode(errors="surrogateescape")
            found.append(Commit(name.decode(), int(time), text))
        return found


def common_folder(paths: Iterable[str]) -> Path:
    """Return the folder in which all the paths lie, without links."""
    real = [os.path.realpath(path) for path in paths]
    folders = [each if os.path.isdir(each) else os.path.dirname(each) for each in real]  # noqa: PTH112, PTH120
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # several drives of Windows
        return Path.cwd()


def _is_inside(path: str) -> bool:
    """Say whether a path of a commit is one below the root: commits can be made by anyone."""
    parts = path.split("/")
    return not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
