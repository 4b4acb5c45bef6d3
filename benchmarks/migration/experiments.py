"""Causes that stand at another line than the error, each shown by an experiment.

``causes.toml`` says which finding is the cause of which tests' first errors, and what to write at
that finding's line so that they pass. ``python -m benchmarks.migration.causes --try`` tries it in
the fixed copies that the last run left in the cache, and puts them back. A cause that no such
change cures is none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec

from benchmarks.migration import catalogue
from benchmarks.migration.arms import Runner
from benchmarks.migration.attribution import TELLING, Attribution, Told
from benchmarks.migration.model import Arm, Found, Repair

LIST = Path(__file__).with_name("causes.toml")


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One finding, the tests that it broke, and the change at its line that cures them."""

    package: str
    code: str
    path: str  # starts with the package's name
    why: str
    tests: tuple[str, ...]
    old: str  # stands on the finding's line in the fixed source
    new: str

    def finding(self, repair: Repair) -> Found | None:
        """Return the finding, None where kdoctor does not say it of the fixed source."""
        return next(
            (
                each
                for each in repair.after
                if (each.code, each.path) == (self.code, self.path) and each.severity in TELLING
            ),
            None,
        )


@cache
def read(path: Path = LIST) -> tuple[Cause, ...]:
    """Return all that are listed."""
    listed = tomllib.loads(path.read_text("utf-8")).get("cause", [])
    return msgspec.convert(listed, tuple[Cause, ...])


def shown(
    found: Attribution, package: str, test: str, repair: Repair, causes: Iterable[Cause]
) -> Attribution:
    """Return ``found``, or that the cause was told of, where an experiment has shown it."""
    if found.told in {Told.LINE, Told.NAME}:
        return found
    for each in causes:
        if each.package == package and test in each.tests and each.finding(repair):
            return msgspec.structs.replace(found, told=Told.CAUSE, codes=(each.code,))
    return found


def holds(cause: Cause, runner: Runner, listed: catalogue.Catalogue) -> str:
    """Try a cause; return what speaks against it, nothing where its tests pass."""
    (package,) = listed.named([cause.package])
    record = runner.known(package, Arm.UNSAFE)
    if record is None or record.repair is None:
        return "there is no run of this kdoctor: run the benchmark first"
    finding, root = cause.finding(record.repair), runner.folder(package, Arm.UNSAFE)
    if finding is None:
        return f"{cause.code} is not said of {cause.path}"
    path = root / cause.path
    source = path.read_text("utf-8")
    lines = source.splitlines(keepends=True)
    if cause.old not in lines[finding.line - 1]:
        return f"line {finding.line} of {cause.path} does not say {cause.old!r}"
    lines[finding.line - 1] = lines[finding.line - 1].replace(cause.old, cause.new)
    try:
        path.write_text("".join(lines), "utf-8")
        passed = runner.suite(package, Arm.UNSAFE).passed
    finally:
        path.write_text(source, "utf-8")
    left = sorted({*cause.tests} - passed)
    return f"still failing: {', '.join(left)}" if left else ""
