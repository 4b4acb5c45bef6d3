"""A folder that holds one commit after another: what differs is written, nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from kdoctor.documents.document import KIND_OF_ENDING
from kdoctor.migration.repository import Repository

_SETTINGS = ("pyproject.toml", "kdoctor.toml")
_MARKS = (*_SETTINGS, "setup.cfg", ".gitignore")


class Checkout:
    """A temporary folder outside of the repository.

    Only what a scan looks at is in it: documents, what git ignores, and, as empty files, what
    marks a project. The settings of kdoctor are those of today, so that all commits are measured
    with one measure.
    """

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.folder = folder
        self.files: Mapping[str, str] = {}  # path to blob
        self._repository = repository
        (folder / ".git").mkdir()  # where `.gitignore` and the project's own modules begin
        for name in _SETTINGS:
            if (repository.root / name).is_file():
                self._write(name, self._today(name))

    def update(self, commit: str) -> None:
        """Make the folder hold another commit.

        Raises:
            UsageProblem: git cannot read the commit.
        """
        wanted = {
            path: blob
            for path, blob in self._repository.files(commit).items()
            if _is_of_concern(path)
        }
        for path in self.files.keys() - wanted.keys():
            if path not in _SETTINGS:
                self._remove(path)
        changed: dict[str, list[str]] = {}
        for path, blob in wanted.items():
            if self.files.get(path) != blob:
                changed.setdefault(blob, []).append(path)
        for blob, data in self._repository.blobs(changed):
            for path in changed[blob]:
                name = PurePosixPath(path).name
                self._write(path, self._today(path) if name in _SETTINGS else data)
        self.files = wanted

    def _today(self, path: str) -> bytes:
        try:
            return (self._repository.root / path).read_bytes()
        except OSError:
            return b""

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
    name = PurePosixPath(path)
    return name.suffix.lower() in KIND_OF_ENDING or name.name in _MARKS
