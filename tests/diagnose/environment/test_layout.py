"""An environment is read off its files: the Python in it, which may be anybody's, is not started."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from kdoctor.diagnose.environment import environment_of
from kdoctor.diagnose.environment.layout import read
from kdoctor.diagnose.environment.probe import ask
from kdoctor.errors import UsageProblem
from kdoctor.interpreters import Interpreter

ENVIRON = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}


@pytest.fixture
def trap(room):
    """The project's environment, whose Python leaves a mark when it is started."""
    mark = room.work / "started"
    room.python.unlink()
    room.python.write_text(f'#!/bin/sh\ntouch {mark}\nexec {sys.executable} "$@"\n')
    room.python.chmod(0o755)
    (room.work / ".venv").symlink_to(room.prefix)
    room.keras_3()
    return mark


def test_the_python_of_a_project_is_not_started(room, trap):
    found = environment_of(None, room.work, ENVIRON)
    assert found.keras.version.major == 3
    environment_of(None, room.work, ENVIRON | {"VIRTUAL_ENV": str(room.prefix)})
    environment_of(str(room.prefix), room.work, ENVIRON)
    assert not trap.exists()


def test_the_command_does_not_start_it_either_but_with_deep(room, trap):
    command = [sys.executable, "-m", "kdoctor", "env"]
    root = Path(__file__).parents[3]
    environ = ENVIRON | {"PYTHONPATH": str(root)}
    for options, started in ((), False), (("--json",), False), (("--deep",), True):
        subprocess.run(
            [*command, *options], cwd=room.work, env=environ, check=False, capture_output=True
        )
        assert trap.exists() is started, options


def test_what_nothing_is_known_of_is_started_only_when_asked(room, trap):
    (room.prefix / "pyvenv.cfg").write_text("home = /nowhere\n")
    with pytest.raises(UsageProblem, match="starts it only with --deep"):
        environment_of(None, room.work, ENVIRON)
    assert not trap.exists()
    environment_of(str(room.prefix), room.work, ENVIRON)  # named by a person
    assert trap.exists()


@pytest.mark.parametrize("made_by", ["venv", "venv --system-site-packages", "uv", "virtualenv"])
def test_the_files_say_what_the_python_itself_says(tmp_path, made_by):
    prefix = tmp_path / "made"
    if made_by == "uv":
        uv = Path(sys.executable).with_name("uv")
        command = [uv, "venv", "-q", "--offline", "--python", sys.executable, prefix]
        subprocess.run(command, check=True)
    elif made_by == "virtualenv":
        command = [sys.executable, "-m", "virtualenv", "-q", "--no-download", prefix]
        subprocess.run(command, check=True)
    else:
        system = made_by.endswith("packages")
        venv.create(prefix, symlinks=True, with_pip=False, system_site_packages=system)
    site = next(prefix.glob("lib/python*/site-packages"))
    (tmp_path / "source").mkdir()
    (site / "links.pth").write_text(f"# a comment\n{tmp_path}/source\n{tmp_path}/gone\nimport os\n")
    user = tmp_path / "user" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (user / "site-packages").mkdir(parents=True)
    added = os.pathsep.join([str(tmp_path / "mine"), "/relative/../mine"])
    environ = ENVIRON | {"PYTHONPATH": added, "PYTHONUSERBASE": str(tmp_path / "user")}
    interpreter = Interpreter(str(prefix / "bin" / "python"), "")

    read_off, asked = read(interpreter, environ), ask(interpreter, environ)
    assert read_off.version == asked.version
    assert read_off.prefix == asked.prefix
    assert read_off.user_site == asked.user_site
    assert read_off.markers == asked.markers
    assert read_off.path == tuple(dict.fromkeys(asked.path))


def test_an_environment_of_conda_is_read(tmp_path):
    (tmp_path / "conda-meta").mkdir()
    (tmp_path / "conda-meta" / "python-3.10.13-h955ad1f_0.json").write_text("{}")
    (tmp_path / "conda-meta" / "python-dateutil-2.8.2-pyhd3eb1b0_0.json").write_text("{}")
    (tmp_path / "lib" / "python3.10" / "site-packages").mkdir(parents=True)
    found = read(Interpreter(str(tmp_path / "bin" / "python"), ""), ENVIRON)
    assert found.version == (3, 10, 13)
    assert tmp_path / "lib/python3.10/site-packages" in found.path


@pytest.mark.parametrize("text", ["", "version = x\n", "home\n", "\ufeff", "version_info = 3\n"])
def test_a_damaged_pyvenv_says_nothing(tmp_path, text):
    (tmp_path / "pyvenv.cfg").write_text(text)
    assert read(Interpreter(str(tmp_path / "bin" / "python"), ""), ENVIRON) is None
