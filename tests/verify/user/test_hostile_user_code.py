"""Code that harms, hangs or is interrupted is a verdict, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tests.verify.user.verify_command import QUIET, kdoctor_cli, verdicts

HOSTILE = """
import os
import re
import subprocess
import sys
import time
import tensorflow as tf
from keras import backend as K

def loops(y_true, y_pred):
    while True:
        pass

def leaves(y_true, y_pred):
    sys.exit(0)

def vanishes(y_true, y_pred):
    os._exit(0)

def forks(y_true, y_pred):
    os.fork()
    return K.mean(y_pred)

def starts(y_true, y_pred):
    subprocess.Popen(["sleep", "987654"])
    return K.mean(y_pred)

def writes(y_true, y_pred):
    open(MINE, "w").write("lost")
    return K.mean(y_pred)

def writes_in_c(y_true, y_pred):
    tf.io.write_file(MINE, "lost")
    return K.mean(y_pred)

def writes_beside_it(y_true, y_pred):
    open("here.txt", "w").write("in the scratch folder")
    return K.mean(y_pred)

def eats(y_true, y_pred):
    kept = []
    while True:
        kept.append(os.urandom(1 << 26) * 4)

def goes_on(y_true, y_pred):
    return K.mean(y_pred)
"""


ENDLESS = """
from keras import backend as K


def first(y_true, y_pred):
    while True:
        K.mean(y_pred)


def second(y_true, y_pred):
    while True:
        K.mean(y_pred)
"""


@pytest.mark.frameworks
def test_hostile_code_is_a_verdict_and_leaves_nothing_behind(tmp_path):
    pytest.importorskip("tf_keras")
    mine = tmp_path / "mine.txt"
    mine.write_text("kept")
    path = tmp_path / "hostile.py"
    path.write_text(HOSTILE.replace("MINE", repr(str(mine))))
    ran = kdoctor_cli("verify", path, "--json", "--seconds", "5", folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = verdicts(ran)
    told = {
        "loops": "5 s of CPU time",
        "leaves": "SystemExit",
        "vanishes": "its process exited with code",
        "forks": "start a process",
        "starts": "start a program",
        "writes": "write outside",
        "writes_in_c": "ermission",
        "eats": "memory",
    }
    for name, why in told.items():
        state = "cannot be run on Keras 2" if name == "leaves" else "not tried"
        assert found[name]["state"] == state, found[name]
        # On a machine that is slow to give memory, the time is over first.
        assert why in found[name]["why"] or name == "eats", found[name]
    assert found["writes_beside_it"]["state"] == found["goes_on"]["state"] == "equal"
    assert mine.read_text() == "kept"
    assert {each.name for each in tmp_path.iterdir()} == {"mine.txt", "hostile.py"}
    running = subprocess.run(["ps", "ax", "-o", "args"], capture_output=True, text=True, check=True)
    assert "987654" not in running.stdout


@pytest.mark.frameworks
def test_on_a_signal_it_deletes_its_folder_and_ends_its_processes(tmp_path):
    pytest.importorskip("tf_keras")
    path, room = tmp_path / "endless.py", tmp_path / "room"
    path.write_text(ENDLESS)
    room.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-m", "kdoctor", "verify", str(path), "--jobs", "2"],
        env={**os.environ, **QUIET, "TMPDIR": str(room)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    end = time.monotonic() + 100
    while len(list(room.glob("kdoctor-*/keras_2-[01]"))) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    running.terminate()
    said = running.communicate(timeout=60)
    assert running.returncode == 143, said
    assert list(room.iterdir()) == []
    processes = subprocess.run(
        ["ps", "ax", "-o", "args"], capture_output=True, text=True, check=True
    )
    assert str(room) not in processes.stdout
