"""Discover the files at or below given paths."""

from __future__ import annotations

import enum
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from kdoctor.config import CONFIG_FILES
from kdoctor.documents.gitignore import Ignores, Patterns
from kdoctor.errors import UsageProblem
from kdoctor.interpreters import REPOSITORY_MARKS, folder_above, shared_folders
from kdoctor.model import Unreadable

# .pyi files hold no code that runs; one that is named is read all the same.
_ENDINGS = (".py", ".pyw", ".ipynb", ".md", ".markdown", ".rst")
# What saved models are called; of a SavedModel the file that each has.
MODEL_ENDINGS = (".h5", ".hdf5", ".keras", ".tflite", ".onnx", "saved_model.pb", ".ckpt.index")
_SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".bzr", ".jj", ".venv", "venv", "site-packages", "node_modules"}
    | {".tox", ".nox", ".eggs", "build", "dist", "_build", "__pycache__", "__pypackages__"}
    | {".ipynb_checkpoints", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
    | {".kdoctor_cache", ".direnv", ".pixi", ".idea", ".vscode", "htmlcov"}
)
# Of them those that are made by tools as a rule, and hold sources where git tracks what is in them.
_SEARCHED_IF_TRACKED = frozenset({"build", "dist"})
# A folder without any of these is configured as the one above.
_DECIDING = frozenset({*CONFIG_FILES, *REPOSITORY_MARKS})
_RULING = frozenset({".git", ".gitignore"})  # what makes rules of git for a folder
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})

# What is excluded of the things that lie in a folder, which is given by its absolute path.
Configured = Callable[[str], Patterns | None]


class Listing(Struct, frozen=True):
    """The files to read, in order, and the folders that could not be looked into.

    ``leading_out`` are links to files outside of what was named: they are not among ``files``.
    ``models`` counts files that were passed and have the name of a saved model.
    """

    files: tuple[str, ...]
    unreadable: tuple[Unreadable, ...] = ()
    leading_out: tuple[str, ...] = ()
    models: int = 0

    def __iter__(self) -> Iterator[str]:
        """Yield the files."""
        return iter(self.files)

    def __len__(self) -> int:
        """Count the files."""
        return len(self.files)


def _nothing(_folder: str) -> None: ...


def has_known_ending(path: str) -> bool:
    """Say whether files with the ending of this one are found below a folder."""
    return path.lower().endswith(_ENDINGS)


class Search(Struct, frozen=True):
    """What is looked for below a folder: files with these paths, also those that git ignores."""

    wanted: Callable[[str], bool] = has_known_ending
    respects_git: bool = True


_CODE = Search()


class Tracked(Struct, frozen=True):
    """What git tracks in a repository: real paths of files, and of the folders that they lie in."""

    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()

    @classmethod
    def of(cls, top: str, names: Iterable[str]) -> Tracked:
        """Return what the names stand for, which count from the folder ``top``."""
        files = frozenset(f"{top}/{name}" for name in names)
        folders: set[str] = set()
        for path in files:
            while (path := path.rpartition("/")[0]) not in folders and len(path) > len(top):
                folders.add(path)
        return cls(files, frozenset(folders))


def _nothing_tracked(_top: str) -> tuple[str, ...]:
    return ()


def discover(  # noqa: PLR0913 - all but the paths have defaults
    paths: Iterable[str | os.PathLike[str]],
    exclude: Iterable[str] = (),
    *,
    force: bool = False,
    configured: Configured = _nothing,
    tracked: Callable[[str], Iterable[str]] = _nothing_tracked,
    search: Search = _CODE,
) -> Listing:
    """List the files named and those below the folders named, each real file once.

    A file that is named is always listed. Below a folder, files with an ending that kdoctor knows
    are, but not what ``.gitignore`` files, ``.git/info/exclude`` or ``exclude`` (the same patterns,
    relative to the working folder) leave out, nor what ``configured`` does in the folder that it
    lies in, nor environments, caches and build folders. What git tracks is never ignored:
    ``tracked`` names it for the top folder of a repository, and is asked where something would be.
    Links to folders are not followed, nor those to files outside of the folder that was named.
    ``force`` leaves out, of what is named, what :func:`is_excluded` says. ``search`` asks for files
    of other names.

    Paths are relative to the working folder where they lie in it, else as they were given, with
    ``/`` on every system. They come sorted within each path given.

    Raises:
        UsageProblem: a path does not exist, or is neither a file nor a folder.
    """
    exclude = tuple(exclude)
    walk = _Walk(
        exclude,
        configured,
        lru_cache(maxsize=None)(lambda top: Tracked.of(top, tracked(top))),
        search,
    )
    for path in paths:
        if not (force and is_excluded(path, exclude, configured)):
            walk.add(os.fspath(path))
    unreadable = sorted(walk.unreadable, key=lambda problem: problem.path)
    leading_out = dict.fromkeys(sorted(set(walk.leading_out) - set(walk.files.values())))
    return Listing(tuple(walk.files.values()), tuple(unreadable), tuple(leading_out), walk.models)


