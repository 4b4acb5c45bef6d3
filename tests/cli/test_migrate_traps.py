"""What projects have in store for ``kdoctor migrate --apply``: each ends as a person wants."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.two_keras import COUNTED, OLD, PLAIN, TEST_OLD, TRAIN, counts, verdicts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Pythons that are shell scripts")


@pytest.mark.parametrize("passes", ["== 1", "!= 4"], ids=["on Keras 2", "after a step"])
def test_nothing_is_concluded_from_a_flaky_test(project, migrate, passes):
    flaky = f"import counted\n\n\ndef test_flaky():\n    assert counted.runs('a') {passes}\n"
    project.write({**PLAIN, "counted.py": COUNTED, "test_flaky.py": flaky}).committed()
    told = migrate().json
    assert told["flaky"] == ["test_flaky::test_flaky"]
    assert told["lost"] == told["failing"] == []
    assert verdicts(told) == {("old.py", "KD101"): "proven"}


def test_what_fails_on_keras_2_is_noted_with_its_error(project, migrate):
    gone = "import old\n\n\ndef test_gone():\n    old.gone()\n"
    project.write({**PLAIN, "test_gone.py": gone}).committed()
    told = migrate().json
    assert told["failing"] == []
    (note,) = told["notes"]
    assert note == (
        "1 of 2 tests fails on Keras 2 and judges nothing, with "
        "`AttributeError: module 'old' has no attribute 'gone'`"
    )


def test_a_fix_that_loses_a_test_is_found_and_taken_out(project, migrate):
    code = OLD + "\n\ndef average(x):\n    return K.mean(x)\n"
    test = "\n\ndef test_average():\n    assert old.average([1, 3]) == 2\n"
    project.write({"old.py": code, "test_old.py": TEST_OLD + test}).committed()
    done = migrate()
    told = done.json
    assert counts(told) == {"keras_2": 2, "before": 1, "of_keras_2": 2}
    assert told["lost"] == []
    losing = [each for each in told["fixes"] if each["verdict"] == "loses a test"]
    assert [(each["line"], each["tests"]) for each in losing] == [(10, ["test_old::test_average"])]
    written = project.git("show", "kdoctor-migrate:old.py")
    assert "K.mean(x)" in written
    assert "K.sum(x)" not in written
    assert done.code == 1


def test_a_test_that_swallows_the_error_of_a_line_says_nothing_of_it(project, migrate):
    swallows = """import train


def test_swallows():
    try:
        train.train(None)
    except Exception:
        pass
"""
    project.write({"train.py": TRAIN, "test_train.py": swallows}).committed()
    told = migrate().json
    assert verdicts(told) == {("train.py", "KD322"): "not run"} or set(verdicts(told).values()) == {
        "not run"
    }
    assert told["steps"] == []
    assert [each["path"] for each in told["left"]] == ["train.py"]


def test_a_fix_that_no_test_runs_stays_a_suggestion(project, migrate):
    project.write({**PLAIN, "train.py": TRAIN}).committed()
    told = migrate().json
    assert verdicts(told)["old.py", "KD101"] == "proven"
    assert {path: verdict for (path, _), verdict in verdicts(told).items()}["train.py"] == "not run"
    assert "workers=4" in project.git("show", "kdoctor-migrate:train.py")


def test_tests_find_files_that_git_ignores(project, migrate):
    reads = "\n\ndef test_data():\n    assert open('data/x.txt').read() == 'data'\n"
    writes = "\n\ndef test_writes():\n    open('data/x.txt', 'a').write('!')\n"
    files = {"old.py": OLD, "test_old.py": TEST_OLD + reads + writes, ".gitignore": "data\n"}
    project.write({**files, "data/x.txt": "data"}).committed()
    told = migrate().json
    assert counts(told) == {"keras_2": 3, "before": 2, "of_keras_2": 3}
    assert project.read("data/x.txt") == b"data"


def test_a_package_without_tests_has_a_program(project, migrate):
    script = f"{TRAIN}\n\nprint(train())\n"
    project.write({"train.py": script}).committed()
    told = migrate("--run", "python train.py").json
    assert counts(told) == {"keras_2": 1, "before": 0, "of_keras_2": 1}
    assert set(verdicts(told).values()) == {"your tests"}
    assert told["fixes"][0]["tests"] == ["python train.py"]


def test_without_tests_one_is_told_what_to_name(project, migrate):
    project.write({"old.py": OLD}).committed()
    done = migrate()
    assert done.code == 2
    assert "no tests were found" in done.err
    assert "--run" in done.err
    assert "kdoctor-migrate" not in project.git("branch")


def test_a_dirty_tree_is_refused_by_name(project, migrate):
    project.write(PLAIN).committed()
    project.write({"old.py": OLD + "\n# mine\n"})
    done = migrate()
    assert (done.code, done.out) == (2, "")
    assert "old.py; commit or stash them first" in done.err
    assert not (project.folder / ".kdoctor").exists()


def test_files_that_git_does_not_track_are_no_hindrance(project, migrate):
    project.write(PLAIN).committed()
    project.write({"new.py": OLD})
    told = migrate().json
    assert {each["path"] for each in told["fixes"]} == {"old.py"}
    assert project.read("new.py") == OLD.encode()


def test_a_detached_head_is_a_note(project, migrate):
    project.write(PLAIN).committed()
    project.git("checkout", "--quiet", "--detach")
    told = migrate().json
    assert len(told["steps"]) == 1
    assert any("HEAD is detached" in each for each in told["notes"])
    assert project.git("branch", "--show-current") == ""


def test_a_submodule_is_there_and_stays_as_it_is(project, migrate, tmp_path_factory):
    other = type(project)(tmp_path_factory.mktemp("other"), project.forking)
    other.write({"inside.py": OLD.replace("total", "both")}).committed()
    project.write(
        {**PLAIN, "test_sub.py": "from sub import inside\n\n\ndef test_sub():\n    assert inside\n"}
    )
    project.committed()
    project.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(other.folder), "sub"
    )
    project.git("commit", "--quiet", "-m", "sub")
    told = migrate().json
    assert counts(told) == {"keras_2": 2, "before": 1, "of_keras_2": 2}
    assert {each["path"] for each in told["fixes"]} == {"old.py"}
    assert project.git("diff", "--name-only", "HEAD", "kdoctor-migrate") == "old.py\n"


def test_two_packages_of_a_repository_each_run_their_own_tests(project, migrate):
    both = {
        f"{name}/{path}": text
        for name in ("a", "b")
        for path, text in {**PLAIN, "setup.py": ""}.items()
    }
    project.write(both).committed()
    told = migrate().json
    assert counts(told) == {"keras_2": 2, "before": 0, "of_keras_2": 2}
    assert [each["path"] for each in told["fixes"]] == ["a/old.py", "b/old.py"]
    project.kdoctor("migrate", "--undo")
    alone = migrate("a").json
    assert counts(alone)["keras_2"] == 1
    assert [each["path"] for each in alone["fixes"]] == ["a/old.py"]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_killed_goes_on_with_resume(project, keras, tmp_path_factory, sent):
    counters = tmp_path_factory.mktemp("counters")
    stops = """import time
