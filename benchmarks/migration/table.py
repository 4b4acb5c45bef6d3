"""The results on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.migration import figures
from benchmarks.migration.attribution import Told
from benchmarks.migration.errors import cleaned, grouped
from benchmarks.migration.figures import Figures
from benchmarks.migration.kinds import kind
from benchmarks.migration.model import Arm, Half, Record
from benchmarks.migration.summary import FIXED, Row

HEADINGS = (
    "package", "Keras 2", "before", "safe", "unsafe", "recovery safe", "unsafe",
    "findings", "files", "seconds",
)  # fmt: skip
HALVES = (
    "", "packages", "authors", "Keras 2", "gap", "recovery safe", "unsafe",
    "finding at the line", "told", "lost",
)  # fmt: skip
NAMES = {
    Half.FIRST: "the first 17",
    Half.WORK: "half to work on",
    Half.UNSEEN: "unseen half",
}


def cells(each: Figures) -> list[str]:
    """Return a package's line of the table."""
    return [
        each.package,
        str(each.keras2),
        str(each.before),
        str(each.safe.passed),
        str(each.unsafe.passed),
        percent(each.safe.recovery),
        percent(each.unsafe.recovery),
        str(each.findings),
        str(each.unsafe.files_changed),
        f"{each.unsafe.seconds:.1f}",
    ]


def total(packages: Sequence[Figures]) -> list[str]:
    """Return the last line: sums, and the mean recovery of the packages with a gap."""
    return [
        "all (recovery: the mean)",
        str(sum(each.keras2 for each in packages)),
        str(sum(each.before for each in packages)),
        *(str(sum(each.after(arm).passed for each in packages)) for arm in FIXED),
        *(percent(figures.mean_recovery(packages, arm)) for arm in FIXED),
        str(sum(each.findings for each in packages)),
        str(sum(each.unsafe.files_changed for each in packages)),
        f"{sum(each.unsafe.seconds for each in packages):.1f}",
    ]


def halves(packages: Sequence[Figures]) -> list[list[str]]:
    """Return a line a half, and one with the difference of those that were not built with."""
    groups = {half: [each for each in packages if each.half is half] for half in Half}
    lines = [half_cells(NAMES[half], group) for half, group in groups.items() if group]
    work, unseen = (groups[half] for half in (Half.WORK, Half.UNSEEN))
    if work and unseen:
        shares = zip(_shares(work), _shares(unseen), strict=True)
        apart = [points(here, there) for here, there in shares]
        lines.append(["between the halves", "", "", "", "", *apart, ""])
    return lines


def half_cells(name: str, packages: Sequence[Figures]) -> list[str]:
    """Return the line of a half. What stands at the line is a mean, too."""
    return [
        name,
        str(len(packages)),
        str(len({each.author for each in packages})),
        str(sum(each.keras2 for each in packages)),
        str(sum(each.gap for each in packages)),
        *map(percent, _shares(packages)),
        str(sum(each.after(arm).lost for each in packages for arm in FIXED)),
    ]


def _shares(packages: Sequence[Figures]) -> list[float | None]:
    return [
        *(figures.mean_recovery(packages, arm) for arm in FIXED),
        figures.mean_at_the_line(packages, Arm.UNSAFE),
        figures.share_told(packages, Arm.UNSAFE),
    ]


def percent(share: float | None) -> str:
    """Return ``56 %``, or a dash where there is nothing to share."""
    return "-" if share is None else f"{share:.0%}".replace("%", " %")


def points(work: float | None, unseen: float | None) -> str:
    """Return by how many points of a hundred the unseen half is below the other one."""
    return "-" if work is None or unseen is None else f"{100 * (work - unseen):.0f} points"


def write(rows: list[Row], console: Console) -> None:
    """Print the tables, then what still fails, what is lost and what no longer compiles.

    Of unseen packages, counts are printed and nothing else.
    """
    counted = [figures.of(row) for row in rows]
    for half in Half:
        if group := [each for each in counted if each.half is half]:
            console.print(_table(HEADINGS, map(cells, group), total(group), NAMES[half]))
    for row in rows:
        if row.half is not Half.UNSEEN:
            _write_trouble(row, console)
            _write_left(row, console)
    console.print(_table(HALVES, halves(counted)))
    for arm in FIXED:
        ways = figures.ways(counted, arm)
        told = ", ".join(f"{ways[way]} {way}" for way in Told)
        share = percent(figures.share_told(counted, arm))
        console.print(f"first errors left ({arm}): {told}; told {share}")


def _table(
    headings: Sequence[str],
    lines: Iterable[list[str]],
    last: list[str] | None = None,
    title: str | None = None,
) -> Table:
    table = Table(*headings, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for line in lines:
        table.add_row(*line)
    if last:
        table.add_section()
        table.add_row(*last)
    return table


def write_baseline(records: Mapping[str, Mapping[Arm, Record]], console: Console) -> None:
    """Print what passes without any fix."""
    gap = 0
    for package, arms in records.items():
        if Arm.KERAS_2 in arms and Arm.BEFORE in arms:
            ceiling, before = (arms[arm].suite.passed for arm in (Arm.KERAS_2, Arm.BEFORE))
            told = f"{len(ceiling)} on Keras 2, {len(ceiling & before)} of them on Keras 3"
            console.print(f"{package}: {told}", highlight=False)
            gap += len(ceiling - before)
    console.print(f"{gap} tests in the gap", highlight=False)


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
        console.print(f"     kind: {escape(kind(failure))}", highlight=False)
        console.print(f"     told: {told.told} {' '.join(told.codes)}; e.g. {escape(tests[0])}")
