"""Why tests do not begin, and what lets them."""

from __future__ import annotations

import pytest

from kdoctor.migrate.suites import OLD, Side, cure_of

SIDE = Side(OLD, "/env/bin/python", with_tf_keras=True)


@pytest.mark.parametrize(
    ("problem", "cure"),
    [
        ("pytest: error: unrecognized arguments: -n", '--test "pytest -o addopts="'),
        ("E   ModuleNotFoundError: No module named 'gym'", "`/env/bin/python -m pip install"),
    ],
)
def test_what_keeps_tests_from_beginning_is_told_with_its_cure(problem, cure):
    assert cure in cure_of(problem, SIDE)


def test_nothing_is_told_of_tests_that_fail():
    assert cure_of("AssertionError: 1 != 2", SIDE) == ""
