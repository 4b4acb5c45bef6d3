"""The cures of messages are run as they are told: what raised the error runs with each of them.

Each run of the tests draws some of them, others whenever a message or program is changed; all are
run by ``make cures``, which notes in ``ran.json`` what ran. Nothing may be changed without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kdoctor.diagnose.messages import messages
from tests.diagnose.cures import CASES, RAN, digest, drawn, named

HERE = Path(__file__).parent
NAMES = [name for case in CASES for name in named(case)]
DRAWN = 70  # cases: half a minute of processor time
ALL = os.environ.get("KDOCTOR_CURES") == "all"

# Of files of models there are tests of their own; these messages are about nothing else.
ABOUT_FILES = "saving.toml: the cures of model files have an issue of their own"
NOT_RUN = {
    "segmentation-models": "needs its framework's weights",
    "keras-3-tensor-in-transformers": "needs transformers",
    "scikeras": "needs scikeras",
    "jax-tracer-as-array": "needs JAX",
    "generator-of-numbers-before-3-12": "of keras 3.3 to 3.10; the step is generator-of-numbers'",
    "batch-that-ends-with-none": "of keras 3.0 to 3.10; the page of KD489 has the step",
    "lr-is-read-only#1": "the step is written out in own-optimizer-without-a-step",
    "layer-of-a-newer-keras": ABOUT_FILES,
    "no-keras-src#1": ABOUT_FILES,
    "private-name-of-an-older-tensorflow": "an import of tf.keras",
}


def is_about_files(entry):
    folder = HERE.parents[1] / "kdoctor" / "diagnose" / "messages"
    return f'id = "{entry.id}"\n' in (folder / "saving.toml").read_text("utf-8")


def test_each_error_is_explained_by_its_message_and_runs_with_each_cure(tmp_path):
    words = [] if ALL else ["--draw", str(DRAWN)]
    ran = subprocess.run(
        [sys.executable, str(HERE / "cures.py"), *words],
        capture_output=True,
        check=False,
        text=True,
        timeout=1800,
        env={"CUDA_VISIBLE_DEVICES": "-1", "PATH": "", "HOME": str(tmp_path)},
    )
    assert not ran.returncode, ran.stderr[-2000:]
    found = json.loads(ran.stdout)
    wrong = {
        name: result for name, result in found.items() if result != [name.partition("#")[0], ""]
    }
    assert not wrong, json.dumps(wrong, indent=1)
    chosen = CASES if ALL else drawn(DRAWN)
    assert [*found] == [name for case in chosen if not case.get("old") for name in named(case)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: named(case)[0])
def test_nothing_was_changed_since_it_ran(case):
    noted = json.loads(RAN.read_text("utf-8"))
    for number, name in zip(case["cures"], named(case), strict=True):
        assert noted.get(name) == digest(case, number), f"run `make cures`: {name}"


@pytest.mark.parametrize("entry", messages(), ids=lambda entry: entry.id)
def test_each_step_of_code_is_run_or_it_is_said_why_not(entry):
    for number, cure in enumerate(entry.fix):
        name = f"{entry.id}#{number}"
        if not cure.code or name in NAMES or is_about_files(entry):
            continue
        assert any(name.startswith(each) for each in NOT_RUN), name


def test_no_case_is_there_twice():
    assert len(NAMES) == len(set(NAMES))
