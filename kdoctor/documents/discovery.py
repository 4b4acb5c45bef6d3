"""Which files there are below the paths that were named."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kdoctor.documents.ignoring import Ignores
from kdoctor.errors import UsageProblem
from kdoctor.model import Unreadable

# .pyi files hold no code that runs; one that is named is read all the same.
_ENDINGS = (".py", ".pyw", ".ipynb", ".md", ".markdown", ".rst")
_SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".bzr", ".jj", ".venv", "venv", "site-packages", "node_modules"}
    | {".tox", ".nox", ".eggs", "build", "dist", "_build", "__pycache__", "__pypackages__"}
    | {".ipynb_checkpoints", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
    | {".direnv", ".pixi", ".idea", ".vscode", "htmlcov"}
)
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})


@dataclass(frozen=True, slots=True)
class Listing:
    """The files to read, in order, and the folders that could not be looked into."""

    files: tuple[str, ...]
    unreadable: tuple[Unreadable, ...] = ()

    def __iter__(self) -> Iterator[str]:
        """Yield the files."""
        return iter(self.files)

    def __len__(self) -> int:
        """Count the files."""
        return len(self.files)


def discover(paths: Iterable[str | os.PathLike[str]], exclude: Iterable[str] = ()) -> Listing:
    """List the files named and those below the folders named, each real file once.

    A file that is named is always listed. Below a folder, files with an ending that kdoctor knows
    are, but not what ``.gitignore`` files, ``.git/info/exclude`` or ``exclude`` (the same patterns,
    relative to the working folder) leave out, nor environments, caches and build folders. Links
    to folders are not followed: what they lead to may lie outside of what was named.

    Paths are relative to the working folder where they lie in it, else as they were given, with
    ``/`` on every system. They come sorted within each path given.

    Raises:
        UsageProblem: a path does not exist, or is neither a file nor a folder.
    """
    walk = _Walk(tuple(exclude))
    for path in paths:
        walk.add(os.fspath(path))
    return Listing(tuple(walk.files.values()), tuple(walk.unreadable))


@dataclass(slots=True)
class _Walk:
    exclude: Sequence[str]
    files: dict[str, str] = field(default_factory=dict)  # real path -> path to report
    unreadable: list[Unreadable] = field(default_factory=list)

    def add(self, given: str) -> None:
        """Add a path that was named.

        Raises:
            UsageProblem: there is nothing that can be read.
        """
        try:
            mode = Path(given).stat().st_mode
        except OSError as error:
            raise UsageProblem(
                f"{given}: {error.strerror}; name a file or folder that exists, "
                "or - for standard input"
            ) from error
        if stat.S_ISDIR(mode):
            self._add_folder(given)
        elif stat.S_ISREG(mode):
            self.files.setdefault(os.path.realpath(given), _reported(given))
        else:
            raise UsageProblem(f"{given}: neither a file nor a folder; to read a pipe, use -")

    def _add_folder(self, root: str) -> None:
        links: list[_Found] = []
        found: list[_Found] = []
        real_root = Path(os.path.realpath(root))
        for entry in self._entries(root, real_root):
            (links if entry.is_link else found).append(entry)
        files = {entry.real: entry for entry in found}
        for entry in links:  # a link to a file that is listed is no second file
            files.setdefault(entry.real, entry)
        for entry in sorted(files.values(), key=lambda entry: entry.path.split("/")):
            self.files.setdefault(entry.real, entry.path)

    def _entries(self, root: str, real_root: Path) -> Iterator[_Found]:
        pending = [(_reported(root), real_root, Ignores.above(real_root, self.exclude))]
        while pending:
            path, real, outer = pending.pop()
            try:
                entries = sorted(os.scandir(real), key=lambda entry: entry.name)
            except OSError as error:
                why = f"the folder cannot be read: {error.strerror}"
                self.unreadable.append(Unreadable(path, why))
                continue
            marked = any(entry.name in _ENVIRONMENT_MARKS for entry in entries)
            if marked and real != real_root:
                continue
            ignores = outer.within(real)
            for entry in entries:
                below = entry.name if path == "." else f"{path.rstrip('/')}/{entry.name}"
                inside = real / entry.name
                if entry.is_dir(follow_symlinks=False):
                    if not _is_skipped(entry.name) and not ignores.leave_out(
                        f"{inside.as_posix()}/"
                    ):
                        pending.append((below, inside, ignores))
                elif _is_wanted(entry) and not ignores.leave_out(inside.as_posix()):
                    is_link = entry.is_symlink()
                    yield _Found(
                        below, os.path.realpath(inside) if is_link else str(inside), is_link
                    )


@dataclass(frozen=True, slots=True)
class _Found:
    path: str  # to report
    real: str
    is_link: bool


def _is_skipped(name: str) -> bool:
    return name in _SKIPPED_FOLDERS or name.endswith(".egg-info")


def _is_wanted(entry: os.DirEntry[str]) -> bool:
    # is_file() follows links; it is false for pipes, sockets and links that lead nowhere.
    try:
        return entry.name.lower().endswith(_ENDINGS) and entry.is_file()
    except OSError:  # a ring of links
        return False


def _reported(path: str) -> str:
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    if absolute.is_relative_to(Path.cwd()):
        return absolute.relative_to(Path.cwd()).as_posix()
    return Path(os.path.normpath(path)).as_posix()
