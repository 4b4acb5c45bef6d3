"""Tells what happens in a process that runs a project's tests, on the Python of that project.

As a plugin of pytest it says which test began and how each ended, stops one that does not end, and
says which lines of some files each test ran, and what names held where a test failed. `python -m
kdoctor_probe train.py` does the last two for a program. It imports only the standard library, and
runs on Python 3.7.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading

from kdoctor_autograph import is_carried_out, is_generated, origins
from kdoctor_frames import Frames

LOG = os.environ.get("KDOCTOR_PROBE_LOG", "")
LINES = os.environ.get("KDOCTOR_PROBE_LINES", "")  # the folder to write them to
SECONDS = float(os.environ.get("KDOCTOR_PROBE_SECONDS", "0"))
TREE = os.environ.get("KDOCTOR_PROBE_TREE", "")  # of which frames are told
FILES = frozenset(json.loads(os.environ.get("KDOCTOR_PROBE_FILES", "[]")))
MAX_TEXT = 20_000
PR_SET_PDEATHSIG = 1  # of prctl(2)


class Lines:
    """The lines of some files that are run, by the test that ran them; "" is none."""

    def __init__(self, files):
        self.test = ""
        self.ran = {}
        self.raised = {}
        self._known = {}
        self._files = files

    def start(self):
        """Follow all threads from now on."""
        atexit.register(self.write)
        threading.settrace(self.enter)
        sys.settrace(self.enter)

    def enter(self, frame, event, argument):
        """Follow a call where it is in one of the files."""
        name = frame.f_code.co_filename
        if is_generated(name):
            return self._enter_generated(frame, event, argument)
        known = self._known.get(name)
        if known is None:
            real = os.path.realpath(name)
            known = self._known[name] = real if real in self._files else ""
        if not known:
            return None

        def inside(frame, event, argument):
            if event in ("line", "exception"):
                found = self.ran if event == "line" else self.raised
                found.setdefault((known, self.test), set()).add(frame.f_lineno)
            return inside

        return inside(frame, event, argument)

    def _enter_generated(self, frame, event, argument):
        """Follow a function that AutoGraph has written of one in the files."""
        if not is_carried_out(frame):
            return None
        name = frame.f_code.co_filename
        known = self._known.get(name)
        if known is None:
            places = (
                (line, os.path.realpath(path), at) for line, (path, at) in origins(name).items()
            )
            known = {line: (path, at) for line, path, at in places if path in self._files}
            self._known[name] = known
        if not known:
            return None

        def inside(frame, event, argument):
            place = known.get(frame.f_lineno)
            if place is not None and event in ("line", "exception"):
                found = self.ran if event == "line" else self.raised
                found.setdefault((place[0], self.test), set()).add(place[1])
            return inside

        return inside(frame, event, argument)

    def write(self):
        """Write what was run so far. A line that raised has not done what it is there for."""
        rows = []
        for (path, test), numbers in list(self.ran.items()):
            done = numbers - self.raised.get((path, test), set())
            rows.append({"path": path, "test": test, "lines": sorted(done)})
        target = os.path.join(LINES, "lines-%d.json" % os.getpid())
        with open(target + ".part", "w") as stream:
            json.dump(rows, stream)
        os.replace(target + ".part", target)


lines = Lines(FILES) if LINES and FILES else None


def test_name(nodeid):
    """Return a test's name as pytest writes it in JUnit's XML."""
    path, bracket, parameters = nodeid.partition("[")
    names = path.split("::")
    names[0] = names[0].replace("/", ".")
    if names[0].endswith(".py"):
        names[0] = names[0][:-3]
    names[-1] += bracket + parameters
    return "%s::%s" % (".".join(names[:-1]), names[-1])


def tell(**entry):
    """Append one line to the log."""
    if LOG:
        with open(LOG, "a") as log:
            log.write(json.dumps(entry) + "\n")


frames = Frames(TREE, tell) if TREE and LOG else None


def pytest_configure(config):
    """Follow the lines from the first import on; hand on limits of time that are the project's."""
    global SECONDS
    end_with_parent()
    if lines is not None:
        lines.start()
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        SECONDS = 0  # the processes of pytest-xdist that run tests stop them
    if config.pluginmanager.hasplugin("timeout"):
        try:
            own = config.getini("timeout") or config.getoption("timeout")
        except (KeyError, ValueError):
            own = None
        if own:
            SECONDS = 0


def pytest_runtest_logstart(nodeid, location):
    """Say which test begins, and give it its time."""
    tell(began=test_name(nodeid))
    if lines is not None:
        lines.test = test_name(nodeid)
        if sys.gettrace() is None:
            sys.settrace(lines.enter)
    if SECONDS and hasattr(signal, "setitimer") and in_main_thread():
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, SECONDS, 5)


def pytest_runtest_logfinish(nodeid, location):
    """Say that a test ended."""
    if SECONDS and hasattr(signal, "setitimer") and in_main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)
    if lines is not None:
        lines.test = ""
    tell(ended=test_name(nodeid))


def pytest_exception_interact(node, call, report):
    """Say what names held where a test or the reading of a file failed."""
    if frames is not None and call.excinfo is not None:
        see(call.excinfo.value)


def pytest_runtest_logreport(report):
    """Say how a phase of a test ended."""
    text = "" if report.passed else str(getattr(report, "longreprtext", ""))[-MAX_TEXT:]
    tell(test=test_name(report.nodeid), outcome=report.outcome, text=text)


def end_with_parent():
    """Have this process end where kdoctor is killed, as far as the system can do that."""
    if sys.platform == "linux" and os.environ.get("KDOCTOR_PROBE_PARENT") == str(os.getppid()):
        try:
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        except (ImportError, OSError, AttributeError):
            pass


def in_main_thread():
    """Say whether signals can be handled here."""
    return threading.current_thread() is threading.main_thread()


def stop(_signal, _frame):
    """End a test that takes too long."""
    import pytest

    pytest.fail("kdoctor: this test did not end within %g seconds" % SECONDS)


def see(error):
    """Say what the frames of an error hold; whatever is odd about them must not fail a test."""
    try:
        frames.see(error)
    except Exception as problem:  # noqa: BLE001 - of any kind
        tell(unseen=type(problem).__name__)


def see_uncaught():
    """Say what names held where the program fails."""
    before = sys.excepthook

    def hook(kind, value, trace):
        see(value)
        before(kind, value, trace)

    sys.excepthook = hook


def main():
    """Run a program as Python does, say which lines it runs, and what names held where it fails."""
    import runpy

    end_with_parent()
    if frames is not None:
        see_uncaught()
    del sys.argv[0]
    if lines is not None:
        lines.test = os.environ.get("KDOCTOR_PROBE_NAME", "program")
        lines.start()
    if sys.argv[0] == "-m":
        del sys.argv[0]
        sys.path[0] = os.getcwd()
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
