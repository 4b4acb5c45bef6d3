"""The results on a terminal."""

from __future__ import annotations

import collections
from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.migration.attribution import Told
from benchmarks.migration.errors import cleaned, grouped
from benchmarks.migration.model import Arm, Record
from benchmarks.migration.recovery import mean_recovery
from benchmarks.migration.summary import FIXED, Row, share_told

HEADINGS = (
    "package", "Keras 2", "before", "safe", "unsafe", "recovery safe", "unsafe",
    "findings", "files", "seconds",
)  # fmt: skip


def cells(row: Row) -> list[str]:
    """Return a package's line of the table."""
    figures = row.outcome
    return [
        figures.package,
        str(len(figures.ceiling)),
        str(len(figures.before)),
        str(len(figures.after[Arm.SAFE])),
        str(len(figures.after[Arm.UNSAFE])),
        percent(figures.recovery(Arm.SAFE)),
        percent(figures.recovery(Arm.UNSAFE)),
        str(row.findings),
        str(row.changed(Arm.UNSAFE)),
        f"{row.seconds(Arm.UNSAFE):.1f}",
    ]


def total(rows: list[Row]) -> list[str]:
    """Return the last line: sums, and the mean recovery of the packages with a gap."""
    figures = [row.outcome for row in rows]
    counted = (
        [len(each.ceiling) for each in figures],
        [len(each.before) for each in figures],
        *([len(each.after[arm]) for each in figures] for arm in FIXED),
    )
    return [
        "all (recovery: the mean)",
        *(str(sum(each)) for each in counted),
        *(percent(mean_recovery(figures, arm)) for arm in FIXED),
        str(sum(row.findings for row in rows)),
        str(sum(row.changed(Arm.UNSAFE) for row in rows)),
        f"{sum(row.seconds(Arm.UNSAFE) for row in rows):.1f}",
    ]


def percent(share: float | None) -> str:
    """Return ``56 %``, or a dash where there is nothing to share."""
    return "-" if share is None else f"{share:.0%}".replace("%", " %")


def write(rows: list[Row], console: Console) -> None:
    """Print the table, then what still fails, what is lost and what no longer compiles."""
    table = Table(*HEADINGS)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*cells(row))
    table.add_section()
    table.add_row(*total(rows))
    console.print(table)
    for row in rows:
        _write_trouble(row, console)
        _write_left(row, console)
    for arm in FIXED:
        ways = collections.Counter(t.told for row in rows for t in row.told[arm].values())
        told = ", ".join(f"{ways[way]} {way}" for way in Told)
        console.print(f"first errors left ({arm}): {told}; told {percent(share_told(rows, arm))}")


def write_baseline(records: Mapping[str, Mapping[Arm, Record]], console: Console) -> None:
    """Print what passes without any fix."""
    for package, arms in records.items():
        if len(arms) == 2:
            ceiling, before = (arms[arm].suite.passed for arm in (Arm.KERAS_2, Arm.BEFORE))
            told = f"{len(ceiling)} on Keras 2, {len(ceiling & before)} of them on Keras 3"
            console.print(f"{package}: {told}", highlight=False)


def _write_trouble(row: Row, console: Console) -> None:
    for arm in FIXED:
        for test in sorted(row.outcome.lost[arm]):
            failure = row.records[arm].suite.of(test).failure
            why = f"{failure.type}: {failure.message}" if failure else ""
            console.print(f"[red]lost[/] ({arm}) {escape(row.outcome.package)} {escape(test)}")
            console.print(f"    {escape(cleaned(why))}")
        repair = row.records[arm].repair
        for path in repair.broken if repair else ():
            console.print(f"[red]no longer compiles[/] ({arm}) {escape(path)}")


def _write_left(row: Row, console: Console) -> None:
    """Print each first error once, with the tests that end with it."""
    groups = grouped(row.left(Arm.UNSAFE))
    if groups:
        console.print(f"\n[bold]{escape(row.outcome.package)}[/]: still failing after --unsafe")
    for (failure, told), tests in groups:
        error = escape(cleaned(f"{failure.type}: {failure.message}"))
        console.print(f"  {len(tests)}x {error}", highlight=False)
        console.print(f"     at {escape(told.place)} (raised in {escape(failure.raised_at)})")
        console.print(f"     told: {told.told} {' '.join(told.codes)}; e.g. {escape(tests[0])}")
