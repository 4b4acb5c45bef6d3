"""A project that is scanned with a cache, and what of it was examined."""

from __future__ import annotations

import pytest

from kdoctor.engine.examine import Examiner
from kdoctor.modules import file_stamp
from tests.engine.cache.cached_scans import FILES, write


@pytest.fixture
def examined(monkeypatch):
    """The paths that were examined, for want of a result."""
    paths = []
    scan = Examiner.scan

    def noted(self, task, data=None):
        paths.append(task.source.path)
        return scan(self, task, data)

    monkeypatch.setattr(Examiner, "scan", noted)
    return paths


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, FILES)
    return tmp_path


@pytest.fixture
def settled(monkeypatch):
    """All that was written is old enough for its times to tell of it."""
    monkeypatch.setattr(file_stamp, "_SETTLES", -(10**18))
