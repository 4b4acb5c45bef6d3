"""Hold every error that kdoctor reports in the packages to the installed Keras.

    python -m benchmarks.migration.precision --python PATH --cache DIR

Each reported name, member and argument is looked up, and used as far as it can be, in a process of
its own on the target (``tools/look_up_names.py``). One that exists and works is a false alarm.

Unseen packages are left out.

Exit codes: 0 there is none, 1 there is one.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from benchmarks.migration import catalogue, environment, repairs, sources
from benchmarks.migration.model import CACHE, Found, Places
from tools import named_in_findings


class Precision(msgspec.Struct, frozen=True):
    """How many errors there are, how many could be checked, and which of them are false."""

    errors: int
    checked: int
    symbols: int  # different ones, of the checked
    false_alarms: tuple[Found, ...]
    unchecked: dict[str, int]  # by rule: there is no name to look up


def measure(findings: Iterable[Found], python: Path) -> Precision:
    """Look up what the errors among ``findings`` name."""
    errors = [finding for finding in findings if finding.severity == "error"]
    names = {finding: name_in(finding) for finding in errors}
    verdicts = named_in_findings.look_up(names.values(), python)
    checked = [finding for finding in errors if verdicts.get(names[finding]) is not None]
    unchecked = collections.Counter(
        f"{finding.code} {finding.name}" for finding in errors if finding not in set(checked)
    )
    return Precision(
        errors=len(errors),
        checked=len(checked),
        symbols=len({names[finding] for finding in checked}),
        false_alarms=tuple(f for f in checked if verdicts[names[f]] == "exists"),
        unchecked=dict(sorted(unchecked.items())),
    )


def name_in(finding: Found) -> str:
    """Return the name, member or argument that is not there, or nothing: it says something else."""
    return named_in_findings.name_in(
        code=finding.code, message=finding.message, symbol=finding.symbol
    )


def main(
    *,
    cache: Annotated[Path, typer.Option(help="Where the sources are kept.")] = CACHE,
    repositories: Annotated[
        Path | None, typer.Option(help="Take sources from here, not from GitHub.")
    ] = None,
    python: Annotated[Path | None, typer.Option(help="The Python with Keras 3.")] = None,
    packages: Annotated[Path, typer.Option(help="The list of packages.")] = catalogue.LIST,
) -> None:
    """Look up every name that kdoctor calls an error in the packages."""
    console = Console()
    cache = cache.resolve()
    interpreter = python.absolute() if python else environment.make(cache)
    places = Places(cache, interpreter, repositories, 0)
    listed = catalogue.read(packages)
    findings = [
        msgspec.structs.replace(finding, path=f"{package.name}/{finding.path}")
        for package in (*listed.seen, *listed.library)
        for finding in repairs.scan_folder(sources.fetch(package, places))
    ]
    result = measure(findings, interpreter)
    console.print(
        f"{len(findings)} findings, {result.errors} of them errors; {result.checked} errors name "
        f"something that can be looked up ({result.symbols} names)"
    )
    for rule, count in result.unchecked.items():
        console.print(f"  not looked up: {count}x {rule}", highlight=False)
    for false in result.false_alarms:
        told = f"{false.path}:{false.line} {false.code} {false.symbol}: it exists and works"
        console.print(escape(told), style="red", highlight=False)
    raise typer.Exit(1 if result.false_alarms else 0)


if __name__ == "__main__":
    typer.run(main)
