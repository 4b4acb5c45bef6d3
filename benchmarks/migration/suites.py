"""Run a package's own tests in a process of their own, and read what happened to each."""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import kdoctor
from benchmarks.migration.model import Arm, Failure, Package, Places, Result, Suite

SHIMS = Path(__file__).with_name("shims")
KERAS_2_NAMES = Path(kdoctor.__file__).parent / "verify" / "keras_2_names"
NOT_TESTED = frozenset({"docs", "examples", "benchmarks", "build", ".git"})
INSTALLED = "installed"
LOG = "log.jsonl"
NO_NETWORK = "http://127.0.0.1:9"  # nothing listens there
SILENCE = 300  # seconds that a process may wait without using the processor or telling a word
PATIENCE = 4  # times what a test may use: then it is where the recorder's signal does not reach it
POLL = 1.0  # seconds
INTERNAL_ERROR = 3  # how pytest ends where it fails itself
TRIES = 20  # processes for one suite: each but the last died in a test

_stopping = threading.Event()


class Stopped(Exception):
    """The run was stopped: what this suite has told so far is no record of it."""


def stop() -> None:
    """Have every suite that runs in any thread kill its process and raise ``Stopped``."""
    _stopping.set()


def test_files(folder: Path, patterns: tuple[str, ...]) -> list[str]:
    """Return the test files of a package, relative to its folder; with patterns, only theirs."""
    paths = (path.relative_to(folder) for path in folder.rglob("*.py"))
    return sorted(
        path.as_posix()
        for path in paths
        if (path.name.startswith("test") or path.name.endswith("_test.py"))
        and not NOT_TESTED.intersection(path.parts[:-1])
        and (not patterns or any(fnmatch.fnmatch(path.as_posix(), each) for each in patterns))
    )


def run(  # noqa: PLR0913 - what a process needs to know
    package: Package,
    arm: Arm,
    root: Path,
    places: Places,
    also: Sequence[Path] = (),
    *,
    variables: Mapping[str, str] | None = None,
) -> Suite:
    """Run the tests of ``root/<package>``; all folders of ``root`` and ``also`` are on the path.

    ``variables`` are added to those of the processes.

    A process that dies takes down one test: the others are run by another one. What the log of a
    stopped run tells of is not run again.

    Raises:
        Stopped: ``stop`` was called.
    """
    begun = time.monotonic()
    _install(root)
    log, done = root / LOG, root / "done.json"
    _cut(log)
    crashed: dict[str, str] = {}
    for _ in range(TRIES):
        suite = read(log.read_text(), crashed)
        done.write_text(json.dumps(sorted(suite.tests)))
        around = _surroundings(arm, root, places, also) | dict(variables or {})
        why = _process(package, root, places, around)
        lost = _unfinished(_entries(log.read_text()))
        if lost is None:
            break
        crashed[lost] = why
    suite = read(log.read_text(), crashed)
    if not suite.tests and not suite.uncollected:
        suite = msgspec.structs.replace(suite, uncollected={"": Failure("Process", why[-600:])})
    # Of a run that went on where it was stopped, at least what its tests took.
    seconds = max(time.monotonic() - begun, sum(test.seconds for test in suite.tests.values()))
    return msgspec.structs.replace(suite, seconds=round(seconds, 1))


def _cut(log: Path) -> None:
    """Leave out of a stopped run's log what it tells of the test that it was stopped in."""
    entries = _entries(log.read_text()) if log.is_file() else []
    lost = _lost(entries)
    whole = [each for each in entries if lost not in {each.get("test"), each.get("began")}]
    kept = entries if lost is None else whole
    log.write_text("".join(f"{json.dumps(each)}\n" for each in kept))


def forget(root: Path) -> None:
    """Have the next run of ``root`` run every test."""
    (root / LOG).unlink(missing_ok=True)


def read(log: str, crashed: dict[str, str]) -> Suite:
    """Read a recorder's log: one JSON object a line; ``crashed`` says how processes died."""
    tests: dict[str, Result] = {}
    uncollected: dict[str, Failure] = {}
    for entry in _entries(log):
        if "test" in entry:
            tests[entry["test"]] = _joined(tests.get(entry["test"]), entry)
        elif "collecting" in entry:
            name = entry["collecting"]
            uncollected.setdefault("" if name == "." else name, _failure(entry))
    for name, why in crashed.items():
        tests[name] = Result("crashed", failure=Failure("Crash", why[-600:]))
    return Suite(tests, uncollected, 0.0)


def _joined(known: Result | None, entry: dict[str, Any]) -> Result:
    """Add a phase to a test: setup and call decide, what its teardown cannot tidy up does not.

    pytest, too, calls a test passed whose teardown fails, and tells of the error apart.
    """
    seconds = round((known.seconds if known else 0.0) + entry["seconds"], 2)
    if known is not None and (known.outcome != "passed" or entry["phase"] == "teardown"):
        return msgspec.structs.replace(known, seconds=seconds)
    failure = _failure(entry) if "failure" in entry else None
    return Result(entry["outcome"], seconds, failure)


def _failure(entry: dict[str, Any]) -> Failure:
    return msgspec.convert(entry["failure"], Failure)


