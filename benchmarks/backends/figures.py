"""What the runs of a subject come to: which tests fail off TensorFlow, and which pass after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from benchmarks.backends.model import OTHERS, Backend, Half, Stage
from benchmarks.migration.model import Suite

FIXED = (Stage.SAFE, Stage.UNSAFE)


class Figures(msgspec.Struct, frozen=True):
    """The counts of one subject. All tests counted pass on TensorFlow before any fix of KD8."""

    name: str
    half: Half
    tests: int
    passed: dict[Backend, dict[Stage, int]]  # JAX and PyTorch
    gap: dict[Backend, int]  # tests that fail there before
    gained: dict[Backend, dict[Stage, int]]  # of those, pass after
    lost: dict[Stage, int]  # tests that no longer pass on TensorFlow, or on one of the others

    def share(self, stage: Stage) -> float | None:
        """Return the share of what fails on JAX or PyTorch that passes after; None of nothing."""
        gap = sum(self.gap.values())
        return sum(each[stage] for each in self.gained.values()) / gap if gap else None


def of(name: str, half: Half, suites: Mapping[tuple[Stage, Backend], Suite]) -> Figures:
    """Compare the runs of a subject, test by test."""
    tests = suites[Stage.MIGRATED, Backend.TENSORFLOW].passed
    passed = {key: tests & suite.passed for key, suite in suites.items()}
    before = {each: passed[Stage.MIGRATED, each] for each in Backend}
    return Figures(
        name=name,
        half=half,
        tests=len(tests),
        passed={each: {stage: len(passed[stage, each]) for stage in Stage} for each in OTHERS},
        gap={each: len(tests - before[each]) for each in OTHERS},
        gained={
            each: {stage: len(passed[stage, each] - before[each]) for stage in FIXED}
            for each in OTHERS
        },
        lost={
            stage: len(set().union(*(before[each] - passed[stage, each] for each in Backend)))
            for stage in FIXED
        },
    )


def mean_share(subjects: Iterable[Figures], stage: Stage) -> float | None:
    """Return the mean over the subjects where something fails: each counts the same."""
    shares = [share for each in subjects if (share := each.share(stage)) is not None]
    return sum(shares) / len(shares) if shares else None


def pooled_share(subjects: Iterable[Figures], stage: Stage) -> float | None:
    """Return the share of all tests that fail: each test on each backend counts the same."""
    listed = list(subjects)
    gap = sum(sum(each.gap.values()) for each in listed)
    gained = sum(counts[stage] for each in listed for counts in each.gained.values())
    return gained / gap if gap else None
