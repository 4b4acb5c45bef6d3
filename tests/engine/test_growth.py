"""Whatever a program has much of: the work of a scan and of a fix grows no faster than n·log n.

Work is counted in calls, not in seconds. What is cheap grows to 200 here, the rest to 32, in scans;
``make growth`` grows each construct to 200, in scans and in fixes: that takes some minutes.
"""

from __future__ import annotations

import cProfile
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import kdoctor

from .constructs import NAMES, TREES, grown

LARGEST = int(os.environ.get("KDOCTOR_GROWTH", "0"))
FEW, MANY = 32, 200
BOUNDED = {"models of each other"}  # up to some 30 of them, which no few tell
# What grew faster once, and not to be seen in few: grown to all in each run.
LARGE = {
    *("conditions of a shape", "elifs", "fences", "generators", "reads of a shape"),
    "results in a list",
}
CHEAP = 30_000  # calls for a quarter of the few
# What the second doubling adds, by what the first one does: n·log n has 2.4 at most, n² has 4.
MOST = 2.7
TWICE = 2.2
"""The most that twice the size takes by itself: that of n·log n at 200."""
MOST_BY_DEPTH = 4.4
"""Of what stands in each other: each level has a finding, whose text has all levels within it. No
more than 500 levels are looked into."""
DEEP = {"calls in each other", "a chain of calls"}
NOISE = 9000  # calls: what is looked up for the first time, or is there for some sizes only


def scanned() -> kdoctor.ScanResult:
    return kdoctor.scan(["."], jobs=1, target="keras==3.15.1")


def fixed() -> kdoctor.ScanResult:
    return kdoctor.fix(["."], jobs=1, target="keras==3.15.1", unsafe=True).found


def work_of(files: dict[str, str], run: Callable[[], kdoctor.ScanResult]) -> int:
    for each in Path().iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    profile = cProfile.Profile()
    profile.enable()
    result = run()
    profile.disable()
    assert not result.unreadable
    return sum(each.callcount for each in profile.getstats())


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "code").mkdir()
    monkeypatch.chdir(tmp_path / "code")


RUNS = [scanned, fixed] if LARGEST else [scanned]


def largest(name: str, run: Callable[[], kdoctor.ScanResult]) -> int:
    """Return how large a construct becomes."""
    if LARGEST:
        return 2 * LARGEST if name in TREES else LARGEST
    if name in BOUNDED | LARGE:
        return MANY
    return MANY if work_of(grown(name, FEW // 4), run) <= CHEAP else FEW


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", NAMES)
def test_work_grows_as_the_program_does(name, run):
    work_of(grown(name, 3), run)  # what is looked up once is not counted
    size = largest(name, run)
    least, less, most = (work_of(grown(name, size // part), run) for part in (4, 2, 1))
    bound = MOST_BY_DEPTH if name in DEEP else MOST
    if most - less > bound * (less - least) + NOISE:
        # What is bounded grows faster up to its bound, and then hardly: that may lie in between.
        nothing = work_of(grown(name, 1), run)
        assert most - nothing <= TWICE * (less - nothing), (least, less, most)
