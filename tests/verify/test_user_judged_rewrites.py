"""Wrong rewrites that are made on purpose are found; right ones raise no alarm."""

import json
import secrets

import pytest

from tools.judged_rewrites.__main__ import RECORD, judged, sample
from tools.judged_rewrites.material import rewrites


@pytest.mark.frameworks
def test_a_sample_that_is_drawn_now_is_judged_as_it_is():
    outcomes = judged(sample(4, secrets.randbits(32)))
    assert {title: each for title, each in outcomes.items() if not each.holds} == {}


def test_the_record_is_of_all_the_material_and_says_that_all_of_it_was_judged_rightly():
    record = json.loads(RECORD.read_text("utf-8"))
    assert list(record) == [each.title for each in rewrites()]
    assert [title for title, each in record.items() if not each["holds"]] == []


def test_the_record_calls_right_ones_equal_and_says_of_wrong_ones_what_differs():
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
