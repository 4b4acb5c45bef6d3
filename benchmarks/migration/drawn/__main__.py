"""Measure repositories that have no tests: ``python -m benchmarks.migration.drawn``."""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from benchmarks.migration import catalogue, repairs, sources
from benchmarks.migration.drawn import figures
from benchmarks.migration.model import CACHE, Arm, Half

PEOPLE_RUN = "2023-07-01"  # the last commit before this day: code of Keras 2 times
PROGRAM = "benchmarks.migration.drawn.program"


def main(  # noqa: PLR0913 - the options of the command
    repositories: Annotated[
        Path, typer.Option(help="Git repositories, as <here>/<owner>+<name>/repo.")
    ],
    *,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this owner/name (again for more).")
    ] = None,
    control: Annotated[
        list[str] | None, typer.Option(help="Only count this owner/name (again for more).")
    ] = None,
    draw: Annotated[
        int, typer.Option(min=0, help="Draw so many of the repositories to count, instead.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Draw others.")] = 0,
    files: Annotated[int, typer.Option(min=1, help="Of each repository, so many files.")] = 16,
    cache: Annotated[Path, typer.Option(help="Where copies and runs are kept.")] = CACHE / "drawn",
) -> None:
    """Print what works before and after the fixes; of what is not counted alone, what is left."""
    names = sorted(only or (path.name.replace("+", "/") for path in repositories.iterdir()))
    counted = set(control or random.Random(seed).sample(names, draw))  # noqa: S311
    unseen = _unseen_authors()
    rows: dict[bool, list[figures.Figures]] = {False: [], True: []}
    for name in [*names, *sorted(counted - set(names))]:
        if name.partition("/")[0].lower() in unseen:
            raise typer.BadParameter(f"{name}: its author is of the unseen half")
        try:
            runs = Repository(name, repositories, cache.resolve(), files).runs()
        except sources.FetchProblem as problem:
            raise typer.BadParameter(str(problem)) from None
        row = figures.figures(*runs)
        rows[name in counted].append(row)
        print(name, "(counted)" if name in counted else "", row, flush=True)
        if name not in counted:
            for each in figures.left(runs[0], runs[1], runs[3]):
                print("   ", each.path, each.tried, "LOST" if each.lost else "", each.got)
    for is_control, several in rows.items():
        if several:
            print("to count" if is_control else "to look into", figures.summary(several))


def _unseen_authors() -> frozenset[str]:
    listed = catalogue.read().package
    return frozenset(each.owner.lower() for each in listed if each.half is Half.UNSEEN)


class Repository:
    """One repository, its fixed copies and its runs, kept in the cache."""

    def __init__(self, name: str, repositories: Path, cache: Path, files: int) -> None:
        """Take ``files`` of its files."""
        self._folder = name.replace("/", "+")
        self._git = repositories / self._folder / "repo"
        self._home = cache / self._folder
        self._files = files
        self._recipes = self._home  # of the run on Keras 2, which comes first

    def runs(self) -> tuple[figures.Items, figures.Items, figures.Items, figures.Items]:
        """Return what was tried on Keras 2, on Keras 3, and after the safe and the unsafe fixes.

        Raises:
            FetchProblem: git does not know the repository.
        """
        keras2 = self._run(Arm.KERAS_2)
        return keras2, *(self._run(arm) for arm in (Arm.BEFORE, Arm.SAFE, Arm.UNSAFE))

    def _run(self, arm: Arm) -> figures.Items:
        """Run an arm, or read the run of the same files."""
        arena = self._home / "arena"
        shutil.rmtree(arena, ignore_errors=True)
        shutil.copytree(self._sources(), arena / self._folder, symlinks=True)
        if arm.is_fixed:
            options = ["--unsafe"] if arm is Arm.UNSAFE else []
            repairs.run_fix(arena, options, [self._folder])
        world = "keras2" if arm is Arm.KERAS_2 else "keras3"
        out = self._home / f"{world}-{self._files}-{_digest(arena)}.json"
        if not out.is_file():
            known = [] if arm is Arm.KERAS_2 else [str(self._recipes)]
            command = [sys.executable, "-m", PROGRAM, world, str(arena / self._folder)]
            subprocess.run(
                [*command, str(out), str(self._files), *known],
                cwd=repairs.HOME,
                check=True,
                capture_output=True,
            )
        if arm is Arm.KERAS_2:
            self._recipes = out
        return msgspec.json.decode(out.read_bytes())["items"]

    def _sources(self) -> Path:
        folder = self._home / "sources"
        if not folder.is_dir():
            git = ["git", "-C", str(self._git), "rev-list", "-1", f"--before={PEOPLE_RUN}", "HEAD"]
            found = subprocess.run(git, capture_output=True, text=True, check=False)
            if found.returncode or not found.stdout.strip():
                raise sources.FetchProblem(f"{self._git}: no commit before {PEOPLE_RUN}")
            partial = folder.with_name("partial")
            shutil.rmtree(partial, ignore_errors=True)
            sources.write_commit(self._git, found.stdout.strip(), partial)
            partial.rename(folder)
        return folder


def _digest(folder: Path) -> str:
    """Return what changes whenever code in a folder does."""
    told = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".ipynb"} and path.is_file():
            told.update(path.relative_to(folder).as_posix().encode())
            told.update(path.read_bytes())
    return told.hexdigest()[:16]


if __name__ == "__main__":
    typer.run(main)
