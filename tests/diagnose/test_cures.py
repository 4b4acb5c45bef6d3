"""The cures of messages are run as they are told: what raised the error runs with each of them."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
CASES = tomllib.loads((HERE / "cures.toml").read_text("utf-8"))["case"]
NAMES = [f"{case['message']}#{number}" for case in CASES for number in case["cures"]]


def ended(home):
    ran = subprocess.run(
        [sys.executable, str(HERE / "cures.py")],
        capture_output=True,
        check=False,
        text=True,
        timeout=600,
        env={"CUDA_VISIBLE_DEVICES": "-1", "PATH": "", "HOME": str(home)},
    )
    assert not ran.returncode, ran.stderr[-2000:]
    return json.loads(ran.stdout)


def test_each_error_is_explained_by_its_message_and_runs_with_each_cure(tmp_path):
    found = ended(tmp_path)
    wrong = {
        name: result for name, result in found.items() if result != [name.partition("#")[0], ""]
    }
    assert not wrong, json.dumps(wrong, indent=1)
    assert [*found] == NAMES


def test_no_case_is_there_twice():
    assert len(NAMES) == len(set(NAMES))
