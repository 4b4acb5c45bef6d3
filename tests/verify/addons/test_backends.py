"""What stands for names of `tensorflow_addons` gives the same numbers on JAX and PyTorch."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from kdoctor.rules.names._definitions.dead_packages import WRITTEN
from kdoctor.rules.names._definitions.definitions import with_needs

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "PYTHONWARNINGS": "ignore"}
TOGETHER = 4


def runs_everywhere(name: str) -> bool:
    return not any("tensorflow" in line for e in with_needs(name) for line in e.imports)


EVERYWHERE = [each for each in WRITTEN if runs_everywhere(each)]
GROUPS = [EVERYWHERE[at : at + TOGETHER] for at in range(0, len(EVERYWHERE), TOGETHER)]


def told(backend: str, names: list[str], known: str = "") -> list[dict[str, object]]:
    ran = subprocess.run(
        [sys.executable, "-m", "kdoctor.verify.addons.backends", *names],
        input=known,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env=os.environ | QUIET | {"KERAS_BACKEND": backend},
    )
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert ran.returncode == 0, ran.stderr[-3000:]
    return lines


@pytest.mark.frameworks
@pytest.mark.sampled(12)
@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_definition_gives_what_tensorflow_addons_gave(backend: str, names: list[str]) -> None:
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed: run `make backends`")
    from kdoctor.verify.addons.backends import OPTIMIZERS, asked  # noqa: PLC0415 - imports Keras
    from kdoctor.verify.addons.layer_cases import LAYERS  # noqa: PLC0415
    from kdoctor.verify.addons.training_cases import TRAINING  # noqa: PLC0415

    names = [each for each in names if asked(each)]
    optimizers = [each for each in names if each in OPTIMIZERS]
    known: dict[str, object] = {}
    for line in told("tensorflow", optimizers) if optimizers else ():
        known |= line
    lines = told(backend, names, json.dumps(known))
    assert [each["name"] for each in lines] == names
    for each in lines:
        assert each["problem"] == ""
        # What another scenario asks may be TensorFlow's from its first question on.
        assert each["compared"] or each["name"] not in {*LAYERS, *TRAINING, *OPTIMIZERS}
