"""The record of broken environments that were built, cured and examined again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.broken_environments.cases import CASES

RECORD = Path(__file__).resolve().parents[3] / "tools/broken_environments/record.json"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_broken_environment_was_named_cured_by_the_letter_and_healthy_again(case):
    outcome = json.loads(RECORD.read_text("utf-8"))[case.name]
    assert outcome["holds"], outcome
    assert outcome["raised"].startswith(case.raises.split(": ")[0]) or not case.raises
    assert case.says in outcome["says"]
    assert outcome["cure"]
    assert (outcome["healthy"], outcome["runs"]) == (True, True)


def test_the_six_of_the_issue_are_among_them():
    names = [case.name for case in CASES]
    assert {
        "a stale keras/backend/ under keras 2.10",
        "keras 2.15 with TensorFlow 2.21",
        "tf_keras missing under TF_USE_LEGACY_KERAS=1",
        "KERAS_BACKEND=theano",
        "NumPy too new",
        "SM_FRAMEWORK unset",
    } <= set(names)
