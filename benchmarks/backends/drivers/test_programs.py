from pathlib import Path

import pytest
from harness import runs

HERE = Path(__file__).parent
PROGRAMS = sorted(
    path.relative_to(HERE).as_posix() for path in HERE.rglob("*.py") if path.parent != HERE
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_runs(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("images", "ckpt"):
        (tmp_path / folder).mkdir()
    runs(HERE / program)
