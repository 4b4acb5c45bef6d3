"""The same output whatever order Python's sets happen to have.

One of the seeds is drawn anew with each run, so that none is got used to.
"""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
KDOCTOR = str(Path(sys.executable).with_name("kdoctor"))
SEEDS = ("0", str(secrets.randbelow(2**32)))


@pytest.mark.parametrize(
    "command",
    [("scan", "--format", "json"), ("fix", "--unsafe")],
    ids=" ".join,
)
def test_any_hash_seed_gives_one_output(command):
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

    assert len(outputs) == 1, SEEDS
    assert outputs != {b""}