def is_excluded(
    path: str | os.PathLike[str], exclude: Iterable[str], configured: Configured = _nothing
) -> bool:
    """Say whether a path is left out by name, or it lies in a folder that is never searched.

    Folders that count are those below the working folder. What git ignores is not left out: as for
    ruff's ``--force-exclude``, naming a file overrules that.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    here = Path.cwd()
    inside = absolute.relative_to(here).parts if absolute.is_relative_to(here) else ()
    folders = inside if absolute.is_dir() else inside[:-1]
    return (
        any(map(_is_skipped, folders))
        or Ignores.from_exclude(exclude).leave_out_below(absolute)
        or _is_configured_out(absolute, configured)
    )


def _is_configured_out(path: Path, configured: Configured) -> bool:
    """Say whether a search from above would have passed over the path, or a folder it lies in."""
    folder: str | None = str(path.parent)
    while folder is not None:
        patterns = configured(folder)
        if patterns is not None:
            name = f"{path.as_posix()}/" if path.is_dir() else path.as_posix()
            if patterns.decide(name):
                return True
        path, folder = Path(folder), folder_above(folder)
    return False


class _Walk(Struct):
    exclude: Sequence[str]
    configured: Configured
    tracked: Callable[[str], Tracked]
    search: Search
    files: dict[str, str] = field(default_factory=dict)  # real path -> path to report
    unreadable: list[Unreadable] = field(default_factory=list)
    leading_out: list[str] = field(default_factory=list)
    models: int = 0

    def add(self, given: str) -> None:
        """Add a path that was named.

        Raises:
            UsageProblem: there is nothing that can be read.
        """
        try:
            mode = os.stat(given).st_mode  # noqa: PTH116 - of "", too, which Path takes for a dot
        except OSError as error:
            raise UsageProblem(
                f"{given or repr(given)}: {error.strerror}; name a file or folder that exists, "
                "or - for standard input"
            ) from error
        if stat.S_ISDIR(mode):
            self._add_folder(given)
        elif stat.S_ISREG(mode):
            self.files.setdefault(os.path.realpath(given), reported(given))
        else:
            raise UsageProblem(f"{given}: neither a file nor a folder; to read a pipe, use -")

    def _add_folder(self, root: str) -> None:
        real, path = os.path.realpath(root), reported(root)
        git, excluded = self.search.respects_git, Ignores.from_exclude(self.exclude)
        ignores = Ignores.above(Path(real), self.exclude) if git else excluded
        top = _repository_of(real)
        start = _Folder(path, os.path.abspath(path), real, ignores, top=top)  # noqa: PTH100 - links stay
        files: dict[str, str] = {}
        links: list[tuple[str, str]] = []
        for path, entry in self._below(start):
            if entry.is_symlink():
                links.append((path, os.path.realpath(entry.path)))
            else:
                files[entry.path] = path
        # Links last: one to a file that is listed is no second file.
        within = f"{real.rstrip(os.sep)}{os.sep}"
        for path, target in sorted(links):
            if target.startswith(within):
                files.setdefault(target, path)
            else:
                self.leading_out.append(path)
        # By the names on the way, of which none has a null.
        for target, path in sorted(files.items(), key=lambda pair: pair[1].replace("/", "\0")):
            self.files.setdefault(target, path)

    def _below(self, root: _Folder) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield each file that is wanted with the path to report."""
        configured = _Overruled(self.configured, root)
        pending = [root]
        while pending:
            folder = pending.pop()
            try:
                entries = list(os.scandir(folder.real))
            except OSError as error:
                why = f"the folder cannot be read: {error.strerror}"
                self.unreadable.append(Unreadable(folder.path, why))
                continue
            names = {entry.name for entry in entries}
            if folder is not root and not _ENVIRONMENT_MARKS.isdisjoint(names):
                continue
            if ".git" in names:
                folder = replace(folder, top=_posix(folder.real))
            if self.search.respects_git and not _RULING.isdisjoint(names):
                folder = replace(folder, ignores=folder.ignores.within(Path(folder.real)))
            patterns = configured.patterns(folder, names)
            for entry in entries:
                if patterns is not None and patterns.decide(folder.entry(entry)):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    skipped = _is_skipped(entry.name)
                    if skipped and entry.name not in _SEARCHED_IF_TRACKED:
                        continue
                    standing = self._standing(folder, f"{_posix(entry.path)}/", skipped=skipped)
                    if standing is not _Standing.OUT:
                        only = standing is _Standing.TRACKED
                        pending.append(folder.below(entry, patterns, only_tracked=only))
                elif self.search.wanted(folder.start + entry.name):
                    is_in = self._standing(folder, _posix(entry.path)) is not _Standing.OUT
                    if is_in and _is_file(entry):
                        yield folder.start + entry.name, entry
                elif entry.name.endswith(MODEL_ENDINGS):
                    self.models += 1

    def _standing(self, folder: _Folder, place: str, *, skipped: bool = False) -> _Standing:
        """Say how what lies in a folder is listed; the path of a folder ends in ``/``.

        A folder that is ``skipped`` by its name counts as one that git ignores.
        """
        ignores = folder.ignores
        if not ignores and not (folder.only_tracked or skipped):
            return _Standing.IN
        if ignores.excluded(place):
            return _Standing.OUT
        if not (folder.only_tracked or skipped or ignores.ignored(place)):
            return _Standing.IN
        tracked = self.tracked(folder.top) if folder.top else Tracked()
        is_tracked = place[:-1] in tracked.folders if place[-1] == "/" else place in tracked.files
        return _Standing.TRACKED if is_tracked else _Standing.OUT


