"""The benchmark of real packages: what it counts, without network and frameworks."""

import re
import subprocess
import sys

import msgspec
import pytest

from benchmarks.migration import (
    catalogue,
    errors,
    experiments,
    precision,
    recovery,
    repairs,
    sources,
)
from benchmarks.migration.attribution import Attribution, Told, attribute, lines_before, names_in
from benchmarks.migration.figures import mean_recovery, of
from benchmarks.migration.model import (
    Arm,
    Failure,
    Found,
    Frame,
    Package,
    Places,
    Record,
    Repair,
    Result,
    Suite,
)
from benchmarks.migration.summary import Row
from tools import named_in_findings


def suite(passed="", failed=""):
    return Suite(
        {
            **{name: Result("passed") for name in passed.split()},
            **{
                name: Result("failed", 0.1, Failure("E", f"{name} went")) for name in failed.split()
            },
        },
        {},
        1.0,
    )


def records(*, keras2, before, safe, unsafe):
    suites_by_arm = zip(Arm, (keras2, before, safe, unsafe), strict=True)
    return {arm: Record("p", "p==1", arm, "", suite) for arm, suite in suites_by_arm}


def found(path, line, **about):
    words = {"code": "KD101", "name": "gone", "severity": "error", "symbol": "keras.backend.sum"}
    return Found(path=path, line=line, end_line=line, **{**words, **about})


def repaired(before=(), after=()):
    return Repair(1.0, (), (), tuple(before), tuple(after))


# --- what is listed ---------------------------------------------------------------------------


def test_every_package_of_the_list_can_be_fetched_and_has_on_its_path_what_is_listed():
    listed = catalogue.read()
    every = [*listed.package, *listed.library]

    assert len({package.name for package in every}) == len(every)
    for package in every:
        by_commit = re.fullmatch(r"[0-9a-f]{40}", package.commit) and "/" in package.repository
        by_release = re.fullmatch(r"[\w-]+==[\d.]+", package.sdist)
        assert bool(by_commit) != bool(by_release), package.name
        assert len(listed.needed_by(package)) == len(package.also_needed)


def test_a_package_that_is_not_listed_is_not_found():
    with pytest.raises(KeyError, match="no-such"):
        catalogue.read().named(["no-such"])


# --- where the sources come from --------------------------------------------------------------


def test_a_commit_of_a_local_repository_is_fetched_once_and_whole(tmp_path):
    repository = tmp_path / "mirrors" / "someone+thing" / "repo"
    (repository / "tests").mkdir(parents=True)
    (repository / "tests" / "naïve.py").write_bytes(b"x = 1\r\n")

    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", "-C", str(repository), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD")
    (repository / "later.py").write_text("y = 2\n")
    git("add", ".")
    git("commit", "-qm", "two")
    places = Places(tmp_path / "cache", tmp_path, tmp_path / "mirrors", 1)
    package = Package("thing", repository="someone/thing", commit=commit)

    folder = sources.fetch(package, places)

    assert (folder / "tests" / "naïve.py").read_bytes() == b"x = 1\r\n"
    assert not (folder / "later.py").exists()
    (repository / "tests" / "naïve.py").unlink()
    assert sources.fetch(package, places) == folder


def test_a_repository_that_is_not_there_is_said_to_be_missing(tmp_path):
    places = Places(tmp_path / "cache", tmp_path, tmp_path / "mirrors", 1)
    package = Package("thing", repository="someone/thing", commit="0" * 40)

    with pytest.raises(sources.FetchProblem, match=r"no repository at .*someone\+thing"):
        sources.fetch(package, places)


def test_a_test_that_no_run_has_seen_is_missing():
    assert suite(passed="a").of("b").outcome == "missing"


# --- what is counted --------------------------------------------------------------------------


def test_recovery_is_the_share_of_the_gap_that_passes():
    figures = recovery.outcome(
        records(
            keras2=suite(passed="a b c d e", failed="f"),
            before=suite(passed="a f", failed="b c d e"),
            safe=suite(passed="a b f", failed="c d e"),
            unsafe=suite(passed="b c d f", failed="a"),
        )
    )

    assert figures.gap == {"b", "c", "d", "e"}
    assert figures.recovery(Arm.SAFE) == 1 / 4
    assert figures.recovery(Arm.UNSAFE) == 3 / 4
    assert figures.lost == {Arm.SAFE: frozenset(), Arm.UNSAFE: frozenset("a")}
    assert list(figures.left[Arm.UNSAFE]) == ["e"]
    assert figures.left[Arm.SAFE]["c"].message == "c went"


def test_a_test_that_fails_on_keras_2_and_passed_on_keras_3_can_be_lost():
    figures = recovery.outcome(
        records(
            keras2=suite(failed="a"),
            before=suite(passed="a"),
            safe=suite(failed="a"),
            unsafe=suite(passed="a"),
        )
    )

    assert figures.lost[Arm.SAFE] == {"a"}


