"""``kdoctor migrate --apply`` carries a plan out; the project's own tests decide."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.html_pages import Parsed, assert_readable
from tests.cli.two_keras import COUNTED, OLD, PLAIN, TEST_TRAIN, TRAIN, counts, verdicts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Pythons that are shell scripts")


def test_each_step_is_a_commit_that_says_what_was_seen(project, migrate):
    core = {"core.py": "from keras.layers.core import Dense\n"}
    test_core = {"test_core.py": "import core\n\n\ndef test_core():\n    core.Dense()\n"}
    pins = {"requirements.txt": "# ours\nkeras==2.2.4  # old\n"}
    judged = {"train.py": TRAIN, "test_train.py": TEST_TRAIN}
    project.write({**PLAIN, **core, **test_core, **pins, **judged}).committed()
    head = project.git("rev-parse", "HEAD")
    done = migrate("--html", "done.html")
    assert done.code == 0, done.out
    told = done.json
    page = Parsed.of(project.read("done.html").decode())
    assert_readable(page.elements)
    assert all(each["commit"][:9] in page.text for each in told["steps"])
    assert "run by test_train::test_train" in page.text
    assert "git merge kdoctor-migrate" in page.text
    assert counts(told) == {"keras_2": 3, "before": 0, "of_keras_2": 3}
    assert [len(each["gained"]) for each in told["steps"]] == [0, 1, 1, 1]
    assert told["lost"] == told["left"] == told["failing"] == []
    assert told["complete"]
    assert sorted(verdicts(told).values()) == ["proven", "proven", "your tests"]
    judged = next(each for each in told["fixes"] if each["verdict"] == "your tests")
    assert (judged["path"], judged["tests"]) == ("train.py", ["test_train::test_train"])

    commits = f"{head.strip()}..kdoctor-migrate"
    log = project.git("log", "--format=%s%n%b", commits)
    assert [each["commit"] for each in told["steps"]] == project.git(
        "rev-list", "--reverse", commits
    ).split()
    assert "requirements.txt:2: keras==2.2.4 -> keras==" in log
    assert "1 test more passes, none is lost: 3 of the 3 that pass on Keras 2." in log
    assert "(run by test_train::test_train)" in log
    assert all(len(each) <= 72 for each in project.git("log", "--format=%s").splitlines())
    shown = project.git("show", "kdoctor-migrate:requirements.txt")
    assert shown.startswith("# ours\nkeras==3.")
    assert shown.endswith("  # old\n")
    assert "workers" not in project.git("show", "kdoctor-migrate:train.py")


def test_the_users_tree_stays_as_it_is_until_the_merge(project, migrate):
    project.write(PLAIN).committed()
    before = {each: each.read_bytes() for each in project.folder.iterdir() if each.is_file()}
    branches = project.git("branch")
    migrate()
    assert {each: each.read_bytes() for each in before} == before
    assert project.git("status", "--porcelain") == ""
    assert project.git("branch", "--show-current") in branches
    project.git("merge", "--quiet", "kdoctor-migrate")
    assert b"K.sum" not in project.read("old.py")


def test_undo_leaves_no_branch_and_no_working_tree(project, migrate):
    project.write(PLAIN).committed()
    before = (project.git("branch"), project.git("worktree", "list"))
    migrate()
    assert (project.git("branch"), project.git("worktree", "list")) != before
    done = project.kdoctor("migrate", "--undo")
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert (project.git("branch"), project.git("worktree", "list")) == before
    assert sorted(each.name for each in project.folder.iterdir()) == [
        ".git",
        "old.py",
        "test_old.py",
    ]
    assert project.kdoctor("migrate", "--undo").code == 2


def test_undo_keeps_commits_that_others_made(project, migrate):
    project.write(PLAIN).committed()
    migrate()
    tree = project.folder / ".kdoctor/migrate/tree"
    (tree / "mine.txt").write_text("x")
    subprocess.run(["git", "add", "mine.txt"], cwd=tree, check=True)
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    subprocess.run(["git", *who, "commit", "--quiet", "-m", "mine"], cwd=tree, check=True)
    done = project.kdoctor("migrate", "--undo")
    assert done.code == 2
    assert "has commits that kdoctor did not make" in done.err
    assert project.git("show", "kdoctor-migrate:mine.txt") == "x"


def test_any_runner_that_writes_junit_will_do(project, migrate):
    runner = """import sys
from xml.sax.saxutils import quoteattr
import old

failure = ""
try:
    old.total([1])
except Exception as error:
    failure = f"<failure message={quoteattr(repr(error))}/>"
open(sys.argv[1], "w").write(f"<t><testcase classname='a' name='b'>{failure}</testcase></t>")
"""
    project.write({"old.py": OLD, "runner.py": runner}).committed()
    told = migrate("--test", "python runner.py {junit}").json
    assert counts(told) == {"keras_2": 1, "before": 0, "of_keras_2": 1}
    assert told["steps"][0]["gained"] == ["a::b"]


def test_what_the_tests_write_is_gone_before_the_next_run(project, migrate):
    once = """from pathlib import Path


