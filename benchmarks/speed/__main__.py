"""Measure kdoctor beside its peers, on the same machine and trees: ``-m benchmarks.speed``."""

from __future__ import annotations

import compileall
import datetime as dt
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.speed import cases, record, table, tools, trees
from benchmarks.speed.inputs import HERE, MILLION, QUICK, Inputs
from benchmarks.speed.measure import CommandProblem

ROOT = HERE.parent.parent
WORK = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kdoctor-speed"


def main(  # noqa: PLR0913 - the options of the command
    *,
    only: Annotated[
        list[str] | None,
        typer.Option(help=f"Only this case (again for more): {', '.join(cases.CASES)}."),
    ] = None,
    work: Annotated[Path, typer.Option(help="Where trees, peers and runs are kept.")] = WORK,
    repositories: Annotated[
        Path | None,
        typer.Option(
            help="Take the densest tree from git at <here>/<owner>+<name>/repo; without it, from "
            "packages of the index."
        ),
    ] = None,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Make the trees and the peers, and measure nothing.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Measure anew what was measured with this kdoctor.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="One run of what takes long, and up to a million lines."),
    ] = False,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="Give also the peers that take minutes a million lines, three times."
        ),
    ] = False,
    slow_runs: Annotated[
        int, typer.Option(help="How often the peers run that take minutes.", min=1, max=3)
    ] = 1,
    keep: Annotated[
        bool, typer.Option("--record", help="Write results.json and the table in the README.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Also write the raw results here.")] = None,
) -> None:
    """Measure kdoctor beside its peers. The ratios are of medians of interleaved runs."""
    console = Console()
    unknown = set(only or ()) - set(cases.CASES)
    if unknown:
        raise typer.BadParameter(f"there is no case {', '.join(sorted(unknown))}")
    work = work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    settings = cases.Settings(
        work,
        runs=1 if quick else 3,
        slow_runs=3 if whole else slow_runs,
        slow_shards=MILLION if whole else QUICK,
        quick=quick,
    )
    bench = cases.Bench(settings, Inputs(work, repositories), tools.peers(work))
    if prepare:
        console.print(_make_up(bench))
        return
    made_from = [HERE / name for name in ("cases.py", "trees.py", "tools.py", "requirements.txt")]
    # Where a case was measured with more runs, it counts no less.
    how = repr(replace(settings, slow_runs=3 if whole else 1))
    key = record.key_of(ROOT / "kdoctor", *made_from, HERE / "chunks", how, sys.version)
    store = record.Store(work, key)
    # As pip does with all that it installs, the peers among it. A checkout may lack it, or have it
    # of other sources: where `PYTHONDONTWRITEBYTECODE` is set, each start would compile anew.
    compileall.compile_dir(ROOT / "kdoctor", quiet=2)
    found: dict[str, record.Case] = {}
    for name in cases.CASES:
        if only and name not in only:
            continue
        known = None if again else store.known(name)
        found[name] = known or _measured(name, bench, store, key, console)
    _show(found, console)
    about = _about(bench)
    if json is not None:
        json.write_bytes(record.encoded(about, found))
    if keep:
        record.write(about, found, _heading(about) + table.page(found))


def _measured(
    name: str, bench: cases.Bench, store: record.Store, key: str, console: Console
) -> record.Case:
    try:
        measured = cases.contest(name, bench, lambda told: console.print(escape(told)))
    except CommandProblem as problem:
        console.print(f"[red]{escape(str(problem))}[/]", highlight=False)
        raise typer.Exit(2) from None
    when = dt.datetime.now(dt.UTC).isoformat(timespec="minutes")
    case = record.Case(key, when, measured.runs, measured.lines)
    store.keep(name, case)
    return case


def _make_up(bench: cases.Bench) -> dict[str, float]:
    """Make all that is needed; return what the million lines are."""
    shards = max(cases.GROWTH)
    bench.inputs.part(shards)
    bench.inputs.of_torch(bench.inputs.part(bench.settings.slow_shards))
    bench.inputs.of_torch(bench.inputs.dense)
    return _of_a_million(bench)


def _of_a_million(bench: cases.Bench) -> dict[str, float]:
    made = trees.make(bench.settings.work / "tree", MILLION).up_to(MILLION)
    return {name: round(value, 3) for name, value in trees.make_up(made).items()}


def _about(bench: cases.Bench) -> dict[str, object]:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "commit": commit.stdout.strip(),
        "machine": tools.machine(),
        "python": tools.interpreter(),
        "peers": tools.versions(bench.settings.work),
        "tree": _of_a_million(bench),
    }


def _heading(about: dict[str, object]) -> str:
    peers = about["peers"]
    assert isinstance(peers, dict)
    versions = ", ".join(f"{name} {version}" for name, version in peers.items())
    where = f"{about['machine']}, {about['python']}"
    return f"Measured on {about['date']} at {about['commit']}, {where}: {versions}.\n\n"


def _show(found: dict[str, record.Case], console: Console) -> None:
    shown = Table(*table.HEADINGS)
    for line in table.lines_of(found):
        shown.add_row(*line.cells())
    console.print(shown)


if __name__ == "__main__":
    typer.run(main)
