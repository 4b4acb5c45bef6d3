"""The row of a package that was migrated."""

from __future__ import annotations

import pytest

from benchmarks.migration.migrated import COLUMNS, row


@pytest.mark.parametrize(("before", "recovery"), [(2, "75 %"), (10, "-")])
def test_the_recovery_is_the_share_of_the_gap_that_passes(before, recovery):
    verdicts = ["proven", "proven", "your tests", "loses a test"]
    told = {
        "counted": {"keras_2": 10, "before": before, "of_keras_2": max(before, 8)},
        "fixes": [{"verdict": each} for each in verdicts],
        "lost": [],
        "runs": 7,
        "seconds": 90.0,
    }
    cells = dict(zip(COLUMNS, row("a", told), strict=True))
    assert cells["recovery"] == recovery
    shown = ("proven", "by tests", "not run", "taken out", "lost", "minutes")
    assert [cells[each] for each in shown] == ["2", "1", "0", "1", "0", "1.5"]