def _entries(log: str) -> list[dict[str, Any]]:
    """Return the lines of a log; a dying process may have left half of one."""
    return [json.loads(line) for line in log.splitlines() if line.endswith("}")]


def _lost(entries: list[dict[str, Any]]) -> str | None:
    """Return the test that began and did not end."""
    running = None
    for entry in entries:
        running = entry.get("began", None if "ended" in entry else running)
    return running


def _unfinished(entries: list[dict[str, Any]]) -> str | None:
    """Return the test that took its process down, with all that should have come after it.

    Python 3.11 may fail to compile what pytest shows of a RecursionError. pytest ends then, with a
    test that has begun and ended and of which it has reported no call.
    """
    finished = entries[-1].get("finished") if entries else None
    if finished is None:
        return _lost(entries)
    if finished != INTERNAL_ERROR:
        return None
    last = next((entry["ended"] for entry in reversed(entries) if "ended" in entry), None)
    reported = {entry["test"] for entry in entries if entry.get("phase") == "call"}
    return None if last in reported else last


def _install(root: Path) -> None:
    """Write what ``importlib.metadata`` asks of an installed package, for every one of ``root``."""
    for folder in [path for path in root.iterdir() if path.is_dir()]:
        about = root / INSTALLED / f"{folder.name.replace('-', '_')}-0.0.dist-info"
        about.mkdir(parents=True, exist_ok=True)
        about.joinpath("METADATA").write_text(f"Name: {folder.name}\nVersion: 0.0\n")


def _process(package: Package, root: Path, places: Places, around: Mapping[str, str]) -> str:
    """Run pytest once; return what it wrote last."""
    folder = root / package.name
    command = [str(places.python), "-m", "pytest", "-p", "migration_recorder", "--rootdir=."]
    command += ["-q", "-o", "addopts=", "-p", "no:cacheprovider", "--tb=short"]
    command += ["--continue-on-collection-errors"]
    command += ["-p", "no:xdist", "-p", "no:timeout", *test_files(folder, package.tests)]
    output = root / "output.txt"
    with output.open("w") as stream:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**around, "MIGRATION_SHARE": str(package.share)},
            stdout=stream,
            stderr=subprocess.STDOUT,
            # A Ctrl-C is for the benchmark: pytest would end as if it had run all tests.
            start_new_session=True,
        )
        hangs = _wait(process, [root / LOG, output], places.seconds_a_test)
    text = output.read_text(errors="replace")[-2000:]
    return f"{text}\nkilled: it hung" if hangs else f"{text}\nexit {process.returncode}"


def _wait(process: subprocess.Popen[bytes], watched: list[Path], seconds_a_test: float) -> bool:
    """Wait for a process to end; kill it, and say so, where it hangs.

    Nothing is written, and it either waits for something or computes where no signal reaches it.
    A busy machine alone makes none of the two true.
    """
    told, at_word, seen, moved = -1, 0.0, 0.0, time.monotonic()
    while not _ended(process):
        written, processor = sum(path.stat().st_size for path in watched), _used(process.pid)
        if written > told or processor >= seen + 1:
            seen, moved = processor, time.monotonic()
        if written > told:
            told, at_word = written, processor
        if _stopping.is_set():
            _kill(process)
            raise Stopped
        waits = time.monotonic() - moved > SILENCE
        if waits or processor - at_word > PATIENCE * seconds_a_test:
            _kill(process)
            return True
    return False


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Wait a moment for a process to end."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(POLL)
    return process.returncode is not None


def _used(pid: int) -> float:
    """Return the processor time of a process in seconds, as ``ps`` tells it: ``[[d-]h:]m:s``."""
    told = subprocess.run(
        ["ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    days, _, clock = told.rpartition("-")
    seconds = 0.0
    for part in (clock or "0").split(":"):
        seconds = 60 * seconds + float(part)
    return 86400 * int(days or 0) + seconds


def _surroundings(arm: Arm, root: Path, places: Places, also: Sequence[Path]) -> dict[str, str]:
    """Return the environment variables: the same in every arm but for Keras 2's own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(map(str, (*_path(arm, root), *also))),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "KERAS_HOME": str(places.cache / "keras-home"),
        "MPLBACKEND": "Agg",
        # No network, in no arm: what is to be had there today may not be tomorrow.
        **dict.fromkeys(("http_proxy", "https_proxy"), NO_NETWORK),
        "HF_HUB_OFFLINE": "1",
        # One thread: two suites share a machine, and a test's processor time is its own.
        "OMP_NUM_THREADS": "1",
        "TF_NUM_INTRAOP_THREADS": "1",
        "TF_NUM_INTEROP_THREADS": "1",
        **({"TF_USE_LEGACY_KERAS": "1"} if arm is Arm.KERAS_2 else {}),
        "MIGRATION_LOG": str(root / LOG),
        "MIGRATION_ROOT": str(root),
        "MIGRATION_DONE": str(root / "done.json"),
        "MIGRATION_TEST_SECONDS": str(places.seconds_a_test),
    }


def _path(arm: Arm, root: Path) -> Iterator[Path]:
    if arm is Arm.KERAS_2:
        yield KERAS_2_NAMES
    yield SHIMS / "everywhere"
    yield from sorted(path for path in root.iterdir() if path.is_dir())
