"""``match`` cases as tests: ``case "theano":`` compares with the subject."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import libcst as cst

Test = cst.BaseExpression


class Cases:
    """The tests of a module's cases, each created once."""

    def __init__(self) -> None:
        self._tests: dict[cst.MatchCase, Test | None] = {}

    def tests(self, parent: cst.CSTNode, child: cst.CSTNode) -> Iterator[tuple[Test, bool]]:
        """Yield the tests on which ``child`` of ``parent`` depends, and how each must turn out.

        Those of earlier cases must fail: not of one that another condition may make fail.
        """
        if isinstance(parent, cst.MatchCase):
            if parent.guard is not None and child is parent.body:
                yield parent.guard, True
            return
        if not isinstance(parent, cst.Match) or not isinstance(child, cst.MatchCase):
            return
        for case in parent.cases:
            test = self._test(parent, case)
            if case is child:
                if test is not None:
                    yield test, True
                return
            if test is not None and case.guard is None:
                yield test, False

    def _test(self, match: cst.Match, case: cst.MatchCase) -> Test | None:
        if case not in self._tests:
            self._tests[case] = _test(match.subject, case.pattern)
        return self._tests[case]


def _test(subject: Test, pattern: cst.MatchPattern) -> Test | None:
    """Return what a pattern asks of the subject, None where that is no comparison."""
    match pattern:
        case cst.MatchValue(value=value):
            return _compared(subject, cst.Equal(), value)
        case cst.MatchSingleton(value=value):
            return _compared(subject, cst.Is(), value)
        case cst.MatchAs(pattern=cst.MatchPattern() as inner):
            return _test(subject, inner)
        case cst.MatchOr(patterns=patterns):
            tests = [_test(subject, each.pattern) for each in patterns]
            known = [each for each in tests if each is not None]
            return reduce(_either, known) if len(known) == len(tests) else None
    return None


def _compared(subject: Test, how: cst.BaseCompOp, value: Test) -> Test:
    return cst.Comparison(subject, [cst.ComparisonTarget(how, value)])


def _either(one: Test, other: Test) -> Test:
    return cst.BooleanOperation(one, cst.Or(), other)
