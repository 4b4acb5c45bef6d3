"""What was measured: kept case by case in the work folder, and all of it in ``results.json``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.speed.measure import Run

RESULTS = Path(__file__).with_name("results.json")
README = Path(__file__).with_name("README.md")


class Case(msgspec.Struct, frozen=True):
    """The runs of a case by tool. ``key`` names what was measured: another kdoctor, another key."""

    key: str
    when: str
    runs: dict[str, list[Run]]
    lines: dict[str, int]


class Store:
    """The cases that were measured so far: a run that was stopped goes on where it was."""

    def __init__(self, work: Path, key: str) -> None:
        self._folder = work / "results"
        self._key = key

    def known(self, name: str) -> Case | None:
        """Return a case, where it was measured with this very kdoctor on these very trees."""
        try:
            data = (self._folder / f"{name}.json").read_bytes()
            case = msgspec.json.decode(data, type=Case)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        return case if case.key == self._key else None

    def keep(self, name: str, case: Case) -> None:
        """Write a case down."""
        self._folder.mkdir(parents=True, exist_ok=True)
        partial = self._folder / f"{name}.partial"
        partial.write_bytes(msgspec.json.encode(case))
        partial.rename(self._folder / f"{name}.json")


def key_of(*parts: Path | str) -> str:
    """Return a hash of files, folders of Python files and words."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(part.encode())
            continue
        files = sorted(part.rglob("*")) if part.is_dir() else [part]
        for path in files:
            if path.is_file() and path.suffix != ".pyc":
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def write(about: Mapping[str, Any], cases: Mapping[str, Case], page: str) -> None:
    """Write ``results.json``, and the table into this folder's README."""
    RESULTS.write_bytes(encoded(about, cases))
    put("results", page)


def encoded(about: Mapping[str, Any], cases: Mapping[str, Case]) -> bytes:
    """Return the raw results as JSON."""
    return msgspec.json.format(msgspec.json.encode({"about": about, "cases": cases})) + b"\n"


def put(mark: str, text: str, readme: Path = README) -> None:
    """Write a text between two marks of the README."""
    pattern = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end -->\n)", re.DOTALL)
    old = readme.read_text("utf-8")
    assert pattern.search(old), f"{readme} has no place for {mark}"
    readme.write_text(pattern.sub(lambda found: found[1] + text + found[2], old), "utf-8")
