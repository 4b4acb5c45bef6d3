"""``kdoctor run``: the program as it is, and the diagnosis under its traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kdoctor.interpreters import interpreter_for

from .conftest import ERROR, FAILING, MEANING, ROOT

PYTHONS = sorted((Path.home() / ".pyenv/versions").glob("3.*/bin/python"))

HEALTHY = """
import os, sys
print("first")
print("second", file=sys.stderr)
sys.stdout.flush()
os.write(1, b"third\\n")
print(sys.argv, __name__, __file__ == sys.argv[0], sys.path[0] == os.getcwd())
print(input(), sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty())
print(sorted(name for name in os.environ if "KDOCTOR" in name), os.environ.get("PYTHONPATH"))
print(sorted(name for name in sys.modules if "kdoctor" in name or name == "sitecustomize"))
print([entry for entry in sys.path if "hook" in entry], sys.excepthook is sys.__excepthook__)
"""


def test_a_healthy_program_sees_nothing_of_it_and_nothing_is_added(folder):
    folder.write(program=HEALTHY)
    alone = folder.python("program.py", "--epochs", "1", "--help", stdin="line\n")
    watched = folder.kdoctor("program.py", "--epochs", "1", "--help", stdin="line\n")
    assert alone.returncode == 0
    assert "'--epochs', '1', '--help'" in watched.stdout
    assert (watched.stdout, watched.stderr) == (alone.stdout, alone.stderr)
    assert watched.returncode == alone.returncode


@pytest.mark.sampled(4)
@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: path.parts[-3])
def test_it_works_for_every_python_3_that_is_here(folder, python):
    folder.keras().write(program=FAILING, healthy=HEALTHY)
    watched = folder.kdoctor("program.py", python=python)
    assert watched.returncode == 1
    assert watched.stdout == "before\n"
    assert MEANING in watched.stderr
    assert watched.stderr.index(ERROR) < watched.stderr.index(MEANING)
    shell = {**os.environ, "PYTHONPATH": str(ROOT)}
    alone = subprocess.run(
        [python, "healthy.py"],
        cwd=folder.path,
        input="x\n",
        capture_output=True,
        text=True,
        check=False,
        env=shell,
    )
    watched = folder.kdoctor("healthy.py", python=python, stdin="x\n")
    assert (watched.stdout, watched.stderr) == (alone.stdout, alone.stderr)


def test_the_diagnosis_stands_under_the_traceback_and_changes_nothing_above(folder):
    folder.keras().write(program=FAILING)
    alone, watched = folder.python("program.py"), folder.kdoctor("program.py")
    assert watched.stderr.startswith(alone.stderr)
    assert ERROR in alone.stderr
    assert watched.stderr[len(alone.stderr) :].startswith(f"\nkdoctor:\n{MEANING}")
    assert "+ops.sum([1])" in watched.stderr
    assert (watched.stdout, watched.returncode) == (alone.stdout, 1)


@pytest.mark.parametrize(
    "code",
    [
        "raise ZeroDivisionError('keras')",
        "raise SystemExit('tensorflow is over')",
        "import sys; sys.exit(7)",
        "raise KeyboardInterrupt",
        "import os; os._exit(5)",
        "assert 0, 'keras'",
        "x = ",
        "try:\n    from keras import backend as K\n    K.sum(1)\nexcept AttributeError:\n    raise SystemExit(3)",
    ],
)
def test_an_end_that_is_no_error_of_keras_stays_as_it_is(folder, code):
    folder.keras().write(program=code)
    alone, watched = folder.python("program.py"), folder.kdoctor("program.py")
    assert (watched.returncode, watched.stderr) == (alone.returncode, alone.stderr)


def test_an_error_that_comes_of_what_is_installed_names_it(folder):
    folder.keras().write(program="import keras\nkeras.broken()\n")
    folder.file(
        "keras/__init__.py", "__version__ = '3.15.1'\ndef broken():\n    raise OSError(5)\n"
    )
    watched = folder.kdoctor("program.py")
    assert "What is installed here is broken" in watched.stderr
    assert "keras: is in the working directory" in watched.stderr
    assert "SM_FRAMEWORK" not in watched.stderr
    assert f"cure: mv {folder.path}/keras {folder.path}/my_keras" in watched.stderr


def test_modules_options_of_python_and_a_named_python_are_passed_on(folder):
    folder.file("package/__init__.py", "").file(
        "package/__main__.py", "import sys\nprint(sys.argv[1:], sys.flags.optimize)\n"
    )
    assert folder.kdoctor("-O", "-m", "package", "-x").stdout == "['-x'] 1\n"
    assert folder.kdoctor("python", "-m", "package").stdout == "[] 0\n"
    assert folder.kdoctor("--", "-c", "print(5)").stdout == "5\n"


def test_a_module_that_fails_is_explained_too(folder):
    folder.keras().file("package/__init__.py", "").file("package/train.py", FAILING)
    watched = folder.kdoctor("-m", "package.train")
    assert (watched.returncode, MEANING in watched.stderr) == (1, True)


def test_the_users_own_sitecustomize_and_pythonpath_stay_in_force(folder):
    folder.file("mine/sitecustomize.py", "import sys\nsys.own = 5\n")
    folder.write(
        program="import os, sys, sitecustomize\nprint(sys.own, sitecustomize.__file__)\nprint(os.environ['PYTHONPATH'])\n"
    )
    env = {"PYTHONPATH": f"{folder.path}/mine{os.pathsep}{ROOT}"}
    alone, watched = folder.python("program.py", env=env), folder.kdoctor("program.py", env=env)
    assert watched.stdout == alone.stdout
    assert watched.stdout.startswith("5 ")
    assert watched.stderr == ""


def test_processes_that_the_program_starts_are_not_watched(folder):
    folder.keras().write(
        child=FAILING,
        program="import subprocess, sys\nsys.exit(subprocess.run([sys.executable, 'child.py']).returncode)\n",
    )
    alone, watched = folder.python("program.py"), folder.kdoctor("program.py")
    assert (watched.returncode, watched.stderr) == (alone.returncode, alone.stderr)


def test_workers_of_multiprocessing_work(folder):
    folder.write(
        program="import multiprocessing as m\n\ndef twice(x):\n    return 2 * x\n\n"
        "if __name__ == '__main__':\n    for way in ('fork', 'spawn'):\n"
        "        with m.get_context(way).Pool(1) as pool:\n            print(pool.map(twice, [1, 2]))\n"
    )
    watched = folder.kdoctor("program.py")
    assert (watched.stdout, watched.stderr) == ("[2, 4]\n[2, 4]\n", "")


def test_a_hook_of_the_programs_own_is_left_in_its_place(folder):
    folder.keras().write(
        program="import sys\nsys.excepthook = lambda *what: print('mine', file=sys.stderr)\n"
        + FAILING
    )
    watched = folder.kdoctor("program.py")
    assert watched.stderr.startswith("mine\n")
    assert MEANING in watched.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGINT"])
def test_a_signal_ends_the_program_as_it_would_without_kdoctor(folder, name):
    number = getattr(signal, name)
    folder.write(program="import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    codes = []
    for around in ([], ["-m", "kdoctor", "run", "--python", sys.executable]):
        process = subprocess.Popen(
            [sys.executable, *around, "program.py"],
            cwd=folder.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        with process:
            assert process.stdout.readline() == b"up\n"
            process.send_signal(number)
            codes.append(process.wait(30))
    assert codes == [-number, -number]


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_program_that_kills_itself_has_the_same_exit_code(folder):
    folder.write(program="import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    assert folder.kdoctor("program.py").returncode == -signal.SIGSEGV


@pytest.mark.skipif(os.name == "nt", reason="pseudo terminals")
def test_a_terminal_stays_a_terminal(folder):
    folder.write(
        program="import sys\nprint(*[each.isatty() for each in (sys.stdin, sys.stdout, sys.stderr)])\n"
    )
    import pty  # noqa: PLC0415 - of POSIX alone

    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "kdoctor", "run", "--python", sys.executable, "program.py"],
        cwd=folder.path,
        stdin=other,
        stdout=other,
        stderr=other,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    os.close(other)
    assert process.wait(60) == 0
    assert os.read(main, 100).split() == [b"True", b"True", b"True"]
    os.close(main)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--python", "/nowhere/python", "x.py"], "there is no Python at /nowhere/python"),
        (["--python"], "--python needs the path of a Python"),
        (["--"], "say what to run"),
        (["--python", "notes.txt", "x.py"], "notes.txt cannot be started"),
    ],
)
def test_what_cannot_be_started_is_one_sentence_and_two(folder, arguments, says):
    folder.file("notes.txt", "words\n")
    done = folder.python("-m", "kdoctor", "run", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.startswith("kdoctor: ")
    assert done.stderr.count("\n") == 1


def test_a_script_that_is_not_there_is_pythons_own_message(folder):
    alone, watched = folder.python("none.py"), folder.kdoctor("none.py")
    assert (watched.returncode, watched.stderr) == (alone.returncode, alone.stderr)
    assert watched.returncode == 2


def test_the_python_is_the_activated_one_then_the_projects_then_ones_own(folder):
    for name in ("project/.venv", "active"):
        folder.file(f"{name}/bin/python", "").file(f"{name}/pyvenv.cfg", "")
    folder.file("project/.git/HEAD", "").file("project/deep/x.py", "")
    deep, top = str(folder.path / "project/deep"), str(folder.path)
    active = {"VIRTUAL_ENV": f"{top}/active"}
    assert interpreter_for(deep, active).path == f"{top}/active/bin/python"
    assert interpreter_for(deep, {}).path == f"{top}/project/.venv/bin/python"
    assert interpreter_for(top, {}).path == sys.executable


def test_it_costs_a_healthy_program_at_most_50_milliseconds(folder):
    """Processor time, as other work on the machine must not decide: the least of several runs."""
    folder.write(program="pass\n")

    def least(run):
        times = []
        for _ in range(7):
            before = os.times()
            assert run("program.py").returncode == 0
            after = os.times()
            times.append(
                after.children_user
                + after.children_system
                - before.children_user
                - before.children_system
            )
        return min(times)

    assert least(folder.kdoctor) - least(folder.python) <= 0.050


def test_it_starts_without_the_libraries_that_take_long(folder):
    code = (
        "import os, sys\n"
        "os.execve = lambda *what: print(*sorted(sys.modules))\n"
        "before = set(sys.modules)\n"
        "sys.argv = ['kdoctor', 'run', 'x.py']\n"
        "from kdoctor.__main__ import main\n"
        "main()\n"
    )
    loaded = set(folder.python("-S", "-c", code).stdout.split())
    assert "kdoctor.watch.command" in loaded
    assert not loaded & {"typing", "pathlib", "dataclasses", "re", "typer", "subprocess", "inspect"}
