"""A fix counts as run where each statement that it changed was."""

from __future__ import annotations

import pytest

from kdoctor.engine import FixedFile
from kdoctor.migrate.fixes import changed_lines
from kdoctor.model import Confidence, Finding, Place, Severity, Span

BEFORE = """import k


def f(x):
    a = k.old(x)
    return g(
        a,
        gone=1,
        kept=2,
    )
"""


def lines(after, first, last=None, path="a.py"):
    place = Place(path, 0, Span(0, 1), None, first, 1, last or first, 2)
    finding = Finding("KD1", "n", place, "m", Severity.ERROR, Confidence.CERTAIN, "s")
    file = FixedFile(path, BEFORE.encode(), after.encode(), "", (finding,))
    return [sorted(each) for each in changed_lines(file, finding)]


@pytest.mark.parametrize(
    ("old", "new", "first", "statements"),
    [
        ("k.old(x)", "k.new(x)", 5, [[5]]),
        ("import k\n", "import k\nimport m\n", 5, [[6]]),
        ("        gone=1,\n", "", 8, [[6, 7, 8, 9]]),
        ("    a = k.old(x)\n", "    b = x\n    a = k.new(b)\n", 5, [[5], [6]]),
        ("    a = k.old(x)\n", "", 5, [[4], [5, 6, 7, 8, 9]]),
    ],
    ids=["one line", "moved", "a line of a statement", "two for one", "a whole statement"],
)
def test_the_statements_of_a_change_are_told(old, new, first, statements):
    assert lines(BEFORE.replace(old, new), first) == statements


def test_of_what_is_no_module_nothing_is_told():
    assert lines(BEFORE.replace("old", "new"), 5, path="a.ipynb") == []
    assert lines("def f(:\n", 5) == []
