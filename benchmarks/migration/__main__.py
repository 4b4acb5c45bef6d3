"""Run the tests of packages on Keras 2 and 3, before and after: ``-m benchmarks.migration``."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.migration import catalogue, environment, results, selection, suites, summary, table
from benchmarks.migration.arms import Runner
from benchmarks.migration.model import CACHE, Arm, Half, Package, Places, Record
from benchmarks.migration.repairs import KdoctorProblem
from benchmarks.migration.sources import FetchProblem


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
    unseen: Annotated[
        bool, typer.Option("--unseen", help="Also the packages that nobody looks into.")
    ] = False,
    sample: Annotated[
        int, typer.Option(min=0, help="Only so many packages, drawn: some 20 minutes for 8.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Draw others for the sample.")] = 0,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Make only the runs that kdoctor has no part in.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Packages at a time.")] = 2,
    record: Annotated[
        bool, typer.Option("--record", help="Write results/ and the table in the README.")
    ] = False,
    seconds: Annotated[float, typer.Option(help="Processor time that one test may take.")] = 120,
) -> None:
    """Run the tests of packages written for Keras 2 on Keras 3, before and after kdoctor's fix."""
    console = Console()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stops as Ctrl-C does
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
    if record and (only or baseline or sample):
        raise typer.BadParameter("--record is of all: without --only, --sample and --baseline")
    try:
        chosen = selection.chosen(listed, only or [], unseen=unseen)
    except selection.SelectionProblem as problem:
        raise typer.BadParameter(f"{problem} ({packages})") from None
    runner = Runner(listed, places)
    if sample:
        chosen = selection.drawn(chosen, sample, seed, runner.expected_seconds, jobs)
    arms = [arm for arm in Arm if not (baseline and arm.is_fixed)]
    records, problems = run(chosen, arms, runner, jobs, console)
    rows = [
        summary.row(package, records[package.name], runner)
        for package in chosen
        if len(records[package.name]) == len(Arm)
    ]
    if baseline:
        table.write_baseline(records, console)
    if rows:
        table.write(rows, console)
    if record and problems:
        console.print("nothing is recorded: not every package was measured")
    elif record:
        results.record(rows, [package.name for package in listed.package])
    for told in problems:
        console.print(f"[red]not measured[/] {escape(told)}", highlight=False)
    raise typer.Exit(2 if problems else 0)


def run(
    packages: list[Package], arms: list[Arm], runner: Runner, jobs: int, console: Console
) -> tuple[dict[str, dict[Arm, Record]], list[str]]:
    """Run these arms of all packages; return the records, and what could not be measured.

    What no kdoctor changes comes first, so that it is there for the next run, too.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    shown = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
    doing: dict[tuple[str, Arm], None] = {}
    problems: dict[str, str] = {}
    records: dict[str, dict[Arm, Record]] = {package.name: {} for package in packages}
    with shown, ThreadPoolExecutor(jobs) as pool:
        task = shown.add_task("", total=len(packages) * len(arms))

        def measure(todo: tuple[Arm, Package]) -> None:
            arm, package = todo
            doing[package.name, arm] = None
            shown.update(task, description=" · ".join(f"{name} {arm}" for name, arm in [*doing]))
            try:
                records[package.name][arm] = runner.record(package, arm)
            except (FetchProblem, KdoctorProblem) as problem:
                told = type(problem).__name__ if package.half is Half.UNSEEN else problem
                problems[package.name] = f"{package.name} ({arm}): {told}"
            del doing[package.name, arm]
            shown.advance(task)

        running = [pool.submit(measure, (arm, each)) for arm in arms for each in packages]
        try:
            for each in running:
                each.result()
        except BaseException:
            suites.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return records, sorted(problems.values())


if __name__ == "__main__":
    typer.run(main)