def test_the_mean_counts_each_package_with_a_gap_alike():
    def figures(keras2, before, safe):
        arms = {"keras2": keras2, "before": before, "safe": safe, "unsafe": safe}
        made = records(**{arm: suite(passed=ids) for arm, ids in arms.items()})
        fixed = {
            arm: msgspec.structs.replace(record, repair=repaired() if arm.is_fixed else None)
            for arm, record in made.items()
        }
        return of(Row(recovery.outcome(fixed), fixed, {Arm.SAFE: {}, Arm.UNSAFE: {}}))

    outcomes = [
        figures("a b c d", "", "a b c d"),
        figures("a b", "a", "a"),
        figures("a b c", "a b c", "a b c"),  # no gap
    ]

    assert mean_recovery(outcomes, Arm.SAFE) == 1 / 2
    assert mean_recovery(outcomes[2:], Arm.SAFE) is None


# --- which finding should have known ----------------------------------------------------------

RAISED = Failure(
    "AttributeError",
    "module 'keras.backend' has no attribute 'dtype'",
    (Frame("p/test.py", 9, 9, "test"), Frame("p/core.py", 3, 4, "call", last=True)),
)


def same_line(_path, line):
    return range(line, line + 1)


@pytest.mark.parametrize(
    ("finding", "told"),
    [
        (found("p/core.py", 4), Told.LINE),
        (found("p/test.py", 1, symbol="keras.backend.dtype"), Told.NAME),
        (found("p/other.py", 4, symbol="keras.backend.dtype"), Told.NOT),
        (found("p/test.py", 9), Told.TRACEBACK),
        (found("p/core.py", 5), Told.NOT),
        (found("p/other.py", 3), Told.NOT),
        (found("p/core.py", 3, severity="legacy"), Told.NOT),
    ],
)
def test_a_finding_tells_of_an_error_at_its_line_or_by_its_name(finding, told):
    assert attribute(RAISED, repaired(after=[finding]), same_line).told is told


def test_a_finding_that_the_fix_made_go_tells_of_an_error_at_the_line_that_it_became():
    moved = attribute(RAISED, repaired([found("p/core.py", 7)]), lambda *_: range(7, 8))

    assert (moved.told, moved.codes, moved.place) == (Told.LINE, ("KD101",), "p/core.py:3")


def test_an_error_in_a_function_that_the_fix_wrote_is_at_the_line_that_calls_it():
    frames = (
        Frame("p/test.py", 9, 9, "test"),
        Frame("p/core.py", 3, 3, "use"),
        Frame("p/core.py", 40, 40, "written", last=True),
    )
    failure = Failure("E", "it broke", frames, "keras/a.py:1")
    repair = repaired([found("p/core.py", 7)])

    def before(_, line):
        return range(0) if line == 40 else range(line + 4, line + 5)

    assert attribute(failure, repair, before).told is Told.LINE
    assert attribute(failure, repair, before).place == "p/core.py:3"
    assert attribute(failure, repair, lambda *_: range(0)).place == "p/core.py:40"


def test_a_cause_counts_where_its_finding_is_said_and_nothing_nearer_is():
    cause = experiments.Cause("p", "KD101", "p/core.py", "why", ("a.py::test",), "old", "new")
    far, near = Attribution(Told.TRACEBACK), Attribution(Told.LINE)
    said = repaired(after=[found("p/core.py", 7)])

    def told(attribution, repair, test="a.py::test", package="p"):
        return experiments.shown(attribution, package, test, repair, [cause]).told

    assert told(far, said) is Told.CAUSE
    assert told(near, said) is Told.LINE
    assert told(far, repaired([found("p/core.py", 7)])) is Told.TRACEBACK
    assert told(far, repaired(after=[found("p/core.py", 7, severity="legacy")])) is Told.TRACEBACK
    assert told(far, said, test="a.py::other") is Told.TRACEBACK
    assert told(far, said, package="q") is Told.TRACEBACK


def test_each_listed_cause_is_of_a_listed_package_and_names_its_line():
    packages = {each.name for each in catalogue.read().package}
    for each in experiments.read():
        assert each.package in packages
        assert each.path.startswith(f"{each.package}/")
        assert each.tests
        assert each.old != each.new


def test_a_test_that_was_not_collected_is_told_of_by_what_its_id_names():
    missing = Failure("Missing", "the test was not collected")
    repair = repaired([found("p/a_test.py", 7, symbol="keras.layers.Gone")])

    assert attribute(missing, repair, same_line, "p/a_test.py::test[Gone-1]").told is Told.NAME
    assert attribute(missing, repair, same_line, "p/b_test.py::test[Gone-1]").told is Told.NOT
    assert attribute(missing, repair, same_line, "p/a_test.py::test[Here-1]").told is Told.NOT
    assert attribute(missing, repair, same_line, "p/a_test.py::Gone").told is Told.NOT


