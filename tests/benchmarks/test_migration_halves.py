"""The benchmark of real packages: which are looked into, which are not, and which are drawn."""

import collections
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.migration import catalogue, ranking, selection, sources, suites
from benchmarks.migration.arms import Runner
from benchmarks.migration.attribution import Attribution, Told
from benchmarks.migration.catalogue import Catalogue
from benchmarks.migration.model import Arm, Failure, Half, Package, Places, Suite
from benchmarks.migration.recovery import Outcome
from benchmarks.migration.selection import SAMPLE_SECONDS, SelectionProblem
from benchmarks.migration.summary import Row

SEEN, HIDDEN = Package("seen", repository="a/seen"), Package("hidden", half=Half.UNSEEN)
LISTED = Catalogue((SEEN, HIDDEN))


def test_a_hash_decides_the_half_of_each_author_that_kdoctor_was_not_built_with():
    listed = catalogue.read().package
    first = {each.owner for each in listed if each.half is Half.FIRST}

    assert len([each for each in listed if each.half is Half.FIRST]) == 17
    for each in listed:
        if each.half is not Half.FIRST:
            expected = Half.WORK if each.owner in first else Half.of(each.owner)
            assert each.half is expected, each.name


def test_all_packages_of_an_author_are_on_one_side():
    sides = collections.defaultdict(set)
    for each in catalogue.read().package:
        sides[each.owner.lower()].add(each.half is Half.UNSEEN)

    assert "" not in sides
    assert all(len(side) == 1 for side in sides.values())


def test_unseen_packages_are_run_only_where_that_is_asked_for():
    assert selection.chosen(LISTED, [], unseen=False) == [SEEN]
    assert selection.chosen(LISTED, [], unseen=True) == [SEEN, HIDDEN]
    assert selection.chosen(LISTED, ["hidden"], unseen=True) == [HIDDEN]
    with pytest.raises(SelectionProblem, match="hidden: unseen"):
        selection.chosen(LISTED, ["seen", "hidden"], unseen=False)
    with pytest.raises(SelectionProblem, match="no package 'other'"):
        selection.chosen(LISTED, ["other"], unseen=True)


def test_a_sample_is_drawn_by_its_seed_and_fits_its_time():
    packages = [Package(f"p{number}") for number in range(20)]

    def names(seed=0, size=8, seconds=lambda _: 60.0, jobs=1):
        return [each.name for each in selection.drawn(packages, size, seed, seconds, jobs)]

    assert len(names()) == 8
    assert names() == names()
    assert names() != names(seed=1)
    assert len(names(seconds=lambda _: SAMPLE_SECONDS / 3)) == 3
    assert len(names(seconds=lambda _: SAMPLE_SECONDS / 3, jobs=2)) == 6
    slow = names()[0]
    assert slow not in names(seconds=lambda each: 1e6 if each.name == slow else 60.0)


def test_what_an_unseen_package_did_lies_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.migration.environment.versions", lambda _: "")
    runner = Runner(LISTED, Places(tmp_path, tmp_path, None, 1))

    assert runner.folder(SEEN, Arm.SAFE) == tmp_path / "arms" / "seen" / "safe"
    assert runner.folder(HIDDEN, Arm.SAFE) == tmp_path / "unseen" / "arms" / "hidden" / "safe"


def test_sources_of_unseen_packages_lie_apart(tmp_path):
    places = Places(tmp_path, tmp_path, None, 1)
    for kept in (tmp_path / "sources" / "a+seen@", tmp_path / "unseen" / "sources" / "b+hidden@"):
        kept.mkdir(parents=True)

    assert sources.fetch(SEEN, places) == tmp_path / "sources" / "a+seen@"
    hidden = Package("hidden", half=Half.UNSEEN, repository="b/hidden")
    assert sources.fetch(hidden, places) == tmp_path / "unseen" / "sources" / "b+hidden@"


def test_an_author_whose_findings_were_read_is_not_unseen():
    assert Half.of("StellarGraph") is Half.WORK


