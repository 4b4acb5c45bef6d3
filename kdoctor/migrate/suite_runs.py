"""Run a project's tests, and keep what came of it: a run that ended is never made twice."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from kdoctor.digests import blake2b
from kdoctor.errors import UsageProblem
from kdoctor.migrate import junit, state
from kdoctor.migrate.junit import FAILED, PASSED, Test
from kdoctor.migrate.seen_values import SeenValue, seen_in
from kdoctor.migrate.suites import NEW, Side, Suite, command, environment
from kdoctor.migrate.worktree import Worktree

_TO_END: Final = 10.0  # seconds between asking a process to end and killing it
_MAX_TEXT: Final = 20_000
_MAX_LINES: Final = 30  # of the end of a log
_NO_TESTS: Final = 5  # how pytest ends where there are none

# By file and test, the lines of the file that the test ran without an error.
Ran = dict[str, dict[str, tuple[int, ...]]]


class TestRun(Struct, frozen=True, omit_defaults=True):
    """What came of the tests on one side: how each ended, and what was told of it.

    ``ran`` are the lines of some files, paths from the top of the repository, where they were
    asked for. ``problem`` says why not all tests were run, "" where they were. ``seen`` is what
    names of the project held where tests failed, on Keras 3.
    """

    __test__ = False

    tests: dict[str, Test]
    seconds: float
    log: str
    problem: str = ""
    ran: Ran = {}
    seen: tuple[SeenValue, ...] = ()

    @property
    def passed(self) -> frozenset[str]:
        """The tests that passed."""
        return frozenset(name for name, test in self.tests.items() if test.outcome == PASSED)


class BudgetSpent(Exception):
    """The time for all runs together is over."""


class Runner:
    """Runs the tests of a working tree, or answers with what the same files came to before."""

    def __init__(
        self,
        tree: Worktree,
        suites: Sequence[Suite],
        limits: tuple[float, float, float],
    ) -> None:
        self._tree = tree
        self._suites = suites
        self._seconds, self._test_seconds, self._budget = limits
        self.spent = 0.0
        self.count = 0

    def run(self, side: Side, *, attempt: int = 1, follow: Iterable[str] = ()) -> TestRun:
        """Run the tests on a side; ``follow`` are files of which the lines that run are told.

        Raises:
            BudgetSpent: there is no time for it any more.
            UsageProblem: the command cannot be run.
        """
        tree, followed = self._tree.tree(), sorted(follow)
        key = self._key(side, tree, attempt, followed)
        kept = self._tree.home.runs / f"{key}.json"
        found = state.read(kept, TestRun)
        if found is None:
            found = self._run(side, key, followed)
            self._tree.restore(tree)
            state.write(kept, found)
        self.spent += found.seconds
        self.count += 1
        return found

    def _key(self, side: Side, tree: str, attempt: int, follow: Sequence[str]) -> str:
        how = (side.python, str(side.with_tf_keras), str(self._seconds), str(self._test_seconds))
        told = (
            side.name,
            tree,
            str(attempt),
            *how,
            *follow,
            *(each.shown for each in self._suites),
        )
        return f"{side.name}-{blake2b(chr(0).join(told).encode(), digest_size=8).hexdigest()}"

    def _run(self, side: Side, key: str, follow: Sequence[str]) -> TestRun:
        tests, ran, problems, seconds = dict[str, Test](), Ran(), list[str](), 0.0
        seen = list[SeenValue]()
        log = self._tree.home.runs / f"{key}.log"
        log.write_bytes(b"")
        for number, suite in enumerate(self._suites):
            # Of a process that was killed, tests may still be running.
            base = self._tree.home.runs / f"{key}-{number}-{os.getpid()}"
            one = self._run_suite(suite, side, base, log, follow)
            tests |= {f"{suite.prefix}{name}": test for name, test in one.tests.items()}
            for path, by_test in one.ran.items():
                ran.setdefault(path, {}).update(
                    {f"{suite.prefix}{name}" if name else "": by_test[name] for name in by_test}
                )
            seen += one.seen
            problems += [each for each in [one.problem] if each]
            seconds += one.seconds
        return TestRun(tests, round(seconds, 2), str(log), "; ".join(problems), ran, tuple(seen))

    def _run_suite(
        self, suite: Suite, side: Side, base: Path, log: Path, follow: Sequence[str]
    ) -> TestRun:
        xml, told = base.with_suffix(".xml"), base.with_suffix(".probe")
        lines = base.with_suffix(".lines")
        for each in (xml, told):
            each.unlink(missing_ok=True)
        for each in lines.glob("*"):
            each.unlink()
        tree, top = self._tree.folder, self._tree.home.top
        surroundings = environment(
            side, (top, tree), self._tree.tracked(), xml, self._test_seconds
        ) | {"KDOCTOR_PROBE_LOG": str(told), "KDOCTOR_PROBE_NAME": suite.shown}
        if side.name == NEW:
            surroundings["KDOCTOR_PROBE_TREE"] = os.path.realpath(tree)
        if follow:
            lines.mkdir(exist_ok=True)
            surroundings |= {
                "KDOCTOR_PROBE_LINES": str(lines),
                "KDOCTOR_PROBE_FILES": json.dumps([os.path.realpath(tree / x) for x in follow]),
            }
        begun = time.monotonic()
        limit, is_last = self._limit()
        words = command(suite, side, xml)
        code = _ended(words, tree / suite.folder, surroundings, log, limit)
        seconds = time.monotonic() - begun
        if code is None and is_last:
            raise BudgetSpent
        tests, problem = _read(suite, code, xml, told, log, limit)
        ran = _lines(lines, tree) if follow else {}
        return TestRun(tests, seconds, str(log), problem, ran, tuple(seen_in(told)))

    def _limit(self) -> tuple[float, bool]:
        """Return how long a run may take, and whether the budget says so."""
        if not self._budget:
            return self._seconds, False
        left = self._budget - self.spent
        if left <= 0:
            raise BudgetSpent
        return min(left, self._seconds), left < self._seconds


def _read(  # noqa: PLR0913, PLR0917 - what a run leaves behind
    suite: Suite, code: int | None, xml: Path, told: Path, log: Path, limit: float
) -> tuple[dict[str, Test], str]:
    """Return the tests of a run that ended with a code, None for one that was stopped."""
    if suite.is_program:
        text = log.read_text("utf-8", "replace")[-_MAX_TEXT:]
        outcome = PASSED if code == 0 else FAILED
        why = f"it did not end within {limit:g} seconds" if code is None else ""
        return {suite.shown: Test(outcome, "" if code == 0 else text)}, why
    problem = ""
    try:
        tests = junit.tests_in(xml.read_bytes())
    except (OSError, junit.UnreadableXml):
        tests, hangs = junit.tests_in_log(told)
        how = f"did not end within {limit:g} seconds" if code is None else f"ended with {code}"
        if hangs:
            tests[hangs] = Test(FAILED, f"the tests {how} in it")
            problem = f"`{suite.shown}` {how}, in {hangs}"
        elif code != _NO_TESTS:
            problem = f"`{suite.shown}` {how}, and wrote no JUnit XML{_said(log)}"
    return tests, problem


def _said(log: Path) -> str:
    """Return the last line of a log that looks like an error, as the end of a sentence."""
    lines = log.read_text("utf-8", "replace").splitlines()[-_MAX_LINES:]
    errors = [each.strip() for each in lines if "error" in each.lower()]
    return f": {errors[-1]}" if errors else ""


def _lines(folder: Path, tree: Path) -> Ran:
    """Return what the processes of a run told of the lines that they ran."""
    real = os.path.realpath(tree)
    found: dict[str, dict[str, set[int]]] = {}
    for path in sorted(folder.glob("lines-*.json")):
        for row in json.loads(path.read_bytes()):
            inside = Path(os.path.relpath(row["path"], real)).as_posix()
            found.setdefault(inside, {}).setdefault(row["test"], set()).update(row["lines"])
    return {
        path: {test: tuple(sorted(lines)) for test, lines in by_test.items()}
        for path, by_test in found.items()
    }


def _ended(
    words: Sequence[str], folder: Path, surroundings: dict[str, str], log: Path, seconds: float
) -> int | None:
    """Run a command to its end; return its exit code, None where it was stopped for its time.

    Raises:
        UsageProblem: there is no such program.
    """
    with log.open("ab") as stream:
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                env=surroundings,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageProblem(f"{words[0]} cannot be run: {error.strerror or error}") from error
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process, and what it has started and left behind."""
    if os.name != "posix":
        process.kill()
        process.wait()
        return
    for sent, wait in ((signal.SIGTERM, _TO_END), (signal.SIGKILL, None)):
        if process.poll() is None or sent == signal.SIGKILL:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(wait)
