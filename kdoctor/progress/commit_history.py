"""Burndown: scans of earlier commits, with today's rules and today's target."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kdoctor.documents import Document
from kdoctor.engine import Options, scan
from kdoctor.engine.schedule.plan import Plan
from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.model import Finding
from kdoctor.modules.module_finder import ModuleFinder
from kdoctor.modules.module_summary import imports_of, parsed
from kdoctor.progress.checkout import Checkout
from kdoctor.progress.model import Burndown, Commit, Counts, Sample
from kdoctor.progress.repository import Repository, common_folder
from kdoctor.target import Target

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class History:
    """The commits to be scanned, oldest first, picked evenly from ``commits`` of them.

    ``inside`` are the paths and ``here`` is the working folder, below the root.
    """

    repository: Repository
    since: str
    commits: int
    picked: tuple[Commit, ...]
    inside: tuple[str, ...]
    here: str


def history(paths: Sequence[str], since: str, most: int) -> History:
    """Pick at most ``most`` commits from ``since`` to the newest, the first and last included.

    Raises:
        UsageProblem: ``since`` names no commit that came before, or a path lies outside of the
            repository.
    """
    folder = common_folder(paths)
    repository = Repository.around(folder)
    if repository is None:
        raise UsageProblem(f"--since {since}: {folder} is in no git repository")
    ids = repository.commits(since)
    return History(
        repository,
        since,
        len(ids),
        tuple(repository.describe(sampled(ids, most))),
        tuple(_below(repository.root, path) for path in paths),
        _below(repository.root, "."),
    )


def burndown(
    past: History, target: Target, options: Options, progress: Progress | None = None
) -> Burndown:
    """Scan the commits of a history.

    They are laid out one after another in a temporary folder; the work tree is not touched.

    Raises:
        UsageProblem: git cannot read a commit.
    """
    samples = []
    with tempfile.TemporaryDirectory(prefix="kdoctor-") as temporary:
        checkout = Checkout(past.repository, Path(os.path.realpath(temporary)))
        counter = _Counter(checkout, target, options)
        for done, commit in enumerate(past.picked):
            if progress is not None:
                progress(done, len(past.picked))
            checkout.update(commit.id)
            left, unreadable = counter.count(past.inside, past.here)
            samples.append(Sample(commit, left, unreadable))
    return Burndown(past.since, past.commits, tuple(samples))


def sampled(ids: Sequence[str], most: int) -> list[str]:
    """Return at most ``most`` (two or more) of the ids, evenly, the first and the last included.

    >>> sampled("abcdefghi", 3)
    ['a', 'e', 'i']
    """
    if len(ids) <= most:
        return list(ids)
    last = len(ids) - 1
    return [ids[round(index * last / (most - 1))] for index in range(most)]


def _below(root: Path, path: str) -> str:
    """Return a path relative to the root of the repository.

    Raises:
        UsageProblem: it lies elsewhere.
    """
    absolute = Path(os.path.realpath(path))
    if not absolute.is_relative_to(root):
        raise UsageProblem(f"--since: {path} is not in the git repository {root}")
    return absolute.relative_to(root).as_posix()


class _Counter:
    """Counts what is left in a checkout, and remembers it by file.

    A file is scanned anew only where it, or a module of the tree that it imports, however far away,
    differs from all the commits before.
    """

    def __init__(self, checkout: Checkout, target: Target, options: Options) -> None:
        self._checkout = checkout
        self._target = target
        self._options = options
        self._known: dict[tuple[str, bytes], tuple[Counts, bool]] = {}
        self._imports: dict[str, tuple[tuple[str, int], ...]] = {}  # by blob

    def count(self, paths: Iterable[str], here: str) -> tuple[Counts, int]:
        """Return what is left below ``paths``, and how many files could not be checked."""
        folder = self._checkout.folder
        cwd = folder / here
        cwd.mkdir(parents=True, exist_ok=True)
        # As if it were run there: patterns of `--exclude` count from the working folder.
        with contextlib.chdir(cwd):
            there = [
                os.path.relpath(folder / path, cwd) for path in paths if (folder / path).exists()
            ]
            discovered = Plan(there, self._asked()).discover()
            files = [task.source.path for task in discovered.tasks]
            keys = self._keys(files)
            new = [path for path in files if keys[path] not in self._known]
            if new:
                self._scan(new, keys)
        left, unreadable = Counts(), len(discovered.unreadable)
        for path in files:
            counts, failed = self._known[keys[path]]
            left, unreadable = left + counts, unreadable + failed
        return left, unreadable

    def _asked(self) -> Options:
        options = self._options.copy()
        options["target"], options["diffs"], options["progress"] = self._target, False, None
        options["cache"] = False  # the folder is gone after the run
        return options

    def _scan(self, files: Sequence[str], keys: Mapping[str, tuple[str, bytes]]) -> None:
        result = scan(files, **self._asked())
        failed = {each.path for each in result.unreadable}
        found: defaultdict[str, list[Finding]] = defaultdict(list)
        for finding in result.findings:
            found[finding.place.path].append(finding)
        for path in files:
            self._known[keys[path]] = Counts.of(found[path]), path in failed

    def _keys(self, files: Iterable[str]) -> dict[str, tuple[str, bytes]]:
        """Return, for each file, all that its findings depend on, in short."""
        imported = _Imports(self._checkout, self._imports)
        return {path: (path, imported.digest(os.path.abspath(path))) for path in files}  # noqa: PTH100


class _Imports:
    """Which files of one commit import which."""

    def __init__(self, checkout: Checkout, by_blob: dict[str, tuple[tuple[str, int], ...]]) -> None:
        self._root = f"{checkout.folder}{os.sep}"
        self._blobs = checkout.files
        self._by_blob = by_blob
        self._tree = ModuleFinder()
        self._of: dict[str, tuple[str, ...]] = {}

    def digest(self, start: str) -> bytes:
        """Return a digest of a file and of every file that it reaches by its imports."""
        reached = {start}
        waiting = [start]
        while waiting:
            for path in self._imported(waiting.pop()):
                if path not in reached:
                    reached.add(path)
                    waiting.append(path)
        names = sorted(path.removeprefix(self._root) for path in reached)
        lines = (f"{self._blobs.get(name, '')} {name}\n" for name in names)
        text = "".join(lines).encode(errors="surrogateescape")
        return hashlib.blake2b(text, digest_size=16).digest()

    def _imported(self, path: str) -> tuple[str, ...]:
        if path not in self._of:
            blob = self._blobs.get(path.removeprefix(self._root), "")
            if blob not in self._by_blob:
                self._by_blob[blob] = tuple(dict.fromkeys(_modules(path)))
            found = (self._tree.find(path, *each) for each in self._by_blob[blob])
            self._of[path] = tuple(dict.fromkeys(each for each in found if each is not None))
        return self._of[path]


def _modules(path: str) -> Iterator[tuple[str, int]]:
    """Yield each module that the code in a file may import, and those that hold it."""
    try:
        units = Document.parse(Path(path).read_bytes(), path).units
    except (FileProblem, OSError):
        return
    for unit in units:
        tree = parsed(unit.text)
        for each in imports_of(tree) if tree is not None else ():
            whole = each.module
            if each.name not in (None, "*"):
                whole = f"{whole}.{each.name}" if whole else str(each.name)
            parts = whole.split(".") if whole else []
            yield from ((".".join(parts[:end]), each.level) for end in range(len(parts) + 1))
