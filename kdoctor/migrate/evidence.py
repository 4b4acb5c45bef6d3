"""What tests say of a fix: which of them ran the lines that it changed, and passed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from kdoctor.engine import FixedFile
from kdoctor.migrate.fixes import Applied, changed_lines, top_level_lines
from kdoctor.migrate.suite_runs import Ran, TestRun
from kdoctor.model import Finding


def tests_that_run(
    applied: Applied, run: TestRun, passed: Collection[str], top: Path
) -> dict[Finding, list[str]]:
    """Return, by fix, the tests that passed before and after and ran every statement it changed.

    ``passed`` are those that passed before. Statements that run as a module is imported are run by
    no test: for these counts which tests ran another line of the same module.
    """
    good = frozenset(passed) & run.passed
    files = {each.path: each for each in applied.files}
    return {
        finding: _tests(finding, files[finding.place.path], run.ran, good, top)
        for finding in applied.findings
    }


def _tests(
    finding: Finding, file: FixedFile, ran: Ran, good: Collection[str], top: Path
) -> list[str]:
    by_test = ran.get(from_top(file.path, top), {})
    statements = changed_lines(file, finding)
    if not statements:
        return []
    at_import = top_level_lines(file.after)
    found: set[str] | None = None
    for lines in statements:
        here = _tests_of(lines, by_test, at_import) & frozenset(good)
        found = set(here) if found is None else found & here
    return sorted(found or ())


def _tests_of(
    lines: Collection[int], by_test: Mapping[str, Iterable[int]], at_import: Collection[int]
) -> frozenset[str]:
    own = {test for test, numbers in by_test.items() if test and not set(numbers).isdisjoint(lines)}
    # What a program runs is its own, also at the top of a module.
    imported = set(lines) <= set(at_import) and not set(by_test.get("", ())).isdisjoint(lines)
    if imported:
        own |= {test for test, numbers in by_test.items() if test and set(numbers) - set(at_import)}
    return frozenset(own)


def from_top(path: str, top: Path) -> str:
    """Return a path from the top of the working tree."""
    return Path(os.path.relpath(os.path.realpath(path), os.path.realpath(top))).as_posix()
