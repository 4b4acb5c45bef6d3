"""The tests' judgement of changes: what is gained, what is lost, and by which change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.engine import Options, ScanResult
from kdoctor.migrate.bisect import keep, needed
from kdoctor.migrate.evidence import from_top, tests_that_run
from kdoctor.migrate.fixes import USUAL, Applied, Code
from kdoctor.migrate.outcome import FixOutcome, Verdict
from kdoctor.migrate.seen_errors import errors_seen
from kdoctor.migrate.suite_runs import Runner, TestRun
from kdoctor.migrate.suites import Side
from kdoctor.migrate.worktree import Worktree
from kdoctor.model import Applicability, Finding
from kdoctor.value_types import Observation

_MAX_TESTS = 3  # named for a fix


class Judged(Struct, frozen=True):
    """Fixes that were kept and are in the tree, the run that says so, and all verdicts.

    ``tried`` is the run with all fixes that lose no test, be they kept or not, and ``errors`` what
    calls were seen to raise in it.
    """

    applied: Applied
    run: TestRun
    tried: TestRun
    verdicts: tuple[tuple[Finding, FixOutcome], ...]
    errors: tuple[tuple[Observation, str], ...] = ()


class Judge:
    """Compares test by test with the last state that was kept (``now``).

    ``ceiling`` are the tests that pass on Keras 2. ``flaky`` are those whose outcome changes
    between two runs of the same files: nothing is concluded from them.
    """

    def __init__(
        self, tree: Worktree, runner: Runner, side: Side, code: Code, now: TestRun
    ) -> None:
        self._tree = tree
        self._runner = runner
        self._side = side
        self._code = code
        self.now = now
        self.ceiling: frozenset[str] = frozenset()
        self.flaky = set[str]()

    def gained(self, run: TestRun) -> list[str]:
        """Return the tests that pass and did not."""
        return sorted(run.passed - self.now.passed - self.flaky)

    def lost(self, run: TestRun) -> list[str]:
        """Return the tests that passed and no longer do, also in a second run."""
        lost = self.now.passed - run.passed - self.flaky
        if lost:
            again = self._runner.run(self._side, attempt=2).passed
            self.flaky |= lost & again
            lost -= again
        return sorted(lost)

    def run(self, follow: Iterable[str] = ()) -> TestRun:
        """Run the tests on the files as they are."""
        return self._runner.run(self._side, follow=follow)

    def without_losses(self, findings: Sequence[Finding], how: Options = USUAL) -> Judged:
        """Apply the fixes that lose no test; the others are told."""

        def lost_with(some: Sequence[Finding]) -> list[str]:
            self._apply(some, how)
            return self.lost(self.run(self._files(findings)))

        parted = keep(sorted(findings, key=lambda each: (each.place.path, each.code)), lost_with)
        applied = self._apply(parted.kept, how)
        run = self.run(self._files(findings))
        losing = tuple(
            (each, self.told(each, Verdict.LOSES, lost)) for each, lost in parted.dropped
        )
        return Judged(applied, run, run, losing)

    def judged(self, findings: Sequence[Finding], how: Options = USUAL) -> Judged:
        """Apply the fixes that lose no test, and that a test speaks for or a proof."""
        first = self.without_losses(findings, how)
        errors = self.errors_in(first.run)  # while the files are as they were
        spoken = self._evidence(first.applied, first.run)
        kept = [each for each in first.applied.findings if _is_safe(each) or spoken[each]]
        rest = [each for each in first.applied.findings if not (_is_safe(each) or spoken[each])]
        applied, run = first.applied, first.run
        makes_pass = dict[Finding, list[str]]()
        if rest:
            follow = self._files(findings)
            self._apply(kept, how)
            run = self.run(follow)
            # What no test seems to run may be what others need: each file's goes back on trial,
            # and where only fixes of several files make a test pass, all that are left.
            groups = [list(each) for _, each in groupby(rest, key=lambda each: each.place.path)]
            for group in [*groups, *([rest] if len(groups) > 1 else [])]:
                if first.run.passed - self.flaky <= run.passed:
                    break
                untried = [each for each in group if each not in makes_pass]
                added, more, newly = self._making_pass(untried, kept, run, follow, how)
                if newly:
                    kept += added
                    makes_pass |= dict.fromkeys(added, newly)
                    run = more
            applied = self._apply(kept, how)
            run = self.run(follow)
            if self.lost(run):
                again = self.without_losses(kept, how)
                first = replace(first, verdicts=(*first.verdicts, *again.verdicts))
                applied, run = again.applied, again.run
        written = set(applied.findings)
        losing = {each for each, _ in first.verdicts}
        left = [each for each in first.applied.findings if each not in written | losing]
        verdicts = (
            *first.verdicts,
            *(
                (each, self._for(each, spoken.get(each, []), makes_pass.get(each, [])))
                for each in applied.findings
            ),
            *((each, self.told(each, Verdict.NOT_RUN)) for each in left),
        )
        return Judged(applied, run, first.tried, verdicts, errors)

    def errors_in(self, run: TestRun) -> tuple[tuple[Observation, str], ...]:
        """Return what calls were seen to raise in tests that are to pass; the files are as then."""
        failing = self.ceiling - run.passed - self.flaky
        return tuple(errors_seen(failing, run.tests, self._tree.folder))

    def told(self, finding: Finding, verdict: Verdict, tests: Sequence[str] = ()) -> FixOutcome:
        """Return a verdict on a fix."""
        return FixOutcome(
            path=from_top(finding.place.path, self._tree.folder),
            line=finding.place.line,
            code=finding.code,
            name=finding.name,
            title=finding.fix.title if finding.fix else "",
            verdict=verdict,
            tests=tuple(tests[:_MAX_TESTS]),
            of=len(tests),
        )

    def _making_pass(
        self,
        group: list[Finding],
        kept: Sequence[Finding],
        before: TestRun,
        follow: Iterable[str],
        how: Options,
    ) -> tuple[list[Finding], TestRun, list[str]]:
        """Return those of some fixes that more tests pass with, the run, and these tests."""

        def with_these(some: Sequence[Finding]) -> TestRun:
            self._apply([*kept, *some], how)
            return self.run(follow)

        newly = sorted(with_these(group).passed - before.passed - self.flaky)
        if not newly:
            return [], before, []
        some = needed(group, lambda part: with_these(part).passed >= set(newly))
        return some, with_these(some), newly

    def _for(self, finding: Finding, tests: Sequence[str], makes_pass: Sequence[str]) -> FixOutcome:
        if _is_safe(finding):
            return self.told(finding, Verdict.PROVEN)
        told = self.told(finding, Verdict.TESTS, tests or makes_pass)
        return replace(told, makes_pass=not tests)

    def _evidence(self, applied: Applied, run: TestRun) -> dict[Finding, list[str]]:
        passed = (self.ceiling | self.now.passed) - self.flaky
        return tests_that_run(applied, run, passed, self._tree.folder)

    def _apply(self, findings: Iterable[Finding], how: Options) -> Applied:
        self._tree.undo_changes()
        return self._code.apply(findings, how)

    def _files(self, findings: Iterable[Finding]) -> set[str]:
        return {from_top(each.place.path, self._tree.folder) for each in findings}


def candidates(
    code: Code,
    scan: ScanResult,
    is_refused: Callable[[Finding], bool],
    at: Collection[tuple[str, int]] | None,
    top_path: Callable[[str], str],
) -> list[Finding]:
    """Return the fixes that may be tried: with ``at``, those on these lines only."""
    fixes = code.fixable(scan, {Applicability.SAFE, Applicability.UNSAFE})
    return [
        each
        for each in fixes
        if not is_refused(each) and (at is None or _is_at(each, at, top_path(each.place.path)))
    ]


def _is_at(finding: Finding, lines: Collection[tuple[str, int]], path: str) -> bool:
    span = range(finding.place.line, finding.place.end_line + 1)
    return any((path, line) in lines for line in span)


def _is_safe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE
