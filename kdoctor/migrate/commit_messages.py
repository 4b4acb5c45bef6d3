"""What the commit of a step says: which tests pass, and what speaks for each fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from kdoctor.migrate.outcome import FixOutcome


def tests_passed(gained: Sequence[str], passed: int, ceiling: int) -> str:
    """Return how many more tests pass, and how many pass."""
    if not gained:
        more = "No test more passes"
    else:
        more = f"{len(gained)} {'test' if len(gained) == 1 else 'tests'} more pass"
        more = more.replace("test more pass", "test more passes")
    return f"{more}, none is lost: {passed} of the {ceiling} that pass on Keras 2."


def by_rule(told: Iterable[FixOutcome]) -> list[str]:
    """Return the fixes of each rule, counted by file."""
    found = Counter(f"{each.code} {each.name} ({each.path})" for each in told)
    return [f"{number} {rule}" for rule, number in sorted(found.items())]


def evidence(told: Iterable[FixOutcome]) -> list[str]:
    """Return a line on each fix: what it writes, and what speaks for it."""
    lines = []
    for each in told:
        how = "makes {} pass" if each.makes_pass else "run by {}"
        why = how.format(each.tests[0]) if each.tests else "proven safe"
        if each.seen:
            why = f"seen at run time: {', '.join(each.seen)}; {why}"
        more = f"; {each.of - 1} more" if each.of > 1 else ""
        lines.append(f"{each.code} {each.path}:{each.line}: {each.title} ({why}{more})")
    return lines


def paths_of(told: Iterable[FixOutcome]) -> set[str]:
    """Return the files of fixes."""
    return {each.path for each in told}
