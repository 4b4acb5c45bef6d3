"""A tiny project on disk and the program run in it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli import two_keras
from tests.cli.repository import Repository
from tests.forking import Forking

# What the caller's shell says must not change what the program says.
UNHEARD = {"NO_COLOR", "FORCE_COLOR", "VIRTUAL_ENV", "CONDA_PREFIX", "TF_USE_LEGACY_KERAS"}


@dataclass(frozen=True)
class Ended:
    """How a run of the program ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@dataclass(frozen=True)
class Project:
    """A folder of files, in which the program is run."""

    folder: Path
    forking: Forking

    def write(self, files):
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self

    def read(self, name):
        return (self.folder / name).read_bytes()

    def kdoctor(self, *arguments, stdin=b"", env=None):
        """Run the program: a fork, which is the same but that it starts in a tenth of the time."""
        how = {"cwd": self.folder, "env": self._environment(env), "stdin": stdin}
        return self._told(self.forking.kdoctor(*map(str, arguments), **how))

    def started(self, *arguments, **how):
        """Run the program by a Python of its own, as people do."""
        return self._ended([sys.executable, "-m", "kdoctor", *map(str, arguments)], **how)

    def python(self, code, **how):
        return self._ended([sys.executable, "-c", code], **how)

    def shell(self, line):
        """Run a line of a POSIX shell, in which ``kdoctor`` is this one."""
        if os.name == "nt":
            pytest.skip("a POSIX shell")
        program = f"{shlex.quote(sys.executable)} -m kdoctor"
        return self._ended(["sh", "-c", f'kdoctor() {{ {program} "$@"; }}; {line}'])

    def _ended(self, command, stdin=b"", env=None):
        done = subprocess.run(
            command,
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            check=False,
            env=self._environment(env),
        )
        return self._told(done)

    @staticmethod
    def _environment(more):
        return {k: v for k, v in os.environ.items() if k not in UNHEARD} | (more or {})

    @staticmethod
    def _told(done):
        out, err = (part.decode(errors="surrogateescape") for part in (done.stdout, done.stderr))
        assert "Traceback" not in err, err
        return Ended(done.returncode, out, err)

    def git(self, *arguments):
        """Return what git prints here."""
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout

    def committed(self):
        """Make a repository of the folder, with all files in its first commit."""
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "first")
        return self

    @staticmethod
    def notebook(*cells):
        """Return a notebook's bytes; a cell is code, or (kind, text)."""
        parts = [("code", cell) if isinstance(cell, str) else cell for cell in cells]
        content = {
            "cells": [
                {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
                | ({"execution_count": 7, "outputs": []} if kind == "code" else {})
                for kind, text in parts
            ],
            "metadata": {"kernelspec": {"name": "python3", "language": "python"}},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
        return json.dumps(content, indent=1).encode() + b"\n"


@pytest.fixture
def project(tmp_path, forking):
    return Project(tmp_path, forking)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository in which the program is run, in this process."""
    monkeypatch.chdir(tmp_path)
    return Repository(tmp_path)


@pytest.fixture(scope="session")
def keras(tmp_path_factory):
    """Two Pythons, with a small Keras 2 and a small Keras 3."""
    return two_keras.made(tmp_path_factory.mktemp("pythons"))


class Migrate:
    """Calls ``kdoctor migrate`` in a project; files in ``counters`` no run of the tests undoes."""

    def __init__(self, project, keras, counters):
        self._project = project
        self._keras = keras
        self.counters = {"COUNTERS": str(counters)}

    def __call__(self, *arguments):
        return self.again("--apply", *self._keras.arguments, *arguments)

    def again(self, *arguments):
        return self._project.kdoctor("migrate", "--json", *arguments, env=self.counters)


@pytest.fixture
def migrate(project, keras, tmp_path_factory):
    return Migrate(project, keras, tmp_path_factory.mktemp("counters"))
