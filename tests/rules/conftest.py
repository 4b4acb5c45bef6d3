"""What the tests of rules share."""

import pytest


@pytest.fixture(scope="session")
def _with_room_in_lines(apart):
    folder = apart / "wide"
    folder.mkdir()
    (folder / "ruff.toml").write_text("line-length = 320\n")
    return folder


@pytest.fixture(autouse=True)
def _lines_of_any_length(_in_no_project, _with_room_in_lines, monkeypatch):
    """Tests of rules say what is written, not where a long line is broken: that is the layout's."""
    monkeypatch.chdir(_with_room_in_lines)
