"""The trees and the table of benchmarks/speed. Nothing here takes the time of anything."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from random import Random

import pytest

from benchmarks.speed import material, record, table, trees
from benchmarks.speed.measure import Run
from benchmarks.speed.profile import STAGES

ROOT = Path(__file__).parents[2]


def runs(*walls):
    return [Run(wall, wall, 1_000_000, 2_000_000) for wall in walls]


def case(lines=1000, **by_tool):
    return record.Case("", "", by_tool, dict.fromkeys(by_tool, lines))


@pytest.mark.parametrize("name", ["any", "keras", "tf", "keras2"])
def test_parsing_every_chunk_raises_nothing(name):
    for template in material.templates(name):
        ast.parse(material.filled(template, Random(1)))  # noqa: S311


@pytest.fixture
def small(monkeypatch):
    """Shards of a few files, without reading the standard library."""
    chunk = material.Chunk("def first(number):\n    total = number\n    return total\n", ("total",))
    library = (material.Module("import os\n", (chunk,)),)
    monkeypatch.setattr(trees, "SHARD_LINES", 25_000)
    monkeypatch.setattr(trees, "standard_library", lambda: library)


@pytest.mark.usefixtures("small")
def test_a_tree_is_the_same_each_time_and_half_of_it_mentions_keras(tmp_path):
    first, again = (trees.make(tmp_path / name, 2) for name in ("first", "again"))
    assert first == again
    files = first.up_to(2)
    for file in files:
        text = (tmp_path / "first" / file.path).read_text()
        assert text == (tmp_path / "again" / file.path).read_text()
        assert ("keras" in text) == (file.kind is not trees.Kind.PLAIN)
        ast.parse(text)
    assert 0.4 < trees.make_up(files)["mention keras"] < 0.6


@pytest.mark.usefixtures("small")
def test_what_is_made_already_is_kept(tmp_path):
    made = trees.make(tmp_path / "tree", 1)
    mark = tmp_path / "tree" / "00" / "kept"
    mark.touch()
    assert trees.make(tmp_path / "tree", 2).files[0] == made.files[0]
    assert mark.exists()


def test_ratios_are_of_medians_and_held_against_the_goal():
    found = {"cold": case(kdoctor=runs(9, 3, 4), ruff=runs(1, 1, 5))}
    (line,) = table.lines_of(found)
    assert (line.ours, line.theirs, line.ratio) == ("4.00 s", "1.00 s", "4.00")
    assert line.met
    (line,) = table.lines_of({"cold": case(kdoctor=runs(4.1), ruff=runs(1))})
    assert line.ours == "4.10 s (1 run)"
    assert not line.met


def test_memory_must_be_small_and_stay_the_same():
    peaks = {250_000: 90, 1_000_000: 100, 4_000_000: 150}
    by_tool = {str(lines): [Run(lines / 1e6, 1, 1, peak * 10**6)] for lines, peak in peaks.items()}
    lines = {told: int(told) for told in by_tool}
    growth, first, second = table.lines_of({"growth": record.Case("", "", by_tool, lines)})
    assert (growth.ratio, growth.met) == ("exponent 1.000", True)
    assert first.met
    assert (second.ratio, second.met) == ("1.50", False)


def test_the_exponent_of_a_square_is_two():
    assert table.exponent({1: 1.0, 2: 4.0, 8: 64.0}) == pytest.approx(2)


def test_another_kdoctor_is_measured_anew(tmp_path):
    kept = record.Case("one", "today", {"kdoctor": runs(1)}, {"kdoctor": 1})
    record.Store(tmp_path, "one").keep("cold", kept)
    assert record.Store(tmp_path, "one").known("cold") == kept
    assert record.Store(tmp_path, "two").known("cold") is None


def test_the_page_goes_between_its_marks(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- results -->\nold\n<!-- end -->\nafter\n")
    record.put("results", "new\n", readme)
    assert readme.read_text() == "before\n<!-- results -->\nnew\n<!-- end -->\nafter\n"


def test_the_stages_of_the_profile_are_files_that_there_are():
    """A room that is renamed must not fall out of the profile without a word."""
    paths = [str(path.relative_to(ROOT)) for path in (ROOT / "kdoctor").rglob("*.py")]
    for stage, pattern in STAGES.items():
        assert any(re.search(pattern, path) for path in paths), stage
