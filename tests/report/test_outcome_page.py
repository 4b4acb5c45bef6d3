"""The page on a migration that was carried out says what its outcome holds."""

from __future__ import annotations

from kdoctor.migrate.outcome import (
    Counted,
    FailingTest,
    FixOutcome,
    LeftFinding,
    Outcome,
    StepOutcome,
    Verdict,
)
from kdoctor.report.migrated import way
from kdoctor.report.migration.outcome_page import outcome_page
from tests.cli.html_pages import Parsed, assert_readable

EVIL = "<script>`a"


def outcome(**changes):
    given = {
        "now": "keras 2.2.4",
        "then": "keras 3.15.1",
        "branch": "kdoctor-migrate",
        "base": "f53e352fb0123456789",
        "tree": ".kdoctor/migrate",
        "commands": ("pytest",),
        "counted": Counted(tests=9, keras_2=8, before=2, after=7, of_keras_2=6),
        "lost": (),
        "steps": (),
        "fixes": (),
        "failing": (),
        "left": (),
        "pins": (),
        "pins_left": (),
        "flaky": (),
        "notes": (),
        "runs": 4,
        "seconds": 90.0,
        "logs": (("at the end", "runs/last.log"),),
    }
    return Outcome(**given | changes)


def page_of(**changes):
    page = Parsed.of(outcome_page(outcome(**changes)))
    assert_readable(page.elements)
    return page


def test_each_part_of_an_outcome_is_on_the_page():
    proven, tests = Verdict.PROVEN, Verdict.TESTS
    text = page_of(
        lost=("test_a::lost",),
        steps=(StepOutcome("Write `a`", "371ec4d8212345", 2, ("a.py",), ("test_a::b",), 6, "log"),),
        fixes=(
            FixOutcome("a.py", 1, "KD101", "name", "Write `x`", proven),
            FixOutcome("b.py", 2, "KD102", "name", "Write `y`", tests, ("test_b::c",), 3),
            FixOutcome("c.py", 3, "KD103", "name", "z", Verdict.LOSES, ("test_d::e",), 1),
            FixOutcome("d.py", 4, "KD104", "name", "w", Verdict.NOT_RUN),
        ),
        failing=tuple(
            FailingTest(f"test_f::{each}", "TypeError: no", "a.py:7", "means `m`", "do `r`")
            for each in "gh"
        ),
        left=(LeftFinding("e.py", 5, "KD105", "is gone", "write it"),),
        pins_left=("setup.py:1: keras<3",),
        flaky=("test_i::j",),
        notes=("something `odd`",),
        stopped="the budget is spent",
    ).text
    for told in (
        "Tests that pass on Keras 2 8 of 9",
        "371ec4d82 Write a 1 file a.py 1 test more passed test_a::b",
        "Proven safe: 1 Which a.py:1 KD101 Write x",
        "Kept by your tests: 1 b.py:2 KD102 Write y run by test_b::c; 2 more",
        "c.py:3 KD103 z loses test_d::e",
        "Not run by any test, so not written: 1 d.py:4 KD104 w",
        "Tests that are lost test_a::lost",
        "a.py:7 TypeError: no means m do r 2 tests test_f::g test_f::h",
        "e.py : 1 finding 5 KD105 is gone write it",
        "setup.py:1: keras<3",
        "test_i::j",
        "Note: something odd .",
        "Stopped early: the budget is spent",
        "git merge kdoctor-migrate",
        "4 runs of the tests took 1.5 minutes.",
        "runs/last.log",
    ):
        assert told in text


def test_what_is_long_is_folded():
    left = tuple(LeftFinding(f"{each:02}.py", 1, "KD105", "gone", "") for each in range(20))
    page = page_of(left=left, lost=tuple(f"t{each}" for each in range(20)))
    assert "8 files more" in page.text
    assert "8 more t12" in page.text
    assert "19.py" in page.text


def test_a_migration_that_wrote_nothing_says_so():
    page = page_of()
    assert "Nothing was written: no step had anything to do" in page.text
    assert "git merge" not in page.text


def test_names_from_outside_are_text():
    failing = FailingTest(EVIL, EVIL, EVIL, EVIL, EVIL)
    left = LeftFinding(EVIL, 1, "KD105", EVIL, EVIL)
    page = page_of(lost=(EVIL,), failing=(failing,), left=(left,), notes=(EVIL,), commands=(EVIL,))
    assert "script" not in {tag for tag, _ in page.elements}


def test_a_project_that_names_no_release_does_not_come_from_where_it_goes():
    assert way(outcome()) == "from keras 2.2.4 to keras 3.15.1"
    assert way(outcome(now="keras 3.15.1")) == way(outcome(now="")) == "to keras 3.15.1"
