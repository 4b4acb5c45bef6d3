"""A scan on a Dask cluster of real worker processes, of which one is killed half-way."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from typer.testing import CliRunner

import kdoctor
from kdoctor.cli.app import app
from kdoctor.engine.schedule import dask as dask_executors
from kdoctor.engine.schedule import dispatch

OLD = "from keras import backend as K\n\n\ndef loss_{0}(a, b):\n    return K.sum(a - b, axis={0})\n"


@pytest.fixture(scope="module")
def dask():
    """Two workers, each a process of its own with one thread; what dies is started again."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            worker_dashboard_address=None,
        ) as local,
        Client(local) as client,
    ):
        yield client


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Files of which each is a chunk of its own."""
    monkeypatch.setattr(dispatch, "_MAX_CHUNK_FILES", 1)
    monkeypatch.chdir(tmp_path)
    Path("compat.py").write_text("from keras import backend as K\n")
    Path("hidden.py").write_text("from compat import K\n\nprint(K.sum([1]))\n")
    for number in range(24):
        Path(f"old_{number:02}.py").write_text(OLD.format(number))


@pytest.mark.usefixtures("tree")
def test_nothing_is_lost_when_a_worker_is_killed_half_way(dask):
    victim, *_ = dask.run(os.getpid).values()
    killed = []

    def kill(done, _):
        if done >= 8 and not killed:
            os.kill(victim, signal.SIGKILL)
            killed.append(done)

    result = kdoctor.scan(["."], executor=dask.get_executor(), progress=kill)
    assert killed
    assert {finding.place.path for finding in result.findings} >= {"hidden.py", "old_23.py"}
    assert result == kdoctor.scan(["."], jobs=1)


@pytest.mark.usefixtures("tree")
def test_the_program_reports_the_same_byte_for_byte(dask):
    address = dask.scheduler.address.replace("tcp://", "dask://")
    here = CliRunner().invoke(app, ["scan", "--no-cache", "--format", "json"])
    there = CliRunner().invoke(
        app, ["scan", "--no-cache", "--format", "json", "--executor", address]
    )
    assert there.exit_code == here.exit_code == 1
    assert there.stdout_bytes == here.stdout_bytes
    assert len(json.loads(there.stdout)["findings"]) >= 25
    diff = CliRunner().invoke(app, ["fix", "--no-cache", "--executor", address])
    assert diff.stdout_bytes == CliRunner().invoke(app, ["fix"]).stdout_bytes
    assert b"+    return ops.sum(" in diff.stdout_bytes


def test_the_page_s_program_scans_a_folder_of_repositories(dask, tmp_path, monkeypatch):
    page = Path(__file__).resolve().parents[3].joinpath("docs", "fleet.md").read_text("utf-8")
    code = re.search(r'```python title="fleet.py"\n(.*?)```', page, re.DOTALL)[1]
    program = {"__name__": "fleet"}
    exec(compile(code, "fleet.py", "exec"), program)  # noqa: S102 - our own page
    monkeypatch.setitem(program, "BATCH", 2)
    for name in "abc":
        tmp_path.joinpath("repositories", name).mkdir(parents=True)
        tmp_path.joinpath("repositories", name, "old.py").write_text(OLD.format(1))
    tmp_path.joinpath("repositories", "c", "broken.py").write_text("import keras\nx = (\n")
    results = tmp_path / "results"
    program["main"](dask.scheduler.address, tmp_path / "repositories", results)
    told = {path.name: path.read_text().splitlines() for path in results.iterdir()}
    assert [json.loads(line)["code"] for line in told["000000.jsonl"]] == ["KD101"] * 2
    assert [json.loads(line).get("code") for line in told["000002.jsonl"]] == ["KD101", None]


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("spark://host:7077", "unknown executor 'spark://host:7077'; write dask://HOST:8786"),
        ("dask://", "unknown executor 'dask://'"),
        ("dask://host:port", "unknown executor 'dask://host:port'"),
        ("127.0.0.1:8786", "unknown executor '127.0.0.1:8786'"),
        # The port that is nobody's: nothing listens there.
        ("dask://127.0.0.1:1", "dask://127.0.0.1:1: no Dask scheduler answered within 0.1 s"),
    ],
)
def test_what_cannot_be_reached_is_a_sentence(address, sentence, monkeypatch):
    monkeypatch.setattr(dask_executors, "_SECONDS", 0.1)
    done = CliRunner().invoke(app, ["scan", "--isolated", "--executor", address])
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_dask_that_is_not_installed_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = CliRunner().invoke(app, ["scan", "--executor", "dask://127.0.0.1"])
    assert done.exit_code == 2
    assert "pip install 'keras-doctor[dask]'" in done.stderr


def test_jobs_and_an_executor_are_two_answers_to_one_question():
    done = CliRunner().invoke(app, ["scan", "--executor", "dask://127.0.0.1", "--jobs", "2"])
    assert done.exit_code == 2
    assert "--executor: drop one of them" in done.stderr
