"""The figures of a package: counts only, so that they can be told of unseen packages, too."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from benchmarks.migration.attribution import Told
from benchmarks.migration.model import Arm, Half
from benchmarks.migration.summary import Row

TELLING = (Told.LINE, Told.NAME, Told.CAUSE)


class Fixed(msgspec.Struct, frozen=True):
    """What came of one arm's fixes."""

    passed: int  # of the tests that pass on Keras 2
    recovered: int  # of the gap
    recovery: float | None
    files_changed: int
    seconds: float
    broken: int  # files that no longer compile
    lost: int  # tests that passed before the fix
    told: dict[Told, int]  # first errors that are left, by how a finding tells of each

    @property
    def left(self) -> int:
        """How many tests of the gap still fail."""
        return sum(self.told.values())

    @property
    def at_the_line(self) -> float | None:
        """The share of the first errors left with a finding at the line that raised."""
        return self.told.get(Told.LINE, 0) / self.left if self.left else None


class Figures(msgspec.Struct, frozen=True):
    """What is told of a package. A file of results begins with this."""

    package: str
    author: str
    half: Half
    version: str
    keras2: int  # tests that pass
    before: int  # of those, on Keras 3 as it is
    gap: int
    findings: int
    safe: Fixed
    unsafe: Fixed

    def after(self, arm: Arm) -> Fixed:
        """Return what came of an arm's fixes."""
        return self.safe if arm is Arm.SAFE else self.unsafe


def of(row: Row) -> Figures:
    """Count what a package's runs came to."""
    outcome = row.outcome
    return Figures(
        package=outcome.package,
        author=row.author,
        half=row.half,
        version=row.records[Arm.KERAS_2].version,
        keras2=len(outcome.ceiling),
        before=len(outcome.before),
        gap=len(outcome.gap),
        findings=row.findings,
        safe=_fixed(row, Arm.SAFE),
        unsafe=_fixed(row, Arm.UNSAFE),
    )


def _fixed(row: Row, arm: Arm) -> Fixed:
    outcome, repair = row.outcome, row.records[arm].repair
    assert repair is not None
    ways = [told.told for told in row.told[arm].values()]
    recovery = outcome.recovery(arm)
    return Fixed(
        passed=len(outcome.after[arm]),
        recovered=len(outcome.recovered(arm)),
        recovery=None if recovery is None else round(recovery, 3),
        files_changed=len(repair.changed),
        seconds=repair.seconds,
        broken=len(repair.broken),
        lost=len(outcome.lost[arm]),
        told={way: ways.count(way) for way in Told if way in ways},
    )


def mean_recovery(packages: Iterable[Figures], arm: Arm) -> float | None:
    """Return the mean of the recoveries of the packages with a gap: each counts alike."""
    return _mean(each.after(arm).recovery for each in packages)


def mean_at_the_line(packages: Iterable[Figures], arm: Arm) -> float | None:
    """Return the mean share of first errors with a finding at the line, where any are left."""
    return _mean(each.after(arm).at_the_line for each in packages)


def ways(packages: Iterable[Figures], arm: Arm) -> dict[Told, int]:
    """Return how many first errors are told of in each way."""
    told = [each.after(arm).told for each in packages]
    return {way: sum(each.get(way, 0) for each in told) for way in Told}


def share_told(packages: Iterable[Figures], arm: Arm) -> float | None:
    """Return the share of the first errors still there that a finding told of."""
    counts = ways(packages, arm)
    known, left = sum(counts[way] for way in TELLING), sum(counts.values())
    return known / left if left else None


def _mean(shares: Iterable[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None
