"""First errors of tests, told shortly and once."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchmarks.migration.attribution import Attribution
from benchmarks.migration.model import Failure

# Where an object lies in memory, and where a copy lies on this machine.
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
FOLDERS = re.compile(r"/[^\s'\"]*/arms/[^/\s]+/[^/\s]+/")
LONGEST = 300


def grouped(
    left: Mapping[str, tuple[Failure, Attribution]],
) -> list[tuple[tuple[Failure, Attribution], list[str]]]:
    """Return each first error once, with the tests that end with it, the commonest first."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for test, (failure, told) in sorted(left.items()):
        key = (failure.type, cleaned(failure.message), told.place)
        groups.setdefault(key, []).append(test)
    most_first = sorted(groups.values(), key=lambda tests: (-len(tests), tests))
    return [(left[tests[0]], tests) for tests in most_first]


def cleaned(message: str) -> str:
    """Return a message without what differs from run to run, in one line."""
    shortened = FOLDERS.sub("", ADDRESS.sub("0x…", message))
    return " ".join(shortened.split())[:LONGEST]
