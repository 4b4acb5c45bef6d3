"""The committed results: one small JSON file a package, and the tables in this folder's README.

The tables are made from the files, so that a run of one half leaves the figures of the other one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.migration import figures, table
from benchmarks.migration.attribution import Told
from benchmarks.migration.errors import cleaned, grouped
from benchmarks.migration.figures import Figures
from benchmarks.migration.kinds import kind
from benchmarks.migration.model import Arm, Half
from benchmarks.migration.summary import FIXED, Row

FOLDER = Path(__file__).with_name("results")
README = Path(__file__).with_name("README.md")
TABLE = re.compile(r"(<!-- results -->\n).*?(<!-- end -->\n)", re.DOTALL)


def record(
    rows: list[Row], names: Sequence[str], folder: Path = FOLDER, readme: Path = README
) -> None:
    """Write the results of these packages, and the tables of all that are listed."""
    folder.mkdir(exist_ok=True)
    for row in rows:
        told = msgspec.json.format(msgspec.json.encode(document(row)), indent=1)
        (folder / f"{row.outcome.package}.json").write_bytes(told + b"\n")
    packages = read(names, folder)
    text = readme.read_text("utf-8")
    page_ = page(packages)
    readme.write_text(TABLE.sub(lambda found: found[1] + page_ + found[2], text), "utf-8")


def read(names: Iterable[str], folder: Path = FOLDER) -> list[Figures]:
    """Return the recorded figures of the packages of these names, of those that were measured."""
    paths = [path for name in names if (path := folder / f"{name}.json").is_file()]
    return [msgspec.json.decode(path.read_bytes(), type=Figures) for path in paths]


def document(row: Row) -> dict[str, Any]:
    """Return what is kept of a package's runs; of an unseen one, the counts only."""
    kept: dict[str, Any] = msgspec.to_builtins(figures.of(row))
    if row.half is not Half.UNSEEN:
        for arm in FIXED:
            kept[arm] |= _details(row, arm)
    return kept


def _details(row: Row, arm: Arm) -> dict[str, Any]:
    repair = row.records[arm].repair
    assert repair is not None
    return {
        "broken_files": list(repair.broken),
        "lost_tests": sorted(row.outcome.lost[arm]),
        "errors": [
            {
                "error": cleaned(f"{failure.type}: {failure.message}"),
                "kind": kind(failure),
                "at": told.place,
                "raised_in": failure.raised_at,
                "told": str(told.told),
                "codes": list(told.codes),
                "tests": tests,
            }
            for (failure, told), tests in grouped(row.left(arm))
        ],
    }


def page(packages: Sequence[Figures]) -> str:
    """Return the tables and the sentences below them as Markdown."""
    parts = [_markdown(table.HALVES, table.halves(packages)), "\n".join(sentences(packages))]
    for half in Half:
        if group := [each for each in packages if each.half is half]:
            total = [f"**{cell}**" for cell in table.total(group)]
            lines = [*(table.cells(each) for each in group), total]
            name = table.NAMES[half]
            parts += [f"### {name[0].upper()}{name[1:]}", _markdown(table.HEADINGS, lines)]
    return "\n\n".join(parts) + "\n"


def _markdown(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    return "\n".join(
        [
            "| " + " | ".join(headings) + " |",
            "| --- |" + " ---: |" * (len(headings) - 1),
            *("| " + " | ".join(line) + " |" for line in lines),
        ]
    )


def sentences(packages: Sequence[Figures]) -> Iterable[str]:
    """Yield what the tables do not say: the gap, tests lost, files broken, errors told of."""
    gap = sum(each.gap for each in packages)
    for arm in FIXED:
        fixed = [each.after(arm) for each in packages]
        mean = table.percent(figures.mean_recovery(packages, arm))
        yield (
            f"- After the {arm} fixes: {sum(each.recovered for each in fixed)} of the {gap} tests "
            f"of the gap pass, {mean} in the mean over the packages with a gap; "
            f"{sum(each.lost for each in fixed)} tests that passed before fail; "
            f"{sum(each.broken for each in fixed)} files no longer compile."
        )
    ways = figures.ways(packages, Arm.UNSAFE)
    told = table.percent(figures.share_told(packages, Arm.UNSAFE))
    yield (
        f"- Of the {sum(ways.values())} first errors left after the unsafe fixes, a finding stood "
        f"at the line of {ways[Told.LINE]} and named what the error names in {ways[Told.NAME]} "
        f"more, and of {ways[Told.CAUSE]} more it was the cause, as an experiment shows ({told} "
        f"together); {ways[Told.TRACEBACK]} more had one at another line of the traceback."
    )
