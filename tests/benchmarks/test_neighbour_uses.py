"""What repositories use of packages that died with Keras 2 is counted before and after the fix."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tools.neighbour_uses import SUBJECTS, extracted, measured

MINE = """import tensorflow_addons as tfa

layers = [tfa.layers.GELU(), tfa.layers.GELU(), tfa.optimizers.KerasLegacyOptimizer(2)]
"""


def committed(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git = ["git", "-C", str(folder), "-c", "user.name=me", "-c", "user.email=me@example.com"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "Begin"]):
        subprocess.run([*git, *command], check=True)
    return folder / ".git"


def test_uses_count_once_each_and_imports_do_not(tmp_path: Path) -> None:
    repository = committed(tmp_path / "his", {"mine.py": MINE, "read.md": "x", "old.py": "print 1"})
    files = list(extracted(repository, tmp_path / "here"))
    assert [each.name for each in files] == ["mine.py", "old.py"]
    before, safe, unsafe = measured(files, SUBJECTS[0])
    assert before == {"layers.GELU": 2, "optimizers.KerasLegacyOptimizer": 1}
    assert safe == unsafe == {"optimizers.KerasLegacyOptimizer": 1}
    assert files[0].read_text() == MINE


def test_of_the_package_itself_only_examples_count(tmp_path: Path) -> None:
    use = "from keras_contrib.layers import CRF\n\nCRF(2)\n"
    files = {"keras_contrib/layers.py": use, "examples/mine.py": use, "tests/test_crf.py": use}
    repository = committed(tmp_path / "his", files)
    found = list(extracted(repository, tmp_path / "here"))
    assert [each.name for each in found] == ["mine.py"]
    assert measured(found, SUBJECTS[1]).before == {"layers.CRF": 1}
