"""The figures of all packages, for the table, the page and the files of results."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from benchmarks.migration import experiments
from benchmarks.migration.arms import Runner
from benchmarks.migration.attribution import Attribution, attribute, lines_before
from benchmarks.migration.model import Arm, Failure, Half, Package, Record
from benchmarks.migration.recovery import Outcome, outcome

FIXED = (Arm.SAFE, Arm.UNSAFE)


class Row(msgspec.Struct, frozen=True):
    """One package: its figures, and what kdoctor had said of what still fails."""

    outcome: Outcome
    records: dict[Arm, Record]
    told: dict[Arm, dict[str, Attribution]]  # by test, of those left
    half: Half = Half.WORK
    author: str = ""

    @property
    def findings(self) -> int:
        """How many findings there were before any fix."""
        repair = self.records[Arm.UNSAFE].repair
        return len(repair.before) if repair else 0

    def changed(self, arm: Arm) -> int:
        """Return how many files the fix changed."""
        repair = self.records[arm].repair
        return len(repair.changed) if repair else 0

    def seconds(self, arm: Arm) -> float:
        """Return how long the fix took."""
        repair = self.records[arm].repair
        return repair.seconds if repair else 0.0

    def left(self, arm: Arm) -> dict[str, tuple[Failure, Attribution]]:
        """Return the tests of the gap that still fail: first error, and who told of it."""
        failures = self.outcome.left[arm]
        return {test: (failure, self.told[arm][test]) for test, failure in failures.items()}


def row(package: Package, records: Mapping[Arm, Record], runner: Runner) -> Row:
    """Compare the arms of a package and attribute what still fails."""
    figures = outcome(records)
    originals = runner.originals(package)
    told = {}
    for arm in FIXED:
        repair = records[arm].repair
        assert repair is not None
        before = lines_before(
            runner.folder(package, arm),
            lambda path: originals[path.partition("/")[0]] / path.partition("/")[2],
        )
        told[arm] = {
            test: experiments.shown(
                attribute(failure, repair, before, f"{figures.package}/{test}"),
                figures.package,
                test,
                repair,
                experiments.read(),
            )
            for test, failure in figures.left[arm].items()
        }
    return Row(figures, dict(records), told, package.half, package.owner)
