"""How much of real packages can `kdoctor verify` compare, and what stops the rest?

    python -m tools.check_verified                          # the packages of benchmarks/migration
    python -m tools.check_verified keras-gcn larq           # some of them, by name
    python -m tools.check_verified keras-rl2==1.0.5 ~/code  # source distributions, and folders
    python -m tools.check_verified --json verified.json --reasons 20

Each is verified as it is, with the safe fixes; tests, documentation and setup scripts are left out,
but read for what they call definitions with. Sources from GitHub come from the network, or from
``--repositories``, a folder with ``owner+name/repo``. What is not installed beside kdoctor is not
there for the packages either: install what they need to measure with it.

Exit codes: 0 it was measured, 3 some sources cannot be had.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.migration import catalogue, sources
from benchmarks.migration.model import CACHE, Package, Places
from kdoctor.verify.user.results import VerdictState
from tools import check_packages

UNREACHABLE = 3
LEFT_OUT = ("tests/", "test/", "*_test.py", "setup.py", "docs/", "contrib_docs/")
SECONDS = "20"
VERDICTS = (VerdictState.EQUAL, VerdictState.DIFFERENT, VerdictState.NOT_ON_KERAS_3)
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}


@dataclass(frozen=True)
class Measured:
    """What verify says of one package."""

    name: str
    seconds: float
    definitions: list[dict[str, Any]]

    def count(self, *states: VerdictState) -> int:
        """Return how many definitions are in one of these states."""
        return sum(each["state"] in states for each in self.definitions)


def main() -> int:
    """Measure the packages that are named, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--repositories", type=Path, help="a folder with owner+name/repo")
    parser.add_argument("--json", type=Path, help="write all verdicts into this file")
    parser.add_argument("--reasons", type=int, default=15, help="how many of them are shown")
    arguments = parser.parse_args()
    places = Places(CACHE, Path(sys.executable), arguments.repositories, 0)
    measured, missing = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, where in _folders(arguments.packages, places, Path(folder)):
            if isinstance(where, str):
                print(f"{name}: {where}", file=sys.stderr)
                missing = UNREACHABLE
                continue
            measured.append(measure(name, where))
            print(_line(measured[-1]), file=sys.stderr, flush=True)
            if arguments.json:  # what is measured is kept if it stops half-way
                arguments.json.write_text(json.dumps([asdict(each) for each in measured], indent=1))
    console = Console(width=150)
    console.print(table(measured))
    console.print(reasons(measured, arguments.reasons))
    return missing


def _folders(names: list[str], places: Places, folder: Path) -> Iterator[tuple[str, Path | str]]:
    """Yield each package with where its sources are, or why they cannot be had."""
    listed = {each.name: each for each in catalogue.read().seen}
    for name in names or list(listed):
        try:
            yield name, _sources(name, listed.get(name), places, folder)
        except (sources.FetchProblem, check_packages.IndexUnreachableError) as problem:
            yield name, str(problem)


def _sources(name: str, listed: Package | None, places: Places, folder: Path) -> Path:
    if listed is not None:
        return sources.fetch(listed, places)
    if "==" not in name:
        return Path(name).expanduser()
    where = folder / name
    check_packages.unpack(check_packages.fetch(name), where)
    return where


def measure(name: str, folder: Path) -> Measured:
    """Verify what is in a folder."""
    command = [sys.executable, "-m", "kdoctor", "verify", ".", "--json", "--seconds", SECONDS]
    for each in LEFT_OUT:
        command += ["--exclude", each]
    start = time.monotonic()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **QUIET, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(f"{name}: {done.stderr}")
    return Measured(name, time.monotonic() - start, json.loads(done.stdout)["definitions"])


def table(measured: Iterable[Measured]) -> Table:
    """Return the counts of each package, and of all."""
    found = Table("package", *(each.value for each in VerdictState), "equal", "verdict", "seconds")
    every = list(measured)
    whole = Measured(
        "all", sum(m.seconds for m in every), [d for m in every for d in m.definitions]
    )
    for each in [*every, whole]:
        total = len(each.definitions) or 1
        found.add_row(
            each.name,
            *(str(each.count(state)) for state in VerdictState),
            f"{each.count(VerdictState.EQUAL) / total:.0%}",
            f"{each.count(*VERDICTS) / total:.0%}",
            f"{each.seconds:.0f}",
        )
    return found


def reasons(measured: Iterable[Measured], most: int) -> Table:
    """Return what stops definitions most often, each reason with the packages where it does."""
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for each in measured:
        for definition in each.definitions:
            if definition["state"] not in VERDICTS:
                found[_reason(definition)][each.name] += 1
    shown = Table("definitions", "no verdict, as", "packages")
    for reason, packages in sorted(found.items(), key=lambda pair: -pair[1].total())[:most]:
        told = ", ".join(f"{name} {count}" for name, count in packages.most_common())
        shown.add_row(str(packages.total()), reason, told)
    return shown


def _reason(definition: dict[str, Any]) -> str:
    """Return a reason without what is of one definition alone."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\d+", "…", definition["why"] or "")
    return text[:90]


def _line(measured: Measured) -> str:
    total = len(measured.definitions)
    equal = measured.count(VerdictState.EQUAL)
    return f"{measured.name}: {equal} of {total}, {measured.seconds:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
