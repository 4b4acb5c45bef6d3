"""The same output whatever order Python's sets happen to have."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
KDOCTOR = str(Path(sys.executable).with_name("kdoctor"))
SEEDS = ("0", "1", "2", "3", "42", "1234", "65535", "4294967295")


@pytest.mark.parametrize(
    "command",
    [("scan", "--format", "json"), ("scan", "--no-gate"), ("fix", "--unsafe")],
    ids=" ".join,
)
def test_eight_hash_seeds_give_one_output(command):
    outputs = {
        subprocess.run(
            [KDOCTOR, *command, "."],
            cwd=FIXTURES,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
        ).stdout
        for seed in SEEDS
    }

    assert len(outputs) == 1
    assert outputs != {b""}
