"""Ctrl-C at drawn moments: every file is old or new, nothing is left behind, and a line says so.

Nor is anything left where the program is killed.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

SEED, MOMENTS = 20_261_121, 3
SOURCE = '''\
from keras import backend as K


class Dice{number}:
    """{filler}"""

    def __call__(self, y_true, y_pred):
        both = K.sum(y_true * y_pred)
        return both / (K.sum(y_true) + K.sum(y_pred))
'''


@pytest.fixture
def project_of(tmp_path: Path):
    """Return a function that makes the same project anew; the filler decides how large it is."""

    def make(filler: str) -> Path:
        folder = tmp_path / "project"
        folder.mkdir(exist_ok=True)
        (folder / "pyproject.toml").touch()
        for number in range(16):
            text = SOURCE.format(number=number, filler=filler)
            (folder / f"m{number:02}.py").write_text(text)
        return folder

    return make


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def kdoctor(folder: Path, *arguments: str, mark: str = "") -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "kdoctor", *arguments],
        cwd=folder,
        env=os.environ | {"KDOCTOR_TEST": mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def has_processes(mark: str, least: int = 1) -> bool:
    def environment(process: Path) -> bytes:
        try:
            return (process / "environ").read_bytes()
        except OSError:
            return b""

    environments = (environment(each) for each in Path("/proc").iterdir() if each.name.isdecimal())
    return sum(f"KDOCTOR_TEST={mark}\0".encode() in each for each in environments) >= least


def waited_for(holds: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for processes")
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("jobs", "filler"), [("1", ""), ("2", "text of no use\n" * 4_000)], ids=["alone", "workers"]
)
def test_ctrl_c_leaves_each_file_old_or_new_and_nothing_else(project_of, jobs, filler) -> None:
    folder = project_of(filler)
    old = files(folder)
    started = time.monotonic()
    assert kdoctor(folder, "fix", "--apply", "--jobs", jobs).wait() == 0
    whole = time.monotonic() - started
    new = files(folder)
    changed = {name for name in old if new[name] != old[name]}
    assert len(changed) == 16

    moments = random.Random(SEED)  # noqa: S311 - drawn moments, the same each time
    for number in range(MOMENTS):
        project_of(filler)
        mark = f"{folder.parent.name}-{number}"
        process = kdoctor(folder, "fix", "--apply", "--jobs", jobs, mark=mark)
        # Not before Python itself has started, which knows nothing of us.
        time.sleep(moments.uniform(0.15, 0.95) * whole)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)

        left = files(folder)
        assert set(left) == set(old)
        assert all(left[name] in (old[name], new[name]) for name in old)
        assert not has_processes(mark)
        assert process.returncode in {0, 130}, said
        if process.returncode == 130:
            # Only where it was written what could be told of already does more stand before it.
            *before, last = said.splitlines()
            assert last.startswith(b"kdoctor: interrupted")
            assert not before or before[0].startswith(b"kdoctor 0"), said
        written = sum(left[name] == new[name] for name in changed)
        if written and process.returncode == 130:
            assert f"; {written} of 16 files were written".encode() in said
        if written:
            assert kdoctor(folder, "fix", "--undo", "--quiet").wait() == 0
            assert files(folder) == old


INTERRUPTED_AT = """
import importlib, signal, sys
module = importlib.import_module({module!r})
real = module.{function}
def interrupted(*arguments):
    signal.raise_signal(signal.SIGINT)
    real(*arguments)
module.{function} = interrupted
sys.argv = ["kdoctor", "fix", "--apply", "--jobs", "1"]
from kdoctor.__main__ import main
main()
"""


def interrupted_at(module: str, function: str, folder: Path) -> tuple[int, list[str]]:
    """Fix a folder; ctrl-C comes as a function is called. Return the exit code and stderr."""
    code = INTERRUPTED_AT.format(module=module, function=function)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("kdoctor.report.fix", "write_written"),
        ("kdoctor.report.fix", "write_summary"),
        ("kdoctor.report.summary", "write_pins"),
    ],
)
def test_an_interrupt_after_all_is_written_says_so(project_of, module, function) -> None:
    folder = project_of("")
    old = files(folder)
    code, said = interrupted_at(module, function, folder)
    assert code == 130
    undo = "`kdoctor fix --undo"
    assert said[-1].startswith(f"kdoctor: interrupted; 16 of 16 files were written; {undo}")
    assert kdoctor(folder, "fix", "--undo", "--quiet").wait() == 0
    assert files(folder) == old


def test_an_interrupt_after_the_summary_changes_nothing(project_of) -> None:
    code, said = interrupted_at("kdoctor.__main__", "_end_at_once", project_of(""))
    assert code == 0
    assert not any("interrupted" in line for line in said)


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for processes")
def test_workers_end_with_the_program_that_is_killed(project_of) -> None:
    folder = project_of("")
    for number in range(16):
        (folder / f"m{number:02}.py").write_text(SOURCE.format(number=number, filler="") * 300)
    mark = f"{folder.parent.name}-killed"
    process = kdoctor(folder, "scan", "--no-cache", "--jobs", "2", mark=mark)
    assert waited_for(lambda: has_processes(mark, 2), 30)
    process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL
    assert waited_for(lambda: not has_processes(mark), 30)
