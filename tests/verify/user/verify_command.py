"""The command ``kdoctor verify``, run as a program, and what it tells of each definition."""

from __future__ import annotations

import json
import os
import subprocess
import sys

QUIET = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}


UNHEARD = {"VIRTUAL_ENV", "CONDA_PREFIX", "TF_USE_LEGACY_KERAS", "NO_COLOR", "FORCE_COLOR"}


FINE = """
from keras import backend as K

def fine(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred), axis=-1)
"""


def kdoctor_cli(*arguments, folder=None, **settings):
    environment = {key: value for key, value in os.environ.items() if key not in UNHEARD}
    return subprocess.run(
        [sys.executable, "-m", "kdoctor", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=580,
        check=False,
        cwd=folder,
        env=environment | QUIET | settings,
    )


def verdicts(ran):
    assert ran.stdout, ran.stderr
    return {each["name"]: each for each in json.loads(ran.stdout)["definitions"]}
