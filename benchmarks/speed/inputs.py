"""What the cases run on: the seeded tree and the densest one, with their copies for the peers."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.migration import catalogue, sources
from benchmarks.migration.model import Places
from benchmarks.speed import trees

HERE = Path(__file__).parent
MILLION = 8  # shards
QUICK = 1  # shards for the peers that take minutes for a million lines


@dataclass(frozen=True, slots=True)
class Input:
    """A tree or a part of one: ``paths`` below ``folder``, with all files in them."""

    name: str
    folder: Path
    paths: tuple[str, ...]
    files: tuple[str, ...]
    lines: int

    def copied(self, folder: Path) -> Input:
        """Return a copy in a folder, which is emptied first: for a tool that writes."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in self.paths:
            copy = folder / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            if (self.folder / path).is_dir():
                shutil.copytree(self.folder / path, copy)
            else:
                shutil.copyfile(self.folder / path, copy)
        return Input(self.name, folder, self.paths, self.files, self.lines)


class Inputs:
    """Makes what the cases run on when it is asked for, below one folder, and keeps it there."""

    def __init__(self, work: Path, repositories: Path | None) -> None:
        self._work = work
        self._repositories = repositories

    def part(self, shards: int) -> Input:
        """Return the first shards of the seeded tree."""
        tree = self._work / "tree"
        files = trees.make(tree, shards).up_to(shards)
        names = tuple(map(trees.shard_name, range(shards)))
        told = f"{shards * trees.SHARD_LINES:,} lines"
        lines = sum(file.lines for file in files)
        return Input(told, tree, names, tuple(file.path for file in files), lines)

    @cached_property
    def dense(self) -> Input:
        """Return the Python files of repositories written for Keras 2."""
        if self._repositories is None:
            packages = catalogue.read(HERE / "releases.toml")
        else:
            packages = catalogue.read(HERE / "repositories.toml")
        places = Places(self._work, Path(), self._repositories, 0)
        tree = self._work / "dense"
        for package in packages.package:
            source, folder = sources.fetch(package, places), tree / package.name
            if not folder.is_dir():
                _copy_python(source, folder)
        return _whole("densest tree", tree)

    def commit(self) -> Input:
        """Return five files of one project, as a commit may touch: one has code of Keras 2."""
        tree = self._work / "tree"
        known = trees.make(tree, 1).up_to(1)
        wanted = [
            trees.Kind.OLD, trees.Kind.MODERN, trees.Kind.MODERN, trees.Kind.PLAIN,
            trees.Kind.PLAIN,
        ]  # fmt: skip
        for project in dict.fromkeys(Path(file.path).parts[:2] for file in known):
            there = [
                file
                for file in known
                if Path(file.path).parts[:2] == project and 60 <= file.lines <= 250
            ]
            chosen = _one_each(there, wanted)
            if chosen is not None:
                paths = tuple(file.path for file in chosen)
                return Input("5 files", tree, paths, paths, sum(file.lines for file in chosen))
        raise ValueError("no project of the tree has such files")

    def of_torch(self, tree: Input) -> Input:
        """Return the same tree with keras renamed to torch, which TorchFix looks for."""
        folder = self._work / "torch" / tree.name.replace(" ", "-")
        for path in tree.files:
            copy = folder / path
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                data = (tree.folder / path).read_bytes()
                copy.write_bytes(data.replace(b"keras", b"torch").replace(b"Keras", b"Torch"))
        return Input(tree.name, folder, tree.paths, tree.files, tree.lines)


def _one_each(files: Iterable[trees.File], kinds: list[trees.Kind]) -> list[trees.File] | None:
    left, chosen = list(files), []
    for kind in kinds:
        found = next((file for file in left if file.kind is kind), None)
        if found is None:
            return None
        left.remove(found)
        chosen.append(found)
    return chosen


def _copy_python(source: Path, folder: Path) -> None:
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for path in sorted(source.rglob("*.py")):
        if path.is_file():
            copy = partial / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    partial.rename(folder)


def _whole(name: str, tree: Path) -> Input:
    paths = sorted(tree.rglob("*.py"))
    lines = sum(path.read_bytes().count(b"\n") for path in paths)
    names = tuple(sorted(each.name for each in tree.iterdir()))
    return Input(name, tree, names, tuple(str(path.relative_to(tree)) for path in paths), lines)
