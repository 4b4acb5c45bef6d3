"""Carry the plan of a migration out: step by step on a branch, the tests after each."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from msgspec.structs import replace

from kdoctor.engine import Options, ScanResult
from kdoctor.engine.baseline.entry import BaselineEntry, entry_of
from kdoctor.errors import UsageProblem
from kdoctor.migrate import pin_edits
from kdoctor.migrate.commit_messages import by_rule, evidence, paths_of, tests_passed
from kdoctor.migrate.evidence import from_top
from kdoctor.migrate.fixes import USUAL, Applied, Code
from kdoctor.migrate.judging import Judge, candidates
from kdoctor.migrate.outcome import (
    Counted,
    FixOutcome,
    LeftFinding,
    Outcome,
    StepOutcome,
    Verdict,
)
from kdoctor.migrate.plan import Plan, plan
from kdoctor.migrate.seen_fixes import seen_fixes
from kdoctor.migrate.seen_values import SeenValue
from kdoctor.migrate.state import Home, State
from kdoctor.migrate.suite_runs import BudgetSpent, Runner, TestRun
from kdoctor.migrate.suites import NEW, OLD, cure_of, sides, suites_of
from kdoctor.migrate.tracebacks import (
    failing_on_keras_2,
    failing_tests,
    lines_of,
    usual_error,
)
from kdoctor.migrate.worktree import Worktree
from kdoctor.model import Applicability, Finding
from kdoctor.progress import overview
from kdoctor.target import Target
from kdoctor.value_types import Observation

_MAX_ROUNDS: Final = 10
_MAX_ERRORS: Final = 5  # of a test, one after the other, each of which is looked into
_MAX_SUBJECT: Final = 72
_MAX_NAMED: Final = 20  # lines of a list in a commit message

_TOO_SMALL: Final = (
    "the budget is spent before the tests on Keras {} have ended: "
    "`kdoctor migrate --resume --budget MINUTES` goes on"
)

Tell = Callable[[str], None]


class TooSmallBudget(UsageProblem):
    """The time was over before anything could be judged; what was run is kept."""


def carry_out(state: State, home: Home, tell: Tell) -> Outcome:
    """Carry a migration out, or go on where it was interrupted; return what it came to.

    ``tell`` is given a sentence on each run of the tests.

    Raises:
        TooSmallBudget: it was over before the first step.
        UsageProblem: there are no tests, none passes on Keras 2, or a command cannot be run.
    """
    tree = Worktree(home, state.branch, state.base)
    notes = [*state.notes, *tree.make()]
    folder = tree.folder / state.settings.within
    with contextlib.chdir(folder):
        return _Migration(state, tree, tell, notes).carried_out()


class _Migration:
    """One migration; its working folder is that in the tree which it was called in."""

    def __init__(self, state: State, tree: Worktree, tell: Tell, notes: list[str]) -> None:
        self._settings = state.settings
        self._tree = tree
        self._now = state.now
        self._tell = tell
        self._notes = notes
        self._options = cast("Options", dict(state.engine))
        self._sides = sides(state.settings)
        self._suites = suites_of(state.settings, tree.tracked())
        limits = (state.settings.seconds, state.settings.test_seconds, state.settings.budget)
        self._runner = Runner(tree, self._suites, limits)
        self._steps: list[StepOutcome] = []
        self._fixes: list[FixOutcome] = []
        self._refused: set[BaselineEntry] = set()
        self._suggested: dict[BaselineEntry, FixOutcome] = {}
        # Of the files as they are, with fixes that were not kept; in order.
        self._seen_in_trials: dict[SeenValue, None] = {}
        self._errors_in_trials: dict[Observation, str] = {}
        self._pins: list[str] = []
        self._pins_left: list[str] = []
        self._stopped = ""

    def carried_out(self) -> Outcome:
        old, ceiling, flaky = self._on_keras_2()
        before = self._run_before()
        planned = plan(self._settings.paths, None, self._options)
        self._options = cast("Options", {**self._options, "target": planned.then})
        inside = self._inside(self._tree.tracked())
        code = Code(self._settings.paths, self._options, inside)
        judge = Judge(self._tree, self._runner, self._sides[NEW], code, before)
        judge.ceiling, judge.flaky = ceiling, flaky
        self._tell(f"{len(before.passed & ceiling)} of {len(ceiling)} pass on Keras 3 as it is")
        try:
            self._write_pins(planned, judge, inside)
            self._open_imports(code, judge)
            self._apply_safe(code, judge)
            self._try_others(code, judge)
        except BudgetSpent:
            self._tree.undo_changes()
            self._stopped = f"the budget of {self._settings.budget / 60:g} minutes is spent"
        return self._outcome(planned, old, before, code, judge)

    # Before anything is changed.

    def _on_keras_2(self) -> tuple[TestRun, frozenset[str], set[str]]:
        """Run the tests on Keras 2 twice; return which pass both times, and which only once."""
        names = ", ".join(f"`{each.shown}`" for each in self._suites)
        self._tell(f"running {names} on Keras 2, twice")
        try:
            first = self._runner.run(self._sides[OLD])
            second = self._runner.run(self._sides[OLD], attempt=2) if first.passed else first
        except BudgetSpent:
            raise TooSmallBudget(_TOO_SMALL.format("2")) from None
        ceiling = first.passed & second.passed
        if not ceiling:
            why = first.problem or usual_error(first.tests)
            cure = cure_of(why, self._sides[OLD], self._suites)
            raise UsageProblem(
                f"no test passes on Keras 2{why and f' ({why})'}, so none can judge a change; "
                f"what they wrote is in {first.log}{cure}"
            )
        for each in (first.problem, second.problem):
            if each and f"on Keras 2, {each}" not in self._notes:
                self._notes.append(f"on Keras 2, {each}")
        flaky = set(first.passed ^ second.passed)
        self._notes += failing_on_keras_2(first.tests, flaky, self._sides[OLD])
        self._tell(f"{len(ceiling)} of {len(first.tests)} tests pass on Keras 2")
        return first, ceiling, flaky

    def _run_before(self) -> TestRun:
        try:
            return self._runner.run(self._sides[NEW])
        except BudgetSpent:
            raise TooSmallBudget(_TOO_SMALL.format("3")) from None

    # The steps.

    def _write_pins(self, planned: Plan, judge: Judge, inside: frozenset[str]) -> None:
        foreign = [each.path for each in planned.pins if os.path.normpath(each.path) not in inside]
        done, left = pin_edits.edit(planned.pins, foreign)
        if done:
            run = judge.run()
            lost = judge.lost(run)
            if lost:
                self._tree.undo_changes()
                done, left = [], [*left, *done]
                self._notes.append(f"new requirements were taken back: {lost[0]} fails with them")
        self._pins_left = [f"{each.place}: {each.requirement} -> {each.instead}" for each in left]
        if not done:
            return
        self._pins = [f"{each.place}: {each.requirement} -> {each.instead}" for each in done]
        title = "Ask for Keras 3 in requirements"
        self._commit(title, judge, run, len(done), {each.path for each in done}, self._pins)

    def _open_imports(self, code: Code, judge: Judge) -> None:
        """Fix what stops files as they are imported, one name after the other."""
        applied = list[Applied]()
        for _ in range(_MAX_ROUNDS):
            found = overview(self._settings.paths, {**self._options, "cache": False})
            stops = [each.finding for each in found.stops]
            safe = code.fixable(found.scan, {Applicability.SAFE})
            one = code.apply([each for each in safe if each in stops])
            if not one.files:
                break
            applied.append(one)
        if not applied:
            return
        run = judge.run()
        if judge.lost(run):
            self._tree.undo_changes()  # the next step finds out which
            return
        self._keep_safe("Import names from where Keras 3 has them", applied, judge, run)

    def _apply_safe(self, code: Code, judge: Judge) -> None:
        title = "Write what Keras 3 has instead, as proven"
        applied = code.apply_safe()
        if not applied.files:
            return
        run = judge.run()
        if not judge.lost(run):
            self._keep_safe(title, [applied], judge, run)
            return
        self._tree.undo_changes()
        scan = code.scan()
        found = judge.without_losses(code.fixable(scan, {Applicability.SAFE}))
        for finding, outcome in found.verdicts:
            self._refused.add(entry_of(finding, scan, Path.cwd()))
            self._fixes.append(outcome)
        if found.applied.files:
            self._keep_safe(title, [found.applied], judge, found.run)

    def _try_others(self, code: Code, judge: Judge) -> None:
        """Try the other fixes, then what the errors of tests lead to, until nothing is gained."""
        for _ in range(_MAX_ROUNDS):
            is_better = self._try(code, judge)
            is_better |= self._try_at_errors(code, judge)
            is_better |= self._try_seen(code, judge)
            if not is_better:
                return

    def _try(self, code: Code, judge: Judge) -> bool:
        scan = code.scan()
        return self._judge("Write what your tests speak for", judge, scan, self._open(code, scan))

    def _try_at_errors(self, code: Code, judge: Judge) -> bool:
        """Try what is found on the lines that the errors of tests went through."""
        failing = judge.ceiling - judge.now.passed - judge.flaky
        lines = lines_of(failing, judge.now.tests, self._tree.folder)
        if not lines:
            return False
        how: Options = {"preview": True}
        scan = code.scan(how)
        found = self._untried(self._open(code, scan, lines), scan)
        return self._judge("Write what the errors of tests led to", judge, scan, found, how)

    def _try_seen(self, code: Code, judge: Judge) -> bool:
        """Try what is found once it is known what names held where tests failed.

        A test may have several errors, one after the other. Where fixes only move it on to the next
        one, they were not kept, but what names held there is known, too: what follows from it is
        tried together with them.
        """
        target = cast("Target", self._options.get("target"))
        here = Path.cwd()
        # What was suggested without knowing what was seen may be another fix.
        known = self._refused | {entry for entry, each in self._suggested.items() if each.seen}
        tried = set[BaselineEntry]()
        now = judge.errors_in(judge.now)
        for _ in range(_MAX_ERRORS):
            seen = (*judge.now.seen, *self._seen_in_trials)
            errors = {**self._errors_in_trials, **dict(now)}
            found = seen_fixes(code, seen, target, errors.items())
            if found is None:
                return False
            entries = {each: entry_of(each, found.scan, here) for each in found.fixes}
            fixes = [each for each in found.fixes if entries[each] not in known]
            if {entries[each] for each in fixes} <= tried:
                return False
            tried |= {entries[each] for each in fixes}
            is_further = bool(self._seen_in_trials or self._errors_in_trials)
            fixes += self._suggested_in(found.scan, code) if is_further else []
            title = "Write what values at run time led to"
            if self._judge(title, judge, found.scan, fixes, found.how, found.because):
                return True
        return False

    def _suggested_in(self, scan: ScanResult, code: Code) -> list[Finding]:
        """Return the fixes that no test spoke for when they were tried, and nothing seen led to."""
        here = Path.cwd()
        return [
            each
            for each in self._open(code, scan)
            if (entry := entry_of(each, scan, here)) in self._suggested
            and not self._suggested[entry].seen
        ]

    def _open(
        self, code: Code, scan: ScanResult, at: set[tuple[str, int]] | None = None
    ) -> list[Finding]:
        """Return the fixes that may be tried and are not refused: with ``at``, on these lines."""
        here = Path.cwd()
        return candidates(
            code, scan, lambda each: entry_of(each, scan, here) in self._refused, at, self._from_top
        )

    def _untried(self, findings: Iterable[Finding], scan: ScanResult) -> list[Finding]:
        known = self._refused | self._suggested.keys()
        return [each for each in findings if entry_of(each, scan, Path.cwd()) not in known]

    def _judge(  # noqa: PLR0913, PLR0917 - what is tried, and what is told of it
        self,
        title: str,
        judge: Judge,
        scan: ScanResult,
        found: Sequence[Finding],
        how: Options = USUAL,
        because: Mapping[Finding, tuple[str, ...]] = MappingProxyType({}),
    ) -> bool:
        """Keep those fixes that tests speak for; say whether there are any."""
        if not found:
            return False
        judged = judge.judged(found, how)
        reasons = {(each.place, each.code): said for each, said in because.items()}
        verdicts = [
            (each, replace(outcome, seen=reasons.get((each.place, each.code), ())))
            for each, outcome in judged.verdicts
        ]
        for finding, outcome in verdicts:
            entry = entry_of(finding, scan, Path.cwd())
            if outcome.verdict is Verdict.LOSES:
                self._refused.add(entry)
            if outcome.verdict is Verdict.NOT_RUN:
                self._suggested[entry] = outcome
            else:
                self._suggested.pop(entry, None)
                self._fixes.append(outcome)
        if not judged.applied.files:
            self._tree.undo_changes()
            self._seen_in_trials.update(dict.fromkeys(judged.tried.seen))
            self._errors_in_trials.update(judged.errors)
            return False
        self._seen_in_trials.clear()
        self._errors_in_trials.clear()
        told = [each for _, each in verdicts if each.is_written]
        self._commit(title, judge, judged.run, len(told), paths_of(told), evidence(told))
        return True

    def _keep_safe(
        self, title: str, applied: Sequence[Applied], judge: Judge, run: TestRun
    ) -> None:
        findings = [each for one in applied for each in one.findings]
        told = [judge.told(each, Verdict.PROVEN) for each in findings]
        self._fixes += told
        self._commit(title, judge, run, len(told), paths_of(told), by_rule(told))

    def _commit(  # noqa: PLR0913, PLR0917 - what a commit says
        self,
        title: str,
        judge: Judge,
        run: TestRun,
        changes: int,
        files: Iterable[str],
        lines: Sequence[str],
    ) -> None:
        gained, paths = judge.gained(run), tuple(sorted(files))
        seen = tests_passed(gained, len(run.passed & judge.ceiling), len(judge.ceiling))
        shown = [
            *lines[:_MAX_NAMED],
            *([f"… and {len(lines) - _MAX_NAMED} more"] * (len(lines) > _MAX_NAMED)),
        ]
        listed = "\n".join(f"- {each}" for each in shown)
        commands = "\n".join(f"    {each.shown}" for each in self._suites)
        body = f"{listed}\n\n{seen} Seen with:\n\n{commands}"
        commit = self._tree.commit(title[:_MAX_SUBJECT], body)
        self._steps.append(
            StepOutcome(
                title,
                commit,
                changes,
                paths,
                tuple(gained),
                len(run.passed & judge.ceiling),
                run.log,
            )
        )
        judge.now = run
        self._tell(f"{title}: {seen[0].lower()}{seen[1:-1]}")

    # The end.

    def _outcome(
        self, planned: Plan, old: TestRun, before: TestRun, code: Code, judge: Judge
    ) -> Outcome:
        last = judge.now
        failing = judge.ceiling - last.passed - judge.flaky
        fixes = [*self._fixes, *self._suggested.values()]
        tests = {**old.tests, **last.tests}
        return Outcome(
            now=self._now,
            then=str(planned.then),
            branch=self._tree.branch,
            base=self._tree.base,
            tree=str(self._tree.folder),
            commands=tuple(each.shown for each in self._suites),
            counted=Counted(
                len(tests),
                len(judge.ceiling),
                len(before.passed & judge.ceiling),
                len(last.passed),
                len(last.passed & judge.ceiling),
            ),
            lost=tuple(sorted(before.passed - last.passed - judge.flaky)),
            steps=tuple(self._steps),
            fixes=tuple(sorted(fixes, key=lambda each: (each.path, each.line, each.code))),
            failing=tuple(failing_tests(failing, last.tests, planned.then, self._tree.folder)),
            left=tuple(self._left(each) for each in code.scan().findings),
            pins=tuple(self._pins),
            pins_left=tuple(self._pins_left),
            flaky=tuple(sorted(judge.flaky)),
            notes=tuple(self._notes),
            runs=self._runner.count,
            seconds=round(self._runner.spent, 1),
            logs=(
                ("on Keras 2", old.log),
                ("on Keras 3, before", before.log),
                ("at the end", last.log),
            ),
            stopped=self._stopped,
        )

    def _left(self, finding: Finding) -> LeftFinding:
        advice = finding.help or (finding.fix.title if finding.fix else "")
        return LeftFinding(
            self._from_top(finding.place.path),
            finding.place.line,
            finding.code,
            finding.message,
            advice or (finding.no_fix_because or ""),
        )

    def _from_top(self, path: str) -> str:
        return from_top(path, self._tree.folder)

    def _inside(self, tracked: Iterable[str]) -> frozenset[str]:
        """Return files of the tree from the working folder."""
        within = self._settings.within or "."
        return frozenset(os.path.relpath(each, within) for each in tracked)
