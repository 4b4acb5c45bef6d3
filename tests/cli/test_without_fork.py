"""On Windows, user code is not verified: one sentence says so, and nothing is written."""

import subprocess
import sys

import pytest

# What the modules of Windows' Python lack. The standard library is loaded before it goes.
ON_WINDOWS = """
import concurrent.futures.process, multiprocessing, os, platform, signal, subprocess, sys, tempfile

for name in ("fork", "forkpty", "geteuid", "getgid", "killpg", "setsid", "register_at_fork"):
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGALRM", "setitimer", "pthread_sigmask", "pthread_kill"):
    delattr(signal, name)
for name in ("resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[name] = None
platform.system = lambda: "Windows"

from kdoctor.__main__ import main

sys.exit(main())
"""
SOURCE = "from keras import backend as K\n\n\ndef loss(a, b):\n    return K.sum(a * b)\n"


def run(folder, *arguments):
    command = [sys.executable, "-c", ON_WINDOWS, *arguments, "code.py"]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    "arguments", [["verify"], ["verify", "--no-sandbox"], ["fix", "--apply", "--verify"]]
)
def test_verify_says_in_one_sentence_that_it_needs_another_system(tmp_path, arguments):
    (tmp_path / "code.py").write_text(SOURCE)
    done = run(tmp_path, *arguments)
    (said,) = done.stderr.splitlines()
    assert said.startswith("kdoctor: user code is verified in forked processes")
    assert "Windows does not support: run kdoctor on Linux, in WSL" in said
    assert (done.returncode, done.stdout) == (2, "")
    assert (tmp_path / "code.py").read_text() == SOURCE


def test_what_needs_no_fork_is_fixed_and_taken_back_there(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "code.py").write_text(SOURCE)
    assert "Fixed 1 finding" in run(tmp_path, "fix", "--apply").stderr
    assert "ops.sum" in (tmp_path / "code.py").read_text()
    assert run(tmp_path, "fix", "--undo").returncode == 0
    assert (tmp_path / "code.py").read_text() == SOURCE