from pathlib import Path
import counted


def test_stops():
    Path("made").mkdir()
    Path("made/file").touch()
    while counted.runs("a") == 3:
        time.sleep(60)
"""
    project.write({**PLAIN, "counted.py": COUNTED, "test_stops.py": stops}).committed()
    words = [sys.executable, "-m", "kdoctor", "migrate", "--apply", *map(str, keras.arguments)]
    process = subprocess.Popen(
        words,
        cwd=project.folder,
        env={**os.environ, "COUNTERS": str(counters)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    counter = counters / "a"
    for _ in range(600):
        if counter.exists() and len(counter.read_text()) == 3:
            break
        time.sleep(0.1)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert not _runs_below(project.folder)
    assert out == b""
    assert b"Traceback" not in err
    if sent == signal.SIGINT:
        assert b"interrupted; `kdoctor migrate --resume` goes on" in err
    again = project.kdoctor("migrate", "--apply", *keras.arguments)
    assert again.code == 2
    assert "--resume" in again.err
    done = project.kdoctor("migrate", "--resume", "--json", env={"COUNTERS": str(counters)})
    assert counts(done.json) == {"keras_2": 2, "before": 1, "of_keras_2": 2}
    assert done.json["lost"] == []
    # The two runs on Keras 2 that had ended were not made again.
    assert len(counter.read_text()) == 5


def _runs_below(folder):
    """Say whether a process works in a folder, after a moment in which it may end."""
    for _ in range(50):
        working = [each for each in Path("/proc").glob("[0-9]*/cwd") if _leads_into(each, folder)]
        if not working:
            return False
        time.sleep(0.1)
    return True


def _leads_into(link, folder):
    try:
        return link.readlink().is_relative_to(folder)
    except OSError:
        return False


def test_a_folder_without_git_is_told_what_to_do(project, migrate):
    project.write(PLAIN)
    done = migrate()
    assert (done.code, done.out) == (2, "")
    assert "git init" in done.err
    project.git("init", "--quiet")
    assert "no commit yet" in migrate().err


def test_a_test_that_never_ends_is_stopped_and_the_others_count(project, migrate):
    endless = "import time\n\n\ndef test_endless():\n    time.sleep(600)\n"
    project.write({**PLAIN, "test_endless.py": endless}).committed()
    told = migrate("--test-seconds", 2).json
    assert counts(told) == {"keras_2": 1, "before": 0, "of_keras_2": 1}
    assert told["failing"] == []


def test_a_test_that_no_signal_stops_is_named(project, migrate):
    deaf = """import signal, time
import keras


def test_deaf():
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    time.sleep(600 if keras.__version__ < "3" else 0)
"""
    project.write({"old.py": OLD, "test_a.py": TEST_OLD, "test_z.py": deaf}).committed()
    told = migrate("--seconds", 8, "--test-seconds", 2).json
    assert counts(told)["keras_2"] == 1
    assert any("in test_z::test_deaf" in each for each in told["notes"])
    assert Path(dict(told["logs"])["on Keras 2"]).is_file()
