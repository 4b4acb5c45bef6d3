"""A program in a folder of its own, run with and without kdoctor around it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# As much of Keras as an error needs: no test here waits for TensorFlow.
KERAS = {
    "keras/__init__.py": "__version__ = '3.15.1'\nfrom . import backend\n",
    "keras/backend.py": "",
}
FAILING = "from keras import backend as K\nprint('before')\nK.sum([1])\n"
ERROR = "AttributeError: module 'keras.backend' has no attribute 'sum'"
MEANING = "`keras.backend.sum` is not in keras 3.15.1"


@dataclass(frozen=True)
class Folder:
    path: Path

    def write(self, **files):
        for name, text in files.items():
            self.file(f"{name}.py", text)
        return self

    def file(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return self

    def keras(self):
        for name, text in KERAS.items():
            self.file(name, text)
        return self

    def python(self, *arguments, **how):
        return self._run([sys.executable, *arguments], **how)

    def kdoctor(self, *arguments, python=sys.executable, **how):
        command = [sys.executable, "-m", "kdoctor", "run", "--python", str(python), *arguments]
        return self._run(command, **how)

    def _run(self, command, *, stdin="", env=None, text=True):
        unheard = {"VIRTUAL_ENV", "CONDA_PREFIX", "NO_COLOR", "FORCE_COLOR", "PYTEST_ADDOPTS"}
        shell = {key: value for key, value in os.environ.items() if key not in unheard}
        shell |= {"PYTHONPATH": str(ROOT), **(env or {})}
        return subprocess.run(
            command,
            cwd=self.path,
            input=stdin,
            capture_output=True,
            text=text,
            check=False,
            env=shell,
            timeout=120,
        )


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
