"""The undo journal: keep replaced files so that a fix can be undone.

The journals of a project lie in the user's state folder, with a folder for each apply. The first
line of its ``journal.jsonl`` says when and in which project; each other line is a file that was, or
was about to be, written: where it is, which file beside the journal has its content before, and the
hash of its content after.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from kdoctor.documents import uninterrupted, write_atomically
from kdoctor.engine.fixes.undo_folder import UndoProject, is_private, journals_of_user, make_private
from kdoctor.engine.result import FixedFile, LeftAlone
from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.project.root import leads_into, root_of, shown, start_of

_LINES: Final = "journal.jsonl"
_LEFT: Final = ".left"  # what was taken back only in part
_MAX_UNDO_STEPS: Final = 20  # applies


@dataclass(frozen=True, slots=True)
class Undone:
    """The result of undoing the last fix.

    ``when`` is its local time; ``earlier`` counts those that can be taken back after it, by
    ``command``.
    """

    when: str
    restored: tuple[str, ...]
    left_alone: tuple[LeftAlone, ...]
    earlier: int
    command: str


class Journal:
    """The undo journal of one fix. Nothing is created before there is a file to keep."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder: Path | None = None
        self._number = 0
        self.problem = ""
        """Why this apply, or some of it, cannot be taken back."""

    def keep(self, path: str, before: bytes, after: bytes) -> None:
        """Store the content of a file that is about to be overwritten."""
        if self.problem:
            return
        try:
            folder = self._folder = self._folder or self._begun()
            self._number += 1
            name = f"{self._number:04}"
            _new(folder / name, before)
            line = {"path": _stored(path, self.root), "before": name, "after": _hash(after)}
            if not leads_into(Path(path), self.root):
                line["real"] = os.path.realpath(path)
            with (folder / _LINES).open("a", encoding="ascii") as lines:
                lines.write(json.dumps(line) + "\n")
        except OSError as error:
            self.problem = f"{error.strerror or error}: {error.filename or self.root}"

    def drop(self) -> None:
        """Delete this journal: nothing was written, so there is nothing to undo."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _begun(self) -> Path:
        project = UndoProject.at(self.root)
        undo = _folder_of(project)
        make_private(undo.parent)
        make_private(undo)
        steps = _steps(undo)
        for old in steps[: max(0, len(steps) + 1 - _MAX_UNDO_STEPS)]:
            shutil.rmtree(old, ignore_errors=True)
        number = int(steps[-1].name[:6]) + 1 if steps else 1
        while True:
            folder = undo / f"{number:06}"
            try:
                folder.mkdir()
            except FileExistsError:  # another kdoctor is at work here
                number += 1
                continue
            when = datetime.now(UTC).isoformat(timespec="seconds")
            head = {"applied": when, "project": [project.root, project.device, project.inode]}
            _new(folder / _LINES, (json.dumps(head) + "\n").encode())
            return folder


def journal_root(paths: Iterable[str | os.PathLike[str]]) -> Path:
    """Return the project folder whose journal covers ``paths``.

    It is where their project begins; without a project, the working folder if they are in it.
    """
    start = start_of(paths)
    found = root_of(start)
    if found is None:
        here = Path.cwd()
        found = here if start.is_relative_to(here) else start
    return found


def undo_command(root: Path) -> str:
    """Return the command that undoes a fix of the project at ``root``."""
    near = root == journal_root([Path.cwd()])
    return "kdoctor fix --undo" if near else f"kdoctor fix --undo {shlex.quote(shown(root))}"


def undo(paths: Iterable[str | os.PathLike[str]]) -> Undone:
    """Undo the last fix in the project of ``paths``, save files changed since.

    Raises:
        UsageProblem: there is none, or its journal cannot be read.
    """
    root = journal_root(paths)
    steps = _steps_of(root)
    if not steps:
        raise UsageProblem(f"there is no `kdoctor fix --apply` to undo in {root}")
    *earlier, step = steps
    # The last first: a file that was written under two names goes back to what it was at first.
    reasons = {line.path: _restore(root, line, step) for line in reversed(step.lines)}
    _finish(step, kept=any(reasons.values()))
    return Undone(
        f"{step.when.astimezone():%Y-%m-%d %H:%M:%S}",
        tuple(sorted(_shown(root / path) for path, why in reasons.items() if why is None)),
        tuple(LeftAlone(_shown(root / path), why) for path, why in sorted(reasons.items()) if why),
        len(earlier),
        undo_command(root),
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """A file that a fix wrote: where its old content is stored, and the hash of the new."""

    path: str
    before: str
    after: str
    real: str | None = None  # where a link led to that was named, out of the project


@dataclass(frozen=True, slots=True)
class _Step:
    """The journal of one apply."""

    folder: Path
    when: datetime
    project: UndoProject
    lines: tuple[_Line, ...]

    @classmethod
    def read(cls, folder: Path) -> _Step | None:
        """Read a journal, None if it has nothing (left) to undo."""
        if folder.name.endswith(_LEFT):
            return None
        try:
            text = (folder / _LINES).read_text(encoding="ascii")
            # The last line is in halves where the program was killed; then nothing was written.
            head, *lines = (json.loads(each) for each in text.splitlines(True) if each[-1] == "\n")
            return cls(
                folder,
                datetime.fromisoformat(head["applied"]),
                UndoProject(*head["project"]),
                tuple(_Line(**each) for each in lines),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None


def left_by_last_apply(root: Path, files: Iterable[FixedFile]) -> list[FixedFile]:
    """Return the files that are still as the last fix wrote them."""
    try:
        last = _steps_of(root)[-1:]
    except OSError:  # somebody else's
        return []
    hashes = {line.after for step in last for line in step.lines}
    return [file for file in files if hashes and _hash(file.before) in hashes]


def _steps_of(root: Path) -> list[_Step]:
    """Return the fixes of a project that can be undone, the oldest first."""
    project = UndoProject.at(root)
    folder = _folder_of(project)
    if not is_private(folder):
        return []
    return _steps_in(folder, project)


def _folder_of(project: UndoProject) -> Path:
    """Return the folder of a project's journals, also after the project has moved."""
    base = journals_of_user()
    own = base / project.name
    if own.is_dir() or not is_private(base):
        return own
    for folder in sorted(filter(is_private, base.iterdir())):
        if _steps_in(folder, project):
            return folder
    return own


