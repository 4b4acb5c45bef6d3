"""What the first errors that are left come from.

    python -m benchmarks.migration.causes          # their kinds, by packages and by tests
    python -m benchmarks.migration.causes --try    # is what causes.toml lists really their cause?

Both read the records and the fixed copies that the last run left in the cache. Unseen packages
are left out.

Exit codes: 0, or 1 where a listed cause does not hold.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.migration import catalogue, environment, experiments, ranking, summary
from benchmarks.migration.arms import Runner
from benchmarks.migration.model import CACHE, Arm, Half, Places


def main(  # noqa: PLR0913 - the options of the command
    *,
    cache: Annotated[Path, typer.Option(help="Where the last run's copies are.")] = CACHE,
    python: Annotated[Path | None, typer.Option(help="The Python with Keras 3.")] = None,
    repositories: Annotated[
        Path | None, typer.Option(help="Take sources from here, not from GitHub.")
    ] = None,
    arm: Annotated[Arm, typer.Option(help="Errors that are left after these fixes.")] = Arm.UNSAFE,
    half: Annotated[Half | None, typer.Option(help="Rank only the errors of this half.")] = None,
    trying: Annotated[bool, typer.Option("--try", help="Try each cause of causes.toml.")] = False,
    only: Annotated[str, typer.Option(help="Try only causes by this rule.")] = "",
    seconds: Annotated[float, typer.Option(help="Processor time that one test may take.")] = 120,
) -> None:
    """Rank the kinds of errors that are left, or try each listed cause."""
    console, cache = Console(), cache.resolve()
    interpreter = python.absolute() if python else environment.make(cache)
    listed = catalogue.read()
    runner = Runner(listed, Places(cache, interpreter, repositories, seconds))
    if trying:
        raise typer.Exit(1 if _tried(runner, listed, only, console) else 0)
    rows = []
    for package in listed.seen:
        if half not in {None, package.half}:
            continue
        records = {each: record for each in Arm if (record := runner.kept(package, each))}
        if len(records) < len(Arm):
            console.print(f"{package.name}: not run yet", style="dim", highlight=False)
            continue
        rows.append(summary.row(package, records, runner))
    ranking.write(ranking.rank(rows, arm), console)


def _tried(runner: Runner, listed: catalogue.Catalogue, only: str, console: Console) -> list[str]:
    """Try the listed causes; return what speaks against them."""
    problems = []
    for each in experiments.read():
        if only in each.code:
            problem = experiments.holds(each, runner, listed)
            told = problem or f"its {len(each.tests)} tests pass"
            console.print(f"{each.package} {each.code} {each.path}: {told}", highlight=False)
            problems += [problem] if problem else []
    return problems


if __name__ == "__main__":
    typer.run(main)
