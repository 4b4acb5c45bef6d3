"""Temporary checkout that is updated from commit to commit, writing only what differs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from kdoctor.documents.document import kind_by_ending
from kdoctor.progress.repository import Repository

_SETTINGS = ".toml"
_MARKS = ("pyproject.toml", "setup.cfg", ".gitignore")


class Checkout:
    """A temporary folder outside of the repository.

    Only what a scan looks at is in it: documents, what git ignores, and what marks a project. The
    settings of kdoctor are those of today, so that all commits are measured with one measure.
    """

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.folder = folder
        self.files: Mapping[str, str] = {}  # path to blob
        self._repository = repository
        (folder / ".git").mkdir()  # where `.gitignore` and the project's own modules begin
        self._settings = frozenset(repository.present(f"*{_SETTINGS}"))
        for path in sorted(self._settings):
            self._write(path, (repository.root / path).read_bytes())

    def update(self, commit: str) -> None:
        """Make the folder hold another commit.

        Raises:
            UsageProblem: git cannot read the commit.
        """
        wanted = {
            path: blob
            for path, blob in self._repository.files(commit).items()
            if _is_of_concern(path) and path not in self._settings
        }
        for path in self.files.keys() - wanted.keys():
            self._remove(path)
        changed: dict[str, list[str]] = {}
        for path, blob in wanted.items():
            if self.files.get(path) != blob:
                changed.setdefault(blob, []).append(path)
        for blob, data in self._repository.blobs(changed):
            for path in changed[blob]:
                self._write(path, b"" if path.endswith(_SETTINGS) else data)
        self.files = wanted

    def _write(self, path: str, data: bytes) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def _remove(self, path: str) -> None:
        target = self.folder / path
        with contextlib.suppress(OSError):
            target.unlink()
            for folder in target.parents:
                if folder == self.folder:
                    break
                folder.rmdir()  # fails where something is left in it


def _is_of_concern(path: str) -> bool:
    return kind_by_ending(path) is not None or PurePosixPath(path).name in _MARKS
