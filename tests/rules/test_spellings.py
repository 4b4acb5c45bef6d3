"""Unusual spellings on the pages of rules are found, behind the gate as without it."""

from __future__ import annotations

import pytest

from kdoctor.engine.examine import Examiner
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target
from kdoctor.rules import all_rules

SPELLINGS = [
    pytest.param(rule, source, id=f"{rule.code}-{number}")
    for rule in all_rules()
    for number, source in enumerate(rule.spellings)
]


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(("rule", "source"), SPELLINGS)
def test_what_is_written_in_an_unusual_way_is_found(rule, source, gate):
    scan_options = ScanOptions(
        newest_target(), codes=(rule.code,), gate=gate, diffs=False, anchors=False
    )
    found = Examiner(scan_options).examine("nowhere/f.py", source.encode()).scan.findings
    assert {each.code for each in found} == {rule.code}


def test_there_are_spellings_to_find() -> None:
    assert len(SPELLINGS) > 150
