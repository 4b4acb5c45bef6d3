"""``pytest -p kdoctor``: a section under a test that failed."""

from __future__ import annotations

import re

from .conftest import MEANING

TESTS = (
    "from keras import backend as K\n\n"
    "def test_fine():\n    print('said')\n\n"
    "def test_sum():\n    K.sum([1])\n\n"
    "def test_other():\n    assert 1 == 2\n"
)
QUIET = ("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist")


def without_times(text):
    # As many "=" fill up the line, at both ends, as the time leaves room for.
    return re.sub(r"=+ (.+) in \d+\.\d+s(?: \(\d+:\d\d:\d\d\))? =+", r"= \1 in 0s =", text)


def test_how_long_a_run_took_makes_no_difference_here():
    fast = "===== 2 failed, 1 passed in 1.23s ====="
    slow = "== 2 failed, 1 passed in 67.04s (0:01:07) =="
    assert without_times(fast) == without_times(slow) != without_times(fast.replace("2", "3"))


def test_a_failing_test_gets_a_section_and_all_else_stays(folder):
    folder.keras().write(test_it=TESTS)
    alone = folder.python(*QUIET, "test_it.py")
    watched = folder.python(*QUIET, "-p", "kdoctor", "test_it.py")
    assert (alone.returncode, watched.returncode) == (1, 1)
    section = re.search(r"-+ kdoctor -+\n.*?(?=\n_+ test_other)", watched.stdout, re.DOTALL)
    assert section is not None
    assert MEANING in section[0]
    assert watched.stdout.count(" kdoctor -") == 1
    without = watched.stdout.replace(section[0] + "\n", "")
    assert without_times(without) == without_times(alone.stdout)


def test_healthy_tests_are_reported_as_without_it(folder):
    folder.write(test_it="def test_fine():\n    print('said')\n")
    alone = folder.python(*QUIET, "-v", "test_it.py")
    watched = folder.python(*QUIET, "-v", "-p", "kdoctor", "test_it.py")
    assert without_times(watched.stdout) == without_times(alone.stdout)
    assert (watched.returncode, watched.stderr) == (alone.returncode, alone.stderr)


def test_a_test_file_that_cannot_be_imported_gets_one_too(folder):
    folder.keras().write(test_it="from keras.backend import sum\n")
    watched = folder.python(*QUIET, "-p", "kdoctor", "test_it.py")
    assert watched.returncode == 2
    assert MEANING in watched.stdout


def test_where_kdoctor_itself_fails_the_tests_go_on(folder):
    failing = "from kdoctor.watch import answering\n\nanswering.explain = None\n"
    folder.keras().write(test_it=TESTS, conftest=failing)
    watched = folder.python(*QUIET, "-p", "kdoctor", "test_it.py")
    assert "INTERNALERROR" not in watched.stdout
    assert "2 failed, 1 passed" in watched.stdout


def test_kdoctor_imports_nothing_for_tests_that_pass(folder):
    folder.write(
        test_it="def test_fine():\n    pass\n",
        conftest="import sys\n\ndef pytest_unconfigure():\n"
        "    print(sorted(name for name in sys.modules if name.startswith('kdoctor.')))\n",
    )
    watched = folder.python(*QUIET, "-s", "-p", "kdoctor", "test_it.py")
    assert "['kdoctor.watch', 'kdoctor.watch.tests']" in watched.stdout
