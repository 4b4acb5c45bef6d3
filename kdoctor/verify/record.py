"""The proof record that ships with the rules: what it holds, and whether it fits them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kdoctor.verify.jobs import Outcome

RECORD = Path(__file__).parent.parent / "rules" / "proofs.json"
ABOUT = "about"


def read(path: Path = RECORD) -> dict[str, dict[str, Any]]:
    """Return the record; empty where there is none."""
    if not path.is_file():
        return {}
    record: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return record


def write(
    about: dict[str, Any],
    outcomes: Iterable[Outcome],
    kept: Mapping[str, dict[str, Any]] | None = None,
    path: Path = RECORD,
) -> None:
    """Write the record anew: sorted, and without anything that changes from day to day.

    ``kept`` are entries of an earlier record that stand as they are.
    """
    record = {**(kept or {}), **{outcome.id: outcome.as_record() for outcome in outcomes}}
    text = json.dumps({**record, ABOUT: about}, indent=1, sort_keys=True, ensure_ascii=False)
    path.write_text(f"{text}\n", "utf-8")


def unrecorded(ids: Iterable[str], record: dict[str, dict[str, Any]]) -> list[str]:
    """Return which of these were never proven."""
    return sorted(set(ids) - set(record))


def stale(ids: Iterable[str], record: dict[str, dict[str, Any]]) -> list[str]:
    """Return which entries of the record belong to nothing any more."""
    return sorted(set(record) - set(ids) - {ABOUT})


def broken_promises(
    outcomes: Iterable[Outcome], record: dict[str, dict[str, Any]]
) -> list[Outcome]:
    """Return the outcomes that fail although the record says that they hold."""
    return [
        outcome
        for outcome in outcomes
        if not outcome.holds and record.get(outcome.id, {}).get("holds") is True
    ]