def test_once():
    Path("made").mkdir()
    Path("made/x").touch()
    assert Path("old.txt").read_text() == "old"
    Path("old.txt").write_text("new")
    Path("empty/x").write_text("x")
"""
    project.write({**PLAIN, "test_once.py": once, "old.txt": "old"}).committed()
    (project.folder / "empty").mkdir()
    told = migrate().json
    assert counts(told) == {"keras_2": 2, "before": 1, "of_keras_2": 2}
    assert project.git("diff", "--name-only", "HEAD", "kdoctor-migrate") == "old.py\n"
    assert list((project.folder / "empty").iterdir()) == []


def test_a_budget_ends_it_with_what_was_reached(project, migrate):
    slow = """import time
import counted


def test_slow():
    is_fixed = "ops.sum" in open("old.py").read()
    time.sleep(600 if is_fixed and counted.runs("a") == 1 else 0)
"""
    project.write({**PLAIN, "counted.py": COUNTED, "test_slow.py": slow}).committed()
    refused = migrate("--budget", 0.01)
    assert (refused.code, refused.out) == (2, "")
    assert "`kdoctor migrate --resume --budget MINUTES` goes on" in refused.err
    told = migrate.again("--resume", "--budget", 0.15).json
    assert told["stopped"] == "the budget of 0.15 minutes is spent"
    assert told["steps"] == []
    assert not told["complete"]
    told = migrate.again("--resume", "--budget", 5).json
    assert counts(told)["of_keras_2"] == 2
    assert len(told["steps"]) == 1


def test_what_still_fails_is_told_with_what_its_error_means(project, migrate):
    gone = "from keras import backend as K\n\n\ndef session():\n    return K.get_session()\n"
    test = "import gone\n\n\ndef test_session():\n    gone.session()\n"
    project.write({**PLAIN, "gone.py": gone, "test_gone.py": test}).committed()
    (failing,) = migrate().json["failing"]
    assert failing["test"] == "test_gone::test_session"
    assert failing["place"] == "gone.py:5"
    assert failing["error"].startswith("AttributeError: module 'keras.backend' has no attribute")
    assert "`keras.backend.get_session` is not in keras 3" in failing["meaning"]


def test_all_that_makes_tests_pass_is_found_where_no_line_of_it_was_run(project, migrate):
    """A line that a test expects to raise is not run, but a test passes with its fix alone."""
    table = TRAIN.replace("def train", "ran = []\n\n\ndef train")
    raises = """import pytest
import keras
import train


def test_raises():
    if keras.__version__ < "3":
        assert train.train() == 3
    with pytest.raises(ValueError, match="no data"):
        train.train(None)
"""
    project.write({"train.py": table, "test_train.py": raises}).committed()
    (fix,) = migrate().json["fixes"]
    assert (fix["verdict"], fix["makes_pass"]) == ("your tests", True)
    assert fix["tests"] == ["test_train::test_raises"]


def test_fixes_of_several_files_are_found_that_only_together_make_a_test_pass(project, migrate):
    raises = """import pytest
import keras
import more
import train
import unread


def test_raises():
    if keras.__version__ < "3":
        return
    for each in (train, more):
        with pytest.raises(ValueError, match="no data"):
            each.train(None)
"""
    code = dict.fromkeys(("train.py", "more.py", "unread.py"), f"{TRAIN}\n\nran = []\n")
    project.write({**code, "test_train.py": raises}).committed()
    found = {each["path"]: each["verdict"] for each in migrate().json["fixes"]}
    assert found == {"train.py": "your tests", "more.py": "your tests", "unread.py": "not run"}


WIDTH = {
    "width.py": """import keras


def width(layer):
    return layer.output_shape[-1]


def main(made=keras.layers.Dense):
    return width(vars(keras.layers)["Dense"]())
""",
    "run.py": "import width\n\nassert width.main() == 2\n",
}


@pytest.mark.parametrize("by_program", [False, True], ids=["pytest", "program"])
def test_what_names_held_where_a_test_failed_leads_to_fixes(project, migrate, by_program):
    """Nothing in the code tells what ``layer`` is; no proof calls a fix safe that rests on a run."""
    test = "import width\n\n\ndef test_width():\n    assert width.main() == 2\n"
    project.write({**WIDTH, **({} if by_program else {"test_width.py": test})}).committed()
    told = migrate(*(["--run", "python run.py"] if by_program else [])).json
    assert counts(told) == {"keras_2": 1, "before": 0, "of_keras_2": 1}
    (fix,) = told["fixes"]
    name = "python run.py" if by_program else "test_width::test_width"
    assert (fix["code"], fix["verdict"], fix["tests"]) == ("KD205", "your tests", [name])
    assert fix["seen"] == ["`layer` in `width` is a Dense"]
    assert "layer.output.shape[-1]" in project.git("show", "kdoctor-migrate:width.py")
    body = project.git("log", "--format=%B", "-1", "kdoctor-migrate")
    assert f"(seen at run time: `layer` in `width` is a Dense; run by {name})" in body


def test_each_of_several_errors_of_a_test_is_looked_into(project, migrate):
    """With one of them mended the test fails at the next one, and no line speaks for a fix."""
    code = f"""{TRAIN}

