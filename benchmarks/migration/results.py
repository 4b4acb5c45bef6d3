"""The committed results: one small JSON file a package, and the table in this folder's README."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.migration import table
from benchmarks.migration.attribution import Told
from benchmarks.migration.errors import cleaned, grouped
from benchmarks.migration.model import Arm
from benchmarks.migration.recovery import mean_recovery
from benchmarks.migration.summary import FIXED, Row, share_told

FOLDER = Path(__file__).with_name("results")
README = Path(__file__).with_name("README.md")
TABLE = re.compile(r"(<!-- results -->\n).*?(<!-- end -->\n)", re.DOTALL)


def record(rows: list[Row], folder: Path = FOLDER, readme: Path = README) -> None:
    """Write the results of these packages, and the table of all."""
    folder.mkdir(exist_ok=True)
    for row in rows:
        told = msgspec.json.format(msgspec.json.encode(document(row)), indent=1)
        (folder / f"{row.outcome.package}.json").write_bytes(told + b"\n")
    text = readme.read_text("utf-8")
    readme.write_text(TABLE.sub(lambda found: found[1] + page(rows) + found[2], text), "utf-8")


def document(row: Row) -> dict[str, Any]:
    """Return what is kept of a package's runs."""
    figures = row.outcome
    return {
        "package": figures.package,
        "version": row.records[Arm.KERAS_2].version,
        "keras2": len(figures.ceiling),
        "before": len(figures.before),
        "gap": len(figures.gap),
        "findings": row.findings,
        **{str(arm): _after(row, arm) for arm in FIXED},
    }


def _after(row: Row, arm: Arm) -> dict[str, Any]:
    figures, repair = row.outcome, row.records[arm].repair
    assert repair is not None
    return {
        "passed": len(figures.after[arm]),
        "recovered": len(figures.recovered(arm)),
        "recovery": _rounded(figures.recovery(arm)),
        "files_changed": len(repair.changed),
        "seconds": repair.seconds,
        "no_longer_compile": list(repair.broken),
        "lost": sorted(figures.lost[arm]),
        "left": [
            {
                "error": cleaned(f"{failure.type}: {failure.message}"),
                "at": told.place,
                "raised_in": failure.raised_at,
                "told": str(told.told),
                "codes": list(told.codes),
                "tests": tests,
            }
            for (failure, told), tests in grouped(row.left(arm))
        ],
    }


def page(rows: list[Row]) -> str:
    """Return the table and the sentences below it as Markdown."""
    lines = [
        "| " + " | ".join(table.HEADINGS) + " |",
        "| --- |" + " ---: |" * (len(table.HEADINGS) - 1),
        *("| " + " | ".join(table.cells(row)) + " |" for row in rows),
        "| **" + "** | **".join(table.total(rows)) + "** |",
        "",
        *sentences(rows),
    ]
    return "\n".join(lines) + "\n"


def sentences(rows: list[Row]) -> Iterable[str]:
    """Yield what the table does not say: the gap, tests lost, files broken, errors told of."""
    figures = [row.outcome for row in rows]
    gap = sum(len(each.gap) for each in figures)
    for arm in FIXED:
        recovered = sum(len(each.recovered(arm)) for each in figures)
        lost = sum(len(each.lost[arm]) for each in figures)
        repairs = [row.records[arm].repair for row in rows]
        broken = sum(len(repair.broken) for repair in repairs if repair)
        mean = table.percent(mean_recovery(figures, arm))
        yield (
            f"- After the {arm} fixes: {recovered} of the {gap} tests of the gap pass, {mean} in "
            f"the mean over the packages with a gap; {lost} tests that passed before fail; "
            f"{broken} files no longer compile."
        )
    ways = [told.told for row in rows for told in row.told[Arm.UNSAFE].values()]
    told = table.percent(share_told(rows, Arm.UNSAFE))
    yield (
        f"- Of the {len(ways)} first errors left after the unsafe fixes, a finding stood at the "
        f"line of {ways.count(Told.LINE)} and named what the error names in "
        f"{ways.count(Told.NAME)} more, and of {ways.count(Told.CAUSE)} more it was the cause, as "
        f"an experiment shows ({told} together); {ways.count(Told.TRACEBACK)} more had one at "
        "another line of the traceback."
    )


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 3)
