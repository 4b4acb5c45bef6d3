"""Processes and folders that vanish during a check do not end the worker."""

import os
import subprocess
from pathlib import Path

import pytest

from kdoctor.verify.user.worker import main, sandbox


@pytest.fixture
def sleepers():
    started = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
    yield started
    for each in started:
        each.kill()
        each.wait()


def test_a_process_that_ends_during_the_check_is_ignored(sleepers, monkeypatch):
    stays, ends = (each.pid for each in sleepers)
    real = os.stat

    def stat(path, **options):
        if str(path).startswith(f"/proc/{ends}/"):
            raise ProcessLookupError(3, "No such process")
        return real(path, **options)

    monkeypatch.setattr(os, "stat", stat)
    assert stays in sandbox._children()


def test_a_folder_that_is_deleted_during_the_check_is_ignored(tmp_path, monkeypatch):
    (tmp_path / "goes" / "inner").mkdir(parents=True)
    real = os.scandir

    def scandir(path="."):
        if Path(path).name == "goes":
            raise FileNotFoundError(2, "No such file or directory", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert main._exceeded_in(tmp_path) is None