def width(layer):
    return layer.output_shape[-1]


def depth(block):
    return block.output_shape[-1]


def main():
    return [train(), *(each(vars(keras.layers)["Dense"]()) for each in (width, depth))]
"""
    test = "import sizes\n\n\ndef test_sizes():\n    assert sizes.main() == [3, 2, 2]\n"
    project.write({"sizes.py": code, "test_sizes.py": test}).committed()
    told = migrate().json
    assert counts(told) == {"keras_2": 1, "before": 0, "of_keras_2": 1}
    assert [(each["line"], each["verdict"], each["seen"]) for each in told["fixes"]] == [
        (6, "your tests", []),
        (10, "your tests", ["`layer` in `width` is a Dense"]),
        (14, "your tests", ["`block` in `depth` is a Dense"]),
    ]


def test_an_error_that_a_fix_only_leads_to_is_looked_into(project, migrate):
    """Nothing in the code tells that a batch has a list in it, only the second error does."""
    code = """import keras


def batches():
    inputs = made(1, 2)
    yield inputs, 0


def made(*parts):
    return globals()["kind"](parts)


kind = list


def train():
    return keras.Sequential().fit(batches(), workers=4)
"""
    test = "import fed\n\n\ndef test_train():\n    assert fed.train() == 3\n"
    project.write({"fed.py": code, "test_fed.py": test}).committed()
    told = migrate().json
    assert counts(told) == {"keras_2": 1, "before": 0, "of_keras_2": 1}
    assert {(each["code"], bool(each["seen"])) for each in told["fixes"]} == {
        ("KD409", True),
        ("KD303", False),
    }


def test_a_fix_by_what_was_seen_that_helps_no_test_is_not_written(project, migrate):
    """The line raises in its test whatever is written there."""
    code = {**WIDTH, "width.py": WIDTH["width.py"].replace("[-1]", "[-1].nowhere")}
    test = """import keras
import width


def test_width():
    if keras.__version__ > "3":
        width.main()
"""
    project.write({**code, "test_width.py": test}).committed()
    told = migrate().json
    assert [(each["verdict"], each["seen"]) for each in told["fixes"]] == [
        ("not run", ["`layer` in `width` is a Dense"])
    ]
    assert told["steps"] == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--apply", "--undo"], "only one of"),
        (["--test", "pytest"], "add --apply"),
        (["--resume", "--test", "pytest"], "takes only --budget"),
        (["--apply", "--test", "a", "--run", "b"], "cannot be combined"),
        (["--apply", "--test", "'"], "--test: "),
        (["--apply", "--test", "cd x && pytest"], "write sh -c 'cd x && pytest'"),
        (["--undo"], "no migration was begun here"),
        (["--resume"], "no migration was begun here"),
        (["--apply", "nowhere"], "no such file or folder"),
        (["--apply", "/"], "lies outside of the repository"),
        (["--apply", "--python", "nowhere"], "no such Python interpreter"),
        (["--apply", "--test", "no-such-program"], "cannot be run"),
        (["--apply", "--test", "false"], "no test passes on Keras 2"),
    ],
)
def test_a_wrong_use_is_one_sentence_and_leaves_nothing(project, keras, arguments, why):
    project.write(PLAIN).committed()
    more = keras.arguments if "--apply" in arguments and "--python" not in arguments else []
    done = project.kdoctor("migrate", *arguments, *more)
    assert (done.code, done.out) == (2, "")
    told = [each for each in done.err.splitlines() if "running `" not in each]
    assert len(told) == 1
    assert why in told[0]
    assert "kdoctor-migrate" not in project.git("branch")


@pytest.mark.frameworks
def test_tf_keras_stands_for_keras_2_where_no_other_python_is_named(project):
    test = """import numpy as np
import tensorflow as tf
import keras
import old


def test_total():
    assert isinstance(keras.layers.Dense(1), tf.keras.layers.Layer)
    assert float(old.total(np.ones((2, 2), "float32"))) == 4.0
"""
    project.write({"old.py": OLD, "test_old.py": test}).committed()
    told = project.kdoctor("migrate", "--apply", "--python", sys.executable, "--json").json
    assert counts(told) == {"keras_2": 1, "before": 0, "of_keras_2": 1}
    assert told["lost"] == []


def test_the_text_has_what_the_json_has(project, keras):
    project.write({**PLAIN, "train.py": TRAIN}).committed()
    done = project.kdoctor("migrate", "--apply", *keras.arguments)
    assert done.code == 1
    assert "      1  pass on Keras 2\n      0  of these pass on Keras 3, before\n" in done.out
    assert "1. Write what Keras 3 has instead, as proven: 1 change in 1 file, commit " in done.out
    assert "   1 test more passed, none was lost: 1 of 1\n" in done.out
    assert "      1  not run by any test, so not written\n         train.py:6: " in done.out
    assert "Left for people: 1 finding in 1 file\n  train.py\n" in done.out
    assert json.loads(project.kdoctor("migrate", "--resume", "--format", "json").out)["steps"]