def test_two_benchmarks_run_an_arm_once(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.migration.environment.versions", lambda _: "")
    (tmp_path / "sources" / "a+seen@").mkdir(parents=True)
    runs = []

    def slow(*_):
        runs.append(1)
        time.sleep(0.3)
        return Suite({}, {}, 1.0)

    monkeypatch.setattr("benchmarks.migration.suites.run", slow)
    runners = [Runner(LISTED, Places(tmp_path, tmp_path, None, 1)) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda each: each.record(SEEN, Arm.BEFORE), runners)

    assert (len(runs), first) == (1, second)


def test_a_run_that_was_stopped_among_the_tests_goes_on_there(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.migration.environment.versions", lambda _: "")
    source = tmp_path / "sources" / "a+seen@"
    source.mkdir(parents=True)
    ran = "import pathlib\ndef note(n):\n"
    ran += f"    with open({str(tmp_path / 'ran')!r}, 'a') as f: f.write(n)\n"
    ran += "def test_a(): note('a')\n"
    ran += "def test_b():\n    note('b')\n"
    ran += f"    while not pathlib.Path({str(tmp_path / 'go')!r}).exists(): pass\n"
    ran += "def test_c(): note('c')\n"
    (source / "test_it.py").write_text(ran)
    places = Places(tmp_path, Path(sys.executable), None, 300)
    stopping = threading.Event()
    monkeypatch.setattr(suites, "_stopping", stopping)

    def stop_in_b():
        while not (tmp_path / "ran").is_file() or "b" not in (tmp_path / "ran").read_text():
            time.sleep(0.1)
        stopping.set()

    threading.Thread(target=stop_in_b).start()
    with pytest.raises(suites.Stopped):
        Runner(LISTED, places).record(SEEN, Arm.BEFORE)
    assert Runner(LISTED, places).kept(SEEN, Arm.BEFORE) is None
    stopping.clear()
    (tmp_path / "go").touch()
    record = Runner(LISTED, places).record(SEEN, Arm.BEFORE)

    assert record.suite.passed == {f"test_it.py::test_{name}" for name in "abc"}
    assert (tmp_path / "ran").read_text() == "abbc"
    assert Runner(LISTED, places).known(SEEN, Arm.BEFORE) == record


# --- which kinds of errors are left -----------------------------------------------------------


def row(package, left, half=Half.WORK):
    told = {test: Attribution(way, (), f"{package}/a.py:{test}") for test, (way, _) in left.items()}
    failures = {test: failure for test, (_, failure) in left.items()}
    ids = frozenset(left)
    arms = dict.fromkeys((Arm.SAFE, Arm.UNSAFE), frozenset())
    outcome = Outcome(
        package, ids, frozenset(), arms, arms, dict.fromkeys((Arm.SAFE, Arm.UNSAFE), failures)
    )
    return Row(outcome, {}, {Arm.SAFE: told, Arm.UNSAFE: told}, half)


def test_kinds_are_ranked_by_packages_and_then_by_tests():
    gone = Failure("AttributeError", "'Net' object has no attribute 'input_shape'")
    same = Failure("AttributeError", "'Block' object has no attribute 'input_shape'")
    other = Failure("ValueError", "shapes (3, 4) and (5,) differ")
    rows = [
        row("p", {"1": (Told.LINE, gone), "2": (Told.NOT, other), "3": (Told.NOT, other)}),
        row("q", {"4": (Told.NOT, same)}),
        row("hidden", {"5": (Told.NOT, other)}, Half.UNSEEN),
    ]

    first, second = ranking.rank(rows)

    assert first.name == "AttributeError: '…' object has no attribute 'input_shape'"
    assert (first.tests, first.packages, first.at_the_line) == (2, ("p", "q"), 1)
    assert first.places == ("p/a.py:1", "q/a.py:4")
    assert second.name == "ValueError: shapes … and … differ"
    assert (second.tests, second.packages, second.at_the_line) == (2, ("p",), 0)
