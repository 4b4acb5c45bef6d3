"""Run code for TensorFlow on JAX and PyTorch, before and after: ``-m benchmarks.backends``."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.backends import figures, table
from benchmarks.backends.figures import Figures
from benchmarks.backends.model import CACHE, Backend, Half, Stage, Subject, read
from benchmarks.backends.runs import Runner
from benchmarks.migration import environment
from benchmarks.migration.model import CACHE as MIGRATION
from benchmarks.migration.model import Places
from benchmarks.migration.repairs import KdoctorProblem
from benchmarks.migration.sources import FetchProblem


def main(  # noqa: PLR0913 - the options of the command
    *,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this subject (again for more).")
    ] = None,
    cache: Annotated[Path, typer.Option(help="Where copies and records are kept.")] = CACHE,
    repositories: Annotated[
        Path | None,
        typer.Option(help="Take sources from <here>/<owner>+<name>/repo, not from GitHub."),
    ] = None,
    python: Annotated[
        Path | None, typer.Option(help="Use this Python for the tests, not one made for it.")
    ] = None,
    backends: Annotated[
        Path | None, typer.Option(help="A folder with JAX and PyTorch, not one made for it.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Subjects at a time.")] = 2,
    record: Annotated[
        bool, typer.Option("--record", help="Write results.json and the README's tables.")
    ] = False,
) -> None:
    """Run code for TensorFlow on JAX and PyTorch, before and after `kdoctor fix --backend all`."""
    listed = read()
    known = {each.name: each for each in listed}
    if missing := [name for name in only or () if name not in known]:
        raise typer.BadParameter(f"there is no subject {missing[0]!r} in subjects.toml")
    if record and only:
        raise typer.BadParameter("--record is of all subjects: without --only")
    cache.mkdir(parents=True, exist_ok=True)
    used = python.absolute() if python else environment.make(MIGRATION)
    runner = Runner(Places(cache.resolve(), used, repositories, 120), backends)
    console = Console()
    chosen = [known[name] for name in only] if only else listed
    rows: list[Figures] = []
    problems: list[str] = []
    with ThreadPoolExecutor(jobs) as pool:
        for subject, told in zip(chosen, pool.map(_measured(runner), chosen), strict=True):
            if isinstance(told, Figures):
                rows.append(told)
                console.print(f"{subject.name}: measured", highlight=False)
            else:
                problems.append(f"{subject.name}: {told}")
    console.print(table.page(rows), markup=False, highlight=False, soft_wrap=True)
    for each in problems:
        console.print(f"not measured: {each}", markup=False, highlight=False)
    if record and not problems:
        table.write(rows)
    raise typer.Exit(2 if problems else 0)


def _measured(runner: Runner) -> Callable[[Subject], Figures | str]:
    def measure(subject: Subject) -> Figures | str:
        try:
            suites = {
                (stage, backend): runner.suite(subject, stage, backend)
                for stage in Stage
                for backend in Backend
            }
        except (FetchProblem, KdoctorProblem) as problem:
            return type(problem).__name__ if subject.half is Half.HELD else str(problem)
        return figures.of(subject.name, subject.half, suites)

    return measure


if __name__ == "__main__":
    typer.run(main)
