"""Deliberately wrong rewrites are found; right ones raise no false alarm."""

import json
import secrets

import pytest

from tools.judged_rewrites.__main__ import RECORD, judged, sample
from tools.judged_rewrites.material import rewrites


@pytest.mark.frameworks
def test_a_random_sample_is_judged_correctly():
    outcomes = judged(sample(4, secrets.randbits(32)))
    assert {title: each for title, each in outcomes.items() if not each.holds} == {}


def test_the_record_covers_all_rewrites_and_all_were_judged_correctly():
    record = json.loads(RECORD.read_text("utf-8"))
    assert list(record) == [each.title for each in rewrites()]
    assert [title for title, each in record.items() if not each["holds"]] == []


def test_the_record_calls_right_rewrites_equal_and_says_how_wrong_ones_differ():
    record = json.loads(RECORD.read_text("utf-8"))
    states = {bool(r.spoilt): set() for r in rewrites()}
    for each in rewrites():
        states[bool(each.spoilt)].add(record[each.title]["state"])
        assert bool(record[each.title]["found"]) == bool(each.spoilt), each.title
    assert states[False] == {"equal"}
    assert states[True] <= {"different", "cannot be run on Keras 3"}


def test_there_are_at_least_60_right_and_40_wrong_rewrites():
    assert len([each for each in rewrites() if not each.spoilt]) >= 60
    assert len([each for each in rewrites() if each.spoilt]) >= 40
