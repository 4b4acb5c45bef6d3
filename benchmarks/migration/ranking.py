"""Kinds of first errors that are left, ranked by the tests and the packages that end with them."""

from __future__ import annotations

import collections
from collections.abc import Iterable

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.migration.attribution import Told
from benchmarks.migration.kinds import kind
from benchmarks.migration.model import Arm, Half
from benchmarks.migration.summary import Row


class Kind(msgspec.Struct, frozen=True):
    """One kind of error, over all packages that may be looked into."""

    name: str
    tests: int
    packages: tuple[str, ...]
    at_the_line: int  # tests whose first error has a finding at the line that raised
    places: tuple[str, ...]  # the lines in the packages, the commonest first


def rank(rows: Iterable[Row], arm: Arm = Arm.UNSAFE) -> list[Kind]:
    """Return the kinds, those of most packages first; unseen packages are left out."""
    packages: dict[str, set[str]] = collections.defaultdict(set)
    places: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    ways: dict[str, list[Told]] = collections.defaultdict(list)
    for row in rows:
        if row.half is Half.UNSEEN:
            continue
        for failure, told in row.left(arm).values():
            name = kind(failure)
            packages[name].add(row.outcome.package)
            places[name][told.place or failure.raised_at] += 1
            ways[name].append(told.told)
    kinds = [
        Kind(
            name,
            len(ways[name]),
            tuple(sorted(packages[name])),
            ways[name].count(Told.LINE),
            tuple(place for place, _ in places[name].most_common()),
        )
        for name in packages
    ]
    return sorted(kinds, key=lambda each: (-len(each.packages), -each.tests, each.name))


def write(kinds: list[Kind], console: Console) -> None:
    """Print the kinds, with one line in a package that ended with each."""
    table = Table("tests", "packages", "at the line", "kind", "for example")
    for each in kinds:
        figures = (str(each.tests), str(len(each.packages)), str(each.at_the_line))
        table.add_row(*figures, escape(each.name), escape(each.places[0]))
    console.print(table)
