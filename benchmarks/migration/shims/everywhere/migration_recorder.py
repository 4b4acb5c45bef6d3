"""A pytest plugin that writes what happened to each test: one JSON object a line.

A test's line says that it began, a second one how it ended, so that a process that dies tells
where. Runs under the packages' Python: it imports nothing but pytest and the standard library.
"""

import json
import os
import random
import re
import signal
import sys
import traceback
import zlib
from pathlib import Path

import old_aliases
import pytest

LOG = Path(os.environ["MIGRATION_LOG"])
ROOT = Path(os.environ["MIGRATION_ROOT"]).resolve()  # frames are told below this folder only
SECONDS = float(os.environ["MIGRATION_TEST_SECONDS"])
SHARE = float(os.environ["MIGRATION_SHARE"])
DONE = set(json.loads(Path(os.environ["MIGRATION_DONE"]).read_text()))
IN_MESSAGE = re.compile(
    r'File "([^"\n]+)", line (\d+), in (\S+)'
)  # what AutoGraph leaves of frames
LONGEST = 600

old_aliases.put_back()


def write(**entry):
    """Append one line."""
    with LOG.open("a") as log:
        log.write(json.dumps(entry) + "\n")


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests():
    """Tell why a conftest cannot be imported: pytest ends there."""
    try:
        return (yield)
    except Exception as problem:
        write(collecting="", failure=failure(getattr(problem, "cause", None) or problem))
        raise


def pytest_collection_modifyitems(config, items):
    """Leave out what an earlier process has run, and what was not drawn."""
    run = [item for item in items if item.nodeid not in DONE and drawn(item.nodeid)]
    if len(run) < len(items):
        kept = {id(item) for item in run}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = run


def drawn(test):
    """Say whether a test is of the share that is run: a hash of its id decides, in every arm."""
    return zlib.crc32(test.encode()) < SHARE * 2**32


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Draw the same random numbers in every run."""
    seed = zlib.crc32(item.nodeid.encode())
    random.seed(seed)
    sys.modules["numpy"].random.seed(seed)
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].random.set_seed(seed)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Stop a test that uses too much of the processor's time: a busy machine changes nothing."""
    write(began=item.nodeid)

    def stop(_signal, _frame):
        pytest.fail(f"more than {SECONDS:g} s of processor time", pytrace=True)

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS, 5)  # again: the first may land in a __del__
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        write(ended=item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Tell how each phase of a test went."""
    report = yield
    entry = {"test": item.nodeid, "phase": report.when, "outcome": report.outcome}
    if report.failed and call.excinfo is not None:
        entry["failure"] = failure(call.excinfo.value)
    if hasattr(report, "wasxfail"):
        entry["outcome"] = "xfailed" if report.skipped else "xpassed"
    write(**entry, seconds=round(report.duration, 2))
    return report


def pytest_exception_interact(node, call, report):
    """Tell what stopped the collection of a file."""
    if isinstance(report, pytest.CollectReport):
        value = call.excinfo.value
        value = getattr(value, "cause", None) or value.__cause__ or value
        write(collecting=node.nodeid, failure=failure(value))


def pytest_sessionfinish(exitstatus):
    """Tell that nothing is left."""
    write(finished=int(exitstatus))


def failure(error):
    """Return type, message, the frames inside the packages and the place that raised."""
    frames, raised_at = [], ""
    for each in reversed(chain(error)):
        told = traceback.extract_tb(each.__traceback__)
        raised_at = f"{told[-1].filename}:{told[-1].lineno}" if told else raised_at
        frames += frames_of(each, told)
    return {
        "type": type(error).__name__,
        "message": str(error)[:LONGEST],
        "frames": frames,
        "raised_at": shortened(raised_at),
    }


def frames_of(error, told):
    """Return the packages' frames of one error, outermost first; the last one is marked."""
    found = [frame(f.filename, f.lineno, f.end_lineno, f.name) for f in told]
    if isinstance(error, SyntaxError) and error.filename:
        found.append(frame(error.filename, error.lineno, error.end_lineno, "<module>"))
    for path, line, name in IN_MESSAGE.findall(str(error)):
        found.append(frame(path, int(line), int(line), name))
    found = [each for each in found if each is not None]
    if found:
        found[-1]["last"] = True
    return found


def chain(error):
    """Return the error and what it came from."""
    found = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def frame(path, line, end_line, name):
    """Return a frame of the packages, or None for one of a library."""
    place = Path(path).resolve()
    if not place.is_relative_to(ROOT) or not place.is_file():  # no <frozen importlib>
        return None
    return {
        "path": place.relative_to(ROOT).as_posix(),
        "line": line or 1,
        "end_line": end_line or line or 1,
        "function": name,
    }


def shortened(place):
    """Return a place without the folders that differ from machine to machine."""
    return place.partition("site-packages/")[2] or place.removeprefix(f"{ROOT}/")