class _Standing(enum.Enum):
    """How git's rules leave a file, or a folder: in, out, or only what is tracked of it."""

    IN = enum.auto()
    TRACKED = enum.auto()
    OUT = enum.auto()


def _repository_of(folder: str) -> str:
    """Return the top of the repository that a folder lies in, "" where it lies in none."""
    folders = (folder, *map(str, Path(folder).parents))
    tops = (each for each in folders if os.path.lexists(os.path.join(each, ".git")))  # noqa: PTH118
    return _posix(next(tops, ""))


class _Folder(Struct, frozen=True):
    path: str  # to report
    absolute: str
    real: str
    ignores: Ignores
    inherited: Patterns | None = None  # what is configured for the folder above
    top: str = ""  # of the repository that it lies in
    only_tracked: bool = False  # git ignores it, and tracks some of what it holds

    @property
    def start(self) -> str:
        """What the paths begin with that are to report of what lies in it."""
        return "" if self.path == "." else f"{self.path.rstrip('/')}/"

    def below(
        self, entry: os.DirEntry[str], patterns: Patterns | None, *, only_tracked: bool
    ) -> _Folder:
        absolute = os.path.join(self.absolute, entry.name)  # noqa: PTH118 - hot
        path = self.start + entry.name
        return _Folder(path, absolute, entry.path, self.ignores, patterns, self.top, only_tracked)

    def entry(self, entry: os.DirEntry[str]) -> str:
        path = _posix(os.path.join(self.absolute, entry.name))  # noqa: PTH118 - hot
        return f"{path}/" if entry.is_dir(follow_symlinks=False) else path


class _Overruled:
    """What is configured below a folder that was named, but for what leaves out the folder."""

    def __init__(self, configured: Configured, root: _Folder) -> None:
        self._configured = configured
        self._start = root.absolute
        self._root = f"{_posix(root.absolute).rstrip('/')}/"
        self._known: dict[int, tuple[Patterns, Patterns]] = {}
        self._nobodys = shared_folders()

    def patterns(self, folder: _Folder, names: Collection[str]) -> Patterns | None:
        """Return what holds in a folder; it is asked for only where it may not be as above."""
        absolute = folder.absolute
        if not (
            absolute == self._start
            or os.path.dirname(absolute) in self._nobodys  # noqa: PTH120 - hot
            or not _DECIDING.isdisjoint(names)
        ):
            return folder.inherited
        written = self._configured(absolute)
        if written is None:
            return None
        if id(written) not in self._known:
            self._known[id(written)] = written, written.overruled(self._root)
        return self._known[id(written)][1]


def _posix(path: str) -> str:
    return path.replace(os.sep, "/")


def _is_skipped(name: str) -> bool:
    return name in _SKIPPED_FOLDERS or name.endswith(".egg-info")


def _is_file(entry: os.DirEntry[str]) -> bool:
    # is_file() follows links; it is false for pipes, sockets and links that lead nowhere.
    try:
        return entry.is_file()
    except OSError:  # a ring of links
        return False


def reported(path: str) -> str:
    """Return a path as people read it: from the working folder where it lies in it."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    if absolute.is_relative_to(Path.cwd()):
        return absolute.relative_to(Path.cwd()).as_posix()
    return Path(os.path.normpath(path)).as_posix()
