"""Run the tests of packages on Keras 2 and 3, before and after: ``-m benchmarks.migration``."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.migration import catalogue, environment, summary, table
from benchmarks.migration.arms import Runner
from benchmarks.migration.model import Arm, Package, Places
from benchmarks.migration.repairs import KdoctorProblem
from benchmarks.migration.sources import FetchProblem

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kdoctor-migration"


def main(  # noqa: PLR0913 - the options of the command
    *,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this package (again for more).")
    ] = None,
    cache: Annotated[
        Path, typer.Option(help="Where sources, copies and records are kept.")
    ] = CACHE,
    repositories: Annotated[
        Path | None,
        typer.Option(help="Take sources from <here>/<owner>+<name>/repo, not from GitHub."),
    ] = None,
    python: Annotated[
        Path | None, typer.Option(help="Use this Python for the tests, not one made for it.")
    ] = None,
    packages: Annotated[Path, typer.Option(help="The list of packages.")] = catalogue.LIST,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Packages at a time.")] = 2,
    seconds: Annotated[float, typer.Option(help="Processor time that one test may take.")] = 60,
) -> None:
    """Run the tests of packages written for Keras 2 on Keras 3, before and after kdoctor's fix."""
    console = Console()
    cache = cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    places = Places(
        cache=cache,
        # Not resolved: a virtual environment is known by the link.
        python=python.absolute() if python else environment.make(cache),
        repositories=repositories,
        seconds_a_test=seconds,
    )
    listed = catalogue.read(packages)
    try:
        chosen = listed.named(only or [])
    except KeyError as problem:
        raise typer.BadParameter(f"there is no package {problem} in {packages}") from None
    runner = Runner(listed, places)
    rows, problems = run(chosen, runner, places, jobs, console)
    if rows:
        table.write(rows, console)
    for told in problems:
        console.print(f"[red]not measured[/] {escape(told)}", highlight=False)
    raise typer.Exit(2 if problems else 0)


def run(
    packages: list[Package], runner: Runner, places: Places, jobs: int, console: Console
) -> tuple[list[summary.Row], list[str]]:
    """Run all arms of all packages; return the rows, and what could not be measured."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    shown = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
    problems: list[str] = []
    doing: dict[str, str] = {}
    lock = threading.Lock()
    with shown, ThreadPoolExecutor(jobs) as pool:
        task = shown.add_task("", total=len(packages) * len(Arm))

        def tell(package: Package, arm: Arm | None) -> None:
            with lock:
                doing[package.name] = f"{package.name} {arm}" if arm else ""
                told = " · ".join(filter(None, doing.values()))
                shown.update(task, description=told)

        def measure(package: Package) -> summary.Row | None:
            records = {}
            try:
                for arm in Arm:
                    tell(package, arm)
                    records[arm] = runner.record(package, arm)
                    shown.advance(task)
                return summary.row(package, records, runner, places)
            except (FetchProblem, KdoctorProblem) as problem:
                problems.append(f"{package.name}: {problem}")
                return None
            finally:
                tell(package, None)

        rows = list(pool.map(measure, packages))
    return [row for row in rows if row is not None], problems


if __name__ == "__main__":
    typer.run(main)
