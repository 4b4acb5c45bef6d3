"""What the four arms of a package come to: the gap, what is recovered, what is lost."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from benchmarks.migration.model import Arm, Failure, Record


class Outcome(msgspec.Struct, frozen=True):
    """The figures of one package. Tests are compared one by one, by their id."""

    package: str
    ceiling: frozenset[str]  # pass on Keras 2
    before: frozenset[str]  # of those, pass on Keras 3 as it is
    after: dict[Arm, frozenset[str]]  # of those, pass after the fix
    lost: dict[Arm, frozenset[str]]  # passed on Keras 3 before (also those that fail on Keras 2)
    left: dict[Arm, dict[str, Failure]]  # of the gap, what still fails, and its first error

    @property
    def gap(self) -> frozenset[str]:
        """Tests that pass on Keras 2 and fail on Keras 3."""
        return self.ceiling - self.before

    def recovered(self, arm: Arm) -> frozenset[str]:
        """Return the tests of the gap that pass after the fix."""
        return self.gap & self.after[arm]

    def recovery(self, arm: Arm) -> float | None:
        """Return the share of the gap that passes after the fix; None where there is no gap."""
        return len(self.recovered(arm)) / len(self.gap) if self.gap else None


def outcome(records: Mapping[Arm, Record]) -> Outcome:
    """Compare a package's arms."""
    ceiling = records[Arm.KERAS_2].suite.passed
    before = records[Arm.BEFORE].suite.passed
    fixed = {arm: record.suite for arm, record in records.items() if arm.is_fixed}
    gap = ceiling - before
    return Outcome(
        package=records[Arm.KERAS_2].package,
        ceiling=ceiling,
        before=ceiling & before,
        after={arm: ceiling & suite.passed for arm, suite in fixed.items()},
        lost={arm: before - suite.passed for arm, suite in fixed.items()},
        left={
            arm: {
                test: suite.of(test).failure or Failure("Unknown", suite.of(test).outcome)
                for test in sorted(gap - suite.passed)
            }
            for arm, suite in fixed.items()
        },
    )
