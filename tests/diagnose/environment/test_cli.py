"""``kdoctor env`` as a person calls it."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from kdoctor.diagnose.environment import examine

UNHEARD = {"VIRTUAL_ENV", "CONDA_PREFIX", "TF_USE_LEGACY_KERAS", "KERAS_BACKEND", "KERAS_HOME"}


def env(room, *arguments, **variables):
    shell = {key: value for key, value in os.environ.items() if key not in UNHEARD}
    shell |= {"HOME": str(room.work / "home"), **variables}
    done = room.forking.kdoctor("env", *arguments, cwd=room.work, env=shell)
    told = (done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in told[1], told[1]
    return subprocess.CompletedProcess(done.args, done.returncode, *told)


def test_a_broken_environment_ends_with_one_and_each_broken_line_has_its_cure(room):
    room.keras_3().uninstall("keras")
    done = env(room, "--python", str(room.python))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("broken   keras "))
    assert "takes tf.keras from it" in lines[at]
    assert lines[at + 1].strip() == f"cure: {room.python} -m pip install 'keras>=3.12.0'"
    assert lines[-1] == "2 problems"


def test_a_warning_leaves_it_healthy(room):
    room.keras_3()
    done = env(room, "--python", str(room.prefix), TF_USE_LEGACY_KERAS="yes")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        0,
        "healthy, 1 warning (from its files; --deep also imports the packages)",
    )


def test_json_says_the_same(room):
    room.keras_3()
    done = env(room, "--python", str(room.python), "--json", KERAS_BACKEND="theano")
    told = json.loads(done.stdout)
    assert (done.returncode, told["healthy"], told["deep"]) == (1, False, False)
    assert told["python"] == str(room.python)
    [check] = [each for each in told["checks"] if each["subject"] == "KERAS_BACKEND"]
    assert check["state"] == "broken"
    assert check["remedy"]["command"] == "unset KERAS_BACKEND"
    assert {each["state"] for each in told["checks"]} <= {"ok", "warning", "broken"}


def test_the_projects_own_environment_is_looked_at_and_the_activated_one_before_it(room):
    room.keras_3()
    (room.work / ".venv").symlink_to(room.prefix)
    done = env(room)
    assert f"{room.work}/.venv/bin/python (the project's .venv)" in done.stdout
    done = env(room, VIRTUAL_ENV=str(room.prefix))
    assert f"{room.prefix}/bin/python (activated: VIRTUAL_ENV)" in done.stdout


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("/nowhere/python", "there is no Python at /nowhere/python"),
        ("python9.9", "there is no Python at python9.9"),
        ("empty", "there is no Python at empty"),
        ("notes.txt", "cannot be started"),
        ("unreadable", "cannot be started"),
        ("cat.sh", "is not a Python"),
        ("/bin/true", "is not a Python"),
        ("/bin/echo", "is not a Python"),
    ],
)
def test_what_is_no_python_is_one_sentence_and_two(room, named, says):
    room.write("notes.txt", "words").write("unreadable").write("cat.sh", "#!/bin/sh\nexit 3\n")
    (room.work / "empty").mkdir()
    (room.work / "unreadable").chmod(0)
    (room.work / "cat.sh").chmod(0o755)
    done = env(room, "--python", named)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("kdoctor: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_deep_tells_what_an_import_raised_and_where(room):
    room.keras_3()
    (room.site / "keras/__init__.py").write_text("raise RuntimeError('upside down')\n")
    done = env(room, "--python", str(room.python), "--deep", "--json")
    checks = {each["subject"]: each for each in json.loads(done.stdout)["checks"]}
    assert checks["import keras"]["state"] == "broken"
    assert checks["import keras"]["message"] == "RuntimeError: upside down"
    assert checks["import keras"]["evidence"].endswith("keras/__init__.py:1")
    assert done.returncode == 1


def test_deep_outlives_an_import_that_kills_its_process_or_never_ends(room):
    room.keras_3()
    (room.site / "numpy/__init__.py").write_text("import os\nos.abort()\n")
    [check] = [each for each in room.examine(deep=True).checks if each.subject == "import numpy"]
    assert (check.state, "the process died" in check.message) == ("broken", True)
    (room.site / "numpy/__init__.py").write_text("print('noise')\nimport time\ntime.sleep(60)\n")
    health_report = examine(str(room.python), room.work, {"PATH": "/bin"}, deep=True, patience=2)
    [check] = [each for each in health_report.checks if each.subject == "import numpy"]
    assert check.message == "2 seconds passed while it was imported"