def test_what_the_whole_message_speaks_of_is_no_name():
    assert names_in("Could not interpret constraint identifier: weight_clip") == {"weight_clip"}
    assert names_in("'Dense' object has no attribute 'output_shape'") == {"Dense", "output_shape"}
    assert names_in("module 'keras' has no attribute 'call'") == frozenset()
    assert names_in("assert <function mine at 0x7f> == None") == {"mine"}
    assert names_in("use keras.ops.shape, not get_shape()") == {"shape", "get_shape"}


def test_a_fixed_line_is_followed_to_where_it_was(tmp_path):
    (tmp_path / "old.py").write_text("a\nb\nc\nd\n")
    (tmp_path / "new.py").write_text("import x\na\nB\nBB\nd\n")
    before = lines_before(tmp_path, lambda _: tmp_path / "old.py")

    assert [list(before("new.py", line)) for line in range(1, 7)] == [
        [],
        [1],
        [2, 3],
        [2, 3],
        [4],
        [],
    ]


def test_errors_are_told_once_and_without_addresses_and_folders():
    failure = Failure("E", "no <A at 0x7f00aa11> in /tmp/x/arms/p/safe/p/core.py\n  at all")
    told = attribute(failure, repaired(), same_line)
    other = Failure("E", "no <A at 0x7f00bb22> in /elsewhere/arms/p/unsafe/p/core.py at all")

    groups = errors.grouped({"a": (failure, told), "b": (other, told)})

    assert [tests for _, tests in groups] == [["a", "b"]]
    assert errors.cleaned(failure.message) == "no <A at 0x…> in p/core.py at all"


# --- what kdoctor does to a copy --------------------------------------------------------------


def test_a_repair_tells_what_changed_and_what_was_found(tmp_path):
    original, root = tmp_path / "original", tmp_path / "root"
    old = "from keras import backend as K\nx = K.square(2.0)\n"
    for folder in (original, root / "p"):
        folder.mkdir(parents=True)
        (folder / "a.py").write_text(old)
        (folder / "b.py").write_text("x = 1\n")

    repair = repairs.repair(Arm.SAFE, root, {"p": original})

    assert repair.changed == ("p/a.py",)
    assert repair.broken == ()
    assert {(f.path, f.line, f.severity) for f in repair.before} == {("p/a.py", 2, "error")}
    assert repair.after == ()


def test_a_file_that_compiled_and_no_longer_does_is_broken(tmp_path, monkeypatch):
    original, root = tmp_path / "original", tmp_path / "root"
    for folder in (original, root / "p"):
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("x = 1\n")
        (folder / "python2.py").write_text("print 1\n")

    def breaking(arguments, folder):
        if arguments[0] == "fix":
            (folder / "p" / "a.py").write_text("x = = 1\n")
            (folder / "p" / "python2.py").write_text("print 2\n")
        return subprocess.CompletedProcess([], 0, '{"findings": []}', "")

    monkeypatch.setattr(repairs, "_kdoctor", breaking)

    repair = repairs.repair(Arm.SAFE, root, {"p": original})

    assert repair.changed == ("p/a.py", "p/python2.py")
    assert repair.broken == ("p/a.py",)


# --- what is not there --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("finding", "name"),
    [
        ({}, "keras.backend.sum"),
        ({"code": "KD303", "symbol": "keras.layers.Dense(weights)"}, "keras.layers.Dense(weights)"),
        (
            {"code": "KD204", "symbol": "Mine.get_x", "message": "an optimizer has no `get_x`: …"},
            "Optimizer.get_x",
        ),
        (
            {"code": "KD213", "symbol": "m.add_loss", "message": "`add_loss` of a model raises"},
            "Model.add_loss",
        ),
        ({"code": "KD225", "symbol": "keras.layers.Layer.call", "message": "other shape"}, ""),
        ({"code": "KD503", "symbol": "tensorflow.split"}, ""),
    ],
)
def test_what_is_looked_up_is_what_a_finding_says_is_not_there(finding, name):
    assert precision.name_in(found("a.py", 1, **finding)) == name


def test_an_error_about_a_name_that_exists_is_a_false_alarm(monkeypatch):
    there = {"keras.backend.sum": "AttributeError: gone", "keras.ops.sum": "exists"}
    monkeypatch.setattr(
        named_in_findings, "look_up", lambda symbols, _: {s: there[s] for s in symbols if s}
    )
    findings = [
        found("a.py", 1),
        found("a.py", 2, symbol="keras.ops.sum"),
        found("a.py", 3, symbol="keras.ops.sum", severity="legacy"),
        found("a.py", 4, code="KD503", name="tf-op", symbol="tensorflow.split"),
    ]

    result = precision.measure(findings, sys.executable)

    assert (result.errors, result.checked, result.symbols) == (3, 2, 2)
    assert result.false_alarms == (findings[1],)
    assert result.unchecked == {"KD503 tf-op": 1}
