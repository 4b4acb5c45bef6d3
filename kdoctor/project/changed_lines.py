"""The lines that differ from a commit, as git tells them."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from kdoctor.errors import UsageProblem
from kdoctor.project.git import GitProblem, git

# Whatever the settings of the user and the attributes of the repository say of a diff.
_DIFF: Final = (
    *("-c", "core.quotePath=true", "diff", f"-O{os.devnull}", "--unified=0", "--text"),
    *("--inter-hunk-context=0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"),
    *("--ignore-submodules", "--src-prefix=a/", "--dst-prefix=b/"),
)
_HUNK: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NEW_FILE: Final = (b"+++ b/", b'+++ "b/')
_RANGE: Final = ".."


class ChangedLines:
    """The lines of each file in the working tree that its commit does not have.

    What is staged counts, and so does what is not, and every line of a file that git does not
    track. A file that was renamed is compared with what it was. ``base`` is the commit that is
    compared with: the one at which the branches parted.
    """

    def __init__(
        self, base: str, root: Path, lines: Mapping[str, Sequence[int]], tracked: frozenset[str]
    ) -> None:
        self.base = base
        self._root = str(root)
        self._lines = {path: frozenset(numbers) for path, numbers in lines.items()}
        self._tracked = tracked
        self._repositories: dict[str, bool] = {}

    @classmethod
    def since(cls, commit: str, folder: Path) -> ChangedLines:
        """Return what changed since the checked-out branch parted from ``commit``.

        Raises:
            UsageProblem: the folder is in no repository, or git knows no such commit.
        """
        try:
            top = os.fsdecode(git(folder, "rev-parse", "--show-toplevel").rstrip(b"\r\n"))
            root = Path(os.path.realpath(top))
            base = _parting(root, commit)
            changes = git(root, *_DIFF, base, "--")
            tracked = git(root, "ls-files", "-z", "--cached")
        except GitProblem as problem:
            raise UsageProblem(f"--diff {commit}: {problem}") from problem
        lines = {os.path.join(root, name): numbers for name, numbers in _read(changes)}  # noqa: PTH118
        known = {os.path.join(root, os.fsdecode(each)) for each in tracked.split(b"\0") if each}  # noqa: PTH118
        return cls(base, root, lines, frozenset(known))

    def touch(self, path: str, first: int, last: int) -> bool:
        """Say whether one of the lines of a file, counted from 1, changed."""
        real = os.path.realpath(path)
        if real not in self._tracked:
            return self.compares(path)
        numbers = self._lines.get(real, frozenset())
        return any(number in numbers for number in range(first, last + 1))

    def has(self, path: str) -> bool:
        """Say whether anything in a file changed."""
        real = os.path.realpath(path)
        return real in self._lines or (real not in self._tracked and self.compares(path))

    def compares(self, path: str) -> bool:
        """Say whether a file is one of this repository: in a submodule, another one counts."""
        folder = os.path.dirname(os.path.realpath(path))  # noqa: PTH120
        if folder not in self._repositories:
            self._repositories[folder] = folder == self._root or (
                not os.path.lexists(os.path.join(folder, ".git"))  # noqa: PTH118
                and (not folder.startswith(f"{self._root}{os.sep}") or self.compares(folder))
            )
        return self._repositories[folder]


def _parting(root: Path, commit: str) -> str:
    """Return the commit at which the checked-out branch parted from another.

    Raises:
        GitProblem: there is no such commit.
    """
    if _RANGE in commit:
        raise GitProblem("name one commit, not a range: the other end is what is checked out")
    try:
        asked = git(root, "rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")
    except GitProblem as problem:
        why = "git knows no such commit here; if another repository has it, fetch it first"
        raise GitProblem(why) from problem
    try:
        found = git(root, "merge-base", asked.decode().strip(), "HEAD")
    except GitProblem as problem:
        why = "git finds no commit where HEAD parted from it; a shallow clone may lack that one"
        raise GitProblem(why) from problem
    return found.decode().strip()


def _read(diff: bytes) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the files of a diff, each with the numbers of its new lines.

    Only what stands between the hunks is read as a header: a line of a file may look like one.
    """
    numbers: list[int] = []
    old = new = at = 0
    for line in diff.split(b"\n"):
        if old or new:
            sign = line[:1]
            if sign == b"+":
                numbers.append(at)
            old -= sign in (b"-", b" ")
            new -= sign in (b"+", b" ")
            at += sign in (b"+", b" ")
        elif hunk := _HUNK.match(line):
            old, at, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        elif line.startswith(_NEW_FILE):
            numbers = []
            yield _name(line), numbers


def _name(header: bytes) -> str:
    """Return the path in a header, which git quotes as C does where it is not plain ASCII."""
    named = header.removeprefix(b"+++ ").rstrip(b"\t")
    if named.startswith(b'"'):
        named = ast.literal_eval("b" + named.decode("ascii"))
    return os.fsdecode(named.removeprefix(b"b/"))
