"""The record that ships is that of the rules that ship."""

from __future__ import annotations

import json

import pytest

from kdoctor.verify import record, subjects


@pytest.fixture(scope="module")
def ids():
    rows = [row.id for row in subjects.rewrites_of_rules()]
    return [*rows, *(job.id for job in subjects.example_jobs())]


def test_every_rewrite_and_example_has_a_record(ids):
    assert record.unrecorded(ids, record.read()) == [], "run `make prove`"


def test_no_record_is_left_of_what_is_gone(ids):
    assert record.stale(ids, record.read()) == [], "run `make prove`"


def test_what_does_not_hold_says_where_it_differs():
    for key, entry in record.read().items():
        if key != record.ABOUT and not entry["holds"]:
            assert entry["failures"], key


def test_a_rewrite_that_holds_was_run_in_many_cases():
    entries = [entry for key, entry in record.read().items() if " -> " in key]
    proven = [entry for entry in entries if entry["holds"]]
    assert len(proven) > 100
    assert all(sum(entry["cases"].values()) >= 8 for entry in proven)


def test_the_record_says_what_it_was_run_on_and_what_not():
    about = record.read()[record.ABOUT]
    assert set(about["frameworks"]) == {"keras", "numpy", "tensorflow", "tf_keras"}
    assert set(about["backends"]) == {"jax", "tensorflow", "torch"}


def test_the_record_is_written_in_one_order():
    known = record.read()
    text = json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False)
    assert record.RECORD.read_text("utf-8") == f"{text}\n"
