"""A project with two files that a fix changes."""

from pathlib import Path

import pytest

from tests.engine.undo.applied import OLD, OTHER


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(OLD)
    (tmp_path / "src" / "b.py").write_text(OTHER)
    monkeypatch.chdir(tmp_path)
    return tmp_path
