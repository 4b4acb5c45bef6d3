"""An interrupt is neither lost nor told of as something ignored, wherever it strikes."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Python handles the signal in the `__del__`, and drops what is raised there.
DROPPED = """
import signal, sys, threading, time
from kdoctor.documents import resend_signal_hook

class Stopped(BaseException):
    pass

def stop(number, frame):
    raise Stopped

class Tree:
    def __del__(self):
        signal.raise_signal(signal.{name})
        time.sleep(0.001)

if "{name}" != "SIGINT":
    signal.signal(signal.{name}, stop)
sys.unraisablehook = resend_signal_hook(signal.{name}, {raised})
try:
    del Tree().anything
except AttributeError:
    pass
try:
    threading.Event().wait(120)
except {raised}:
    print("it came again")
"""


def _ran(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGUSR1")
@pytest.mark.parametrize(
    ("name", "raised"), [("SIGINT", "KeyboardInterrupt"), ("SIGUSR1", "Stopped")]
)
def test_an_interrupt_that_python_drops_comes_again(name, raised):
    done = _ran(DROPPED.format(name=name, raised=raised))
    assert (done.stdout, done.stderr) == ("it came again\n", "")


def test_anything_else_that_python_drops_is_told_as_ever():
    code = DROPPED.format(name="SIGINT", raised="KeyboardInterrupt")
    done = _ran(code.replace("signal.raise_signal(signal.SIGINT)", "1 / 0").replace("120", "0"))
    assert done.stderr.startswith("Exception ignored in: <function Tree.__del__")
    assert "ZeroDivisionError" in done.stderr
