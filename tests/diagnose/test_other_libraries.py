"""Errors of other libraries, raised for real: Keras has nothing to do with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault
from tests.diagnose.proof_of_removals import removing

RECORDED = json.loads((Path(__file__).parent / "recorded_others.json").read_text("utf-8"))
# The whole traceback could be that of a Keras model: the answer is given under a condition.
NAMESAKES = {
    "class Model: pass; Model().fit_generator",
    "class Sequential: pass; Sequential().predict_classes",
}


def test_there_are_enough_of_them():
    assert len(RECORDED) > 200


@pytest.mark.parametrize("line", sorted(RECORDED.keys() - NAMESAKES))
def test_it_is_no_problem_of_keras(line):
    shown = line.replace("; ", "\n").replace("\\n", "\n    ").encode()
    found = explain(RECORDED[line], read=lambda path: shown if "/job_" in path else None)
    assert found.fault is Fault.NOT_KERAS, found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("line", sorted(RECORDED.keys() - NAMESAKES))
def test_nothing_false_is_said_where_the_file_cannot_be_read(line):
    found = explain(RECORDED[line], read=lambda _: None)
    assert not found.concerns_keras
    assert not removing(found)


@pytest.mark.parametrize("line", sorted(NAMESAKES))
def test_a_namesake_is_explained_under_a_condition_only(line):
    assert explain(RECORDED[line], read=lambda _: None).only_if
    shown = line.replace("; ", "\n").encode()
    assert explain(RECORDED[line], read=lambda _: shown).fault is Fault.NOT_KERAS
