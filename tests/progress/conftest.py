"""A small repository with a history."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from kdoctor import progress as migration_progress

TARGET = "keras==3.15.1"

FILES = {
    "pkg/__init__.py": "from .losses import dice\n",
    "pkg/losses.py": (
        "from keras import backend as K\n"
        "from keras.models import Input\n\n\n"
        "def dice(x):\n    return K.sum(x) + K.get_session()\n"
    ),
    "train.py": "from pkg import dice\n\nprint(dice)\n",
    "later.py": "import keras\n\n\ndef f(x):\n    return keras.backend.sum(x)\n",
    "clean.py": "import keras\n\nkeras.ops.sum([1.0])\n",
    "data.py": "import keras\nimport tensorflow as tf\n\nprint(tf.data.Dataset, tf.nn.relu)\n",
    "moved.py": "import tensorflow as tf\n\nprint(tf.keras.layers.Dense)\n",
    "other.py": "import os\n",
}


@dataclass(frozen=True)
class Repo:
    folder: Path
    FILES: ClassVar = FILES
    TARGET: ClassVar = TARGET

    def write(self, files):
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return self

    def git(self, *arguments, date=0):
        day = f"2020-01-{1 + date:02} 12:00:00 +0000"
        who = {
            f"GIT_{role}_{what}": "a@b.c"
            for role in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        when = {"GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day, "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=os.environ | who | when, capture_output=True, check=True
        )  # fmt: skip
        return done.stdout.decode()

    def commit(self, subject, *, date=0):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject, date=date)
        return self.git("rev-parse", "HEAD").strip()

    def overview(self, *paths, **options):
        return migration_progress.overview(
            paths or ["."], {"target": TARGET, "jobs": 1, "diffs": False, **options}
        )


@pytest.fixture
def repo(tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.chdir(folder)
    made = Repo(folder)
    made.git("init", "-q")
    return made
