"""Why tests do not begin, and what lets them."""

from __future__ import annotations

import pytest

from kdoctor.errors import UsageProblem
from kdoctor.migrate.state import Settings
from kdoctor.migrate.suites import OLD, Side, Suite, cure_of, suites_of

SIDE = Side(OLD, "/env/bin/python", with_tf_keras=True)


@pytest.mark.parametrize(
    ("problem", "cure"),
    [
        ("pytest: error: unrecognized arguments: -n", '--test "pytest -o addopts="'),
        ("E   ModuleNotFoundError: No module named 'gym'", "`/env/bin/python -m pip install"),
        ("ImportError: cannot import name 'Net' from 'own.models'", '--run "python train.py"'),
    ],
)
def test_what_keeps_tests_from_beginning_is_told_with_its_cure(problem, cure):
    assert cure in cure_of(problem, SIDE, ())


def test_nothing_is_told_of_tests_that_fail():
    program = Suite("", ("python", "train.py"), is_program=True)
    assert cure_of("AssertionError: 1 != 2", SIDE, [program]) == ""


def test_files_that_unittest_finds_alone_are_told_with_the_command_for_them():
    settings = Settings((".",), "", "python")
    with pytest.raises(
        UsageProblem, match=r"""--test "pytest -o python_files='test\*\.py'\""""
    ) as told:
        suites_of(settings, ["a.py", "tests/testTotal.py"])
    assert "tests/testTotal.py" in str(told.value)
    with pytest.raises(UsageProblem, match="no tests were found"):
        suites_of(settings, ["test.py", "src/a.py"])
