"""What the benchmark of real packages keeps of its runs: a file a package, and the table."""

import io
import json

import msgspec
import pytest
from rich.console import Console

from benchmarks.migration import catalogue, figures, results, table
from benchmarks.migration.attribution import Attribution, Told
from benchmarks.migration.model import Arm, Failure, Found, Half, Record, Repair, Result, Suite
from benchmarks.migration.recovery import outcome
from benchmarks.migration.summary import Row

GONE = Failure("AttributeError", "<A at 0x7f00aa11> has no attribute 'b'", raised_at="p/core.py:1")
TOLD = {
    "c": Attribution(Told.LINE, ("KD101",), "p/core.py:1"),
    "d": Attribution(Told.NOT, (), "p/core.py:9"),
}
FINDING = Found("p/core.py", 1, 1, "KD101", "gone", "error", "keras.backend.b")


def suite(passed):
    ids = dict.fromkeys("abcd", Result("failed", failure=GONE))
    return Suite({**ids, **dict.fromkeys(passed, Result("passed"))}, {}, 1.0)


def repair(changed, broken=()):
    return Repair(2.5, changed, broken, (FINDING, FINDING), (FINDING,))


@pytest.fixture
def row():
    arms = {
        Arm.KERAS_2: (suite("abcd"), None),
        Arm.BEFORE: (suite("a"), None),
        Arm.SAFE: (suite("ab"), repair(("p/core.py",))),
        Arm.UNSAFE: (suite("b"), repair(("p/core.py", "p/more.py"), ("p/more.py",))),
    }
    records = {arm: Record("p", "p==1", arm, "", *both) for arm, both in arms.items()}
    return Row(outcome(records), records, dict.fromkeys((Arm.SAFE, Arm.UNSAFE), TOLD))


@pytest.fixture
def readme(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("Before.\n<!-- results -->\nof yesterday\n<!-- end -->\nAfter.\n")
    return path


def test_the_table_in_the_readme_is_written_anew(row, readme, tmp_path):
    results.record([row], ["p"], tmp_path / "results", readme)

    text = readme.read_text()
    assert text.startswith("Before.\n<!-- results -->\n|  | packages |")
    assert text.endswith("<!-- end -->\nAfter.\n")
    assert "| p | 4 | 1 | 2 | 1 | 33 % | 33 % | 2 | 2 | 2.5 |" in text
    assert "of yesterday" not in text
    results.record([row], ["p"], tmp_path / "results", readme)
    assert readme.read_text() == text


def test_the_sentences_below_the_table_say_what_is_lost_broken_and_told(row):
    safe, unsafe, told = results.sentences([figures.of(row)])

    assert "1 of the 3 tests of the gap pass, 33 % in the mean" in safe
    assert "0 tests that passed before fail; 0 files no longer compile" in safe
    assert "1 tests that passed before fail; 1 files no longer compile" in unsafe
    assert "Of the 2 first errors left" in told
    assert "the line of 1 and named what the error names in 0 more, and of 0 more it was" in told
    assert "(50 % together)" in told


def test_each_first_error_is_kept_once_with_who_told_of_it(row, readme, tmp_path):
    results.record([row], ["p"], tmp_path / "results", readme)

    kept = json.loads((tmp_path / "results" / "p.json").read_text())
    assert (kept["gap"], kept["safe"]["recovery"], kept["unsafe"]["lost"]) == (3, 0.333, 1)
    assert kept["unsafe"]["lost_tests"] == ["a"]
    assert kept["unsafe"]["errors"] == [
        {
            "error": "AttributeError: <A at 0x…> has no attribute 'b'",
            "kind": "AttributeError: <A> has no attribute 'b'",
            "at": "p/core.py:1",
            "raised_in": "p/core.py:1",
            "told": "at the line",
            "codes": ["KD101"],
            "tests": ["c"],
        },
        {
            "error": "AttributeError: <A at 0x…> has no attribute 'b'",
            "kind": "AttributeError: <A> has no attribute 'b'",
            "at": "p/core.py:9",
            "raised_in": "p/core.py:1",
            "told": "not",
            "codes": [],
            "tests": ["d"],
        },
    ]


def test_of_an_unseen_package_only_counts_are_kept_and_printed(row, readme, tmp_path):
    unseen = msgspec.structs.replace(row, half=Half.UNSEEN, author="someone")
    written = io.StringIO()

    results.record([unseen], ["p"], tmp_path / "results", readme)
    table.write([unseen], Console(file=written, width=200))

    kept = (tmp_path / "results" / "p.json").read_text()
    told = json.loads(kept)["unsafe"]
    assert (told["lost"], told["broken"], told["told"]) == (1, 1, {"at the line": 1, "not": 1})
    for text in (kept, readme.read_text(), written.getvalue()):
        for detail in ("core.py", "more.py", "AttributeError", "KD101", "no attribute"):
            assert detail not in text


def test_the_difference_of_the_halves_is_told_in_points(row):
    work = figures.of(row)
    unseen = msgspec.structs.replace(work, half=Half.UNSEEN)
    better = msgspec.structs.replace(work, safe=msgspec.structs.replace(work.safe, recovery=0.9))

    first, second, third = table.halves([better, unseen])

    assert [first[0], second[0], third[0]] == [
        "half to work on",
        "unseen half",
        "between the halves",
    ]
    assert (first[5], second[5], third[5]) == ("90 %", "33 %", "57 points")
    assert first[7] == "50 %"


def test_the_figures_of_a_half_that_was_not_run_stay_in_the_table(row, readme, tmp_path):
    unseen = msgspec.structs.replace(
        row, half=Half.UNSEEN, outcome=msgspec.structs.replace(row.outcome, package="q")
    )
    results.record([unseen], ["p", "q"], tmp_path / "results", readme)

    results.record([row], ["p", "q"], tmp_path / "results", readme)

    assert "| q | 4 | 1 |" in readme.read_text()
    assert "| p | 4 | 1 |" in readme.read_text()


def test_the_recorded_files_can_be_read_again():
    names = [package.name for package in catalogue.read().package]

    assert results.read(names)
    assert {path.stem for path in results.FOLDER.glob("*.json")} <= {*names}


def test_a_share_of_nothing_is_a_dash():
    assert table.percent(None) == "-"
    assert table.percent(0.555) == "56 %"


def test_the_readme_has_a_place_for_the_table():
    assert results.TABLE.search(results.README.read_text("utf-8"))