def _steps_in(folder: Path, project: UndoProject) -> list[_Step]:
    """Return the fixes of this project in a folder of journals, the oldest first."""
    steps = [step for step in map(_Step.read, _steps(folder)) if step]
    moved = {step.project for step in steps if project.may_have_been(step.project)}
    own = {
        other
        for other in moved
        if any(
            _is_unchanged_since(line, project)
            for step in steps
            if step.project == other
            for line in step.lines
        )
    }
    return [step for step in steps if step.project.root == project.root or step.project in own]


def _is_unchanged_since(line: _Line, project: UndoProject) -> bool:
    """Say whether a file of a project is unchanged since a fix wrote it."""
    path = Path(project.root, line.path)
    try:
        return leads_into(path, Path(project.root)) and _hash(path.read_bytes()) == line.after
    except OSError:
        return False


def _restore(root: Path, line: _Line, step: _Step) -> str | None:
    """Restore a file. Return the reason if that fails, "" if it is restored already."""
    path = root / line.path
    kept = _shown(step.folder.with_name(step.folder.name + _LEFT) / line.before)
    if os.path.realpath(path) != line.real and not leads_into(path, root):
        return f"it points outside the project; its previous content is in {kept}"
    try:
        before = (step.folder / line.before).read_bytes()
        with uninterrupted():
            now = path.read_bytes()
            if now == before:
                return ""  # it was never written, or is taken back already
            if _hash(now) != line.after:
                return f"it was changed after the fix; its previous content is in {kept}"
            write_atomically(path, before)
    except FileNotFoundError:
        return f"it no longer exists; its previous content is in {kept}"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}; its previous content is in {kept}"
    except FileProblem as problem:
        return f"{problem}; its previous content is in {kept}"
    return None


def _finish(step: _Step, *, kept: bool) -> None:
    with uninterrupted():
        if kept:
            step.folder.rename(step.folder.with_name(step.folder.name + _LEFT))
        else:
            shutil.rmtree(step.folder, ignore_errors=True)


def _steps(undo: Path) -> list[Path]:
    """List the journal folders, the oldest first."""
    if not undo.is_dir():
        return []
    return sorted(each for each in undo.iterdir() if each.name[:6].isdecimal() and each.is_dir())


def _new(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)


def _stored(path: str, root: Path) -> str:
    """Return a path relative to the root if it is inside, so that the project can be moved."""
    real = Path(os.path.abspath(path))  # noqa: PTH100 - a link stays a link
    try:
        return real.relative_to(root).as_posix()
    except ValueError:
        return real.as_posix()


def _shown(path: Path) -> str:
    try:
        return os.path.relpath(path)
    except ValueError:  # another drive of Windows
        return str(path)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
