"""``kdoctor fix --interactive`` asks about each fix, and writes what was accepted."""

from __future__ import annotations

import io

import pytest
from msgspec import structs

from kdoctor.cli import run_interactive
from kdoctor.engine.result import LeftAlone
from kdoctor.report.output import Page

HEAD = "from keras import backend as K\n\n\n"
TWO = f"{HEAD}def total(x):\n    return K.sum(x)\n\n\ndef mean(x):\n    return K.mean(x)\n"
SAFE = TWO.replace("mean", "abs")
NESTED = f"{HEAD}def norm(x):\n    return K.sqrt(K.sum(K.square(x)))\n"
UNSAFE = "import keras\n\nmodel = keras.Sequential()\nmodel.fit(1, 2, workers=4)\n"
MODELS = "from keras.models import Input\n\nx = Input((3,))\n"


def answered(project, answers, *arguments):
    """Return how the run ended whose questions were answered so, a letter each."""
    typed = "".join(f"{each}\n" for each in answers).encode()
    return project.kdoctor("fix", "--interactive", *arguments, stdin=typed)


def test_what_is_accepted_is_fixed_and_nothing_else(project):
    project.write({"a.py": TWO})
    done = answered(project, "yn", "a.py")
    after = project.read("a.py").decode()
    assert "ops.sum(x)" in after
    assert "K.mean(x)" in after
    assert done.code == 1
    assert "Fixed 1 finding; left: 1 error." in done.out
    assert project.kdoctor("fix", "--undo").code == 0
    assert project.read("a.py").decode() == TWO


def test_each_question_shows_the_finding_the_reason_and_the_change(project):
    project.write({"a.py": TWO, "b.py": UNSAFE})
    out = answered(project, "q").out
    first, _, rest = out.partition("?] ")
    assert first.startswith("[1/3]\na.py:5:12: KD101 [error] `keras.backend.sum` is gone")
    assert "  5 |     return K.sum(x)\n" in first
    assert "  proof: `kdoctor rules KD101` shows what was run\n" in first
    assert "-    return K.sum(x)\n+    return ops.sum(x)\n" in first
    assert "Apply this fix [y,n,a,d,i,q,?" in first
    assert "[2/3]" not in rest
    out = answered(project, "nnq").out
    assert "fix available (unsafe)" in out
    assert "; unsafe because " in out


def test_all_and_none_of_a_rule(project):
    project.write({"a.py": SAFE, "b.py": MODELS, "c.py": SAFE})
    done = answered(project, "ad")
    assert done.out.count("Apply this fix") == 2, "of KD101 and of KD102, each once"
    assert b"K." not in project.read("a.py") + project.read("c.py")
    assert project.read("b.py").decode() == MODELS
    again = answered(project, "d")
    assert (again.code, again.out.count("Apply this fix")) == (1, 1)
    assert project.read("b.py").decode() == MODELS


def test_all_of_the_safe_fixes_are_not_the_unsafe_ones(project):
    project.write({"a.py": TWO})
    done = answered(project, "an", "a.py")
    assert "fix available (unsafe)" in done.out
    assert "ops.sum(x)" in project.read("a.py").decode()
    assert "K.mean(x)" in project.read("a.py").decode()


@pytest.mark.parametrize("after", [TWO.replace("sum", "max"), f"\n{TWO}", ""])
def test_a_file_that_changes_while_it_is_asked_about_stays_as_it_is(tmp_path, monkeypatch, after):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(TWO)
    (tmp_path / "b.py").write_text(TWO)
    answers = iter(["y\n", "n\n", "y\n", "q\n"])

    def line():
        (tmp_path / "a.py").write_text(after)
        return next(answers)

    monkeypatch.setattr(run_interactive, "_line", line)
    shown = io.StringIO()
    code = run_interactive.fix(
        ["a.py", "b.py"], {"target": "keras==3.15.1"}, Page(shown), unsafe=None
    )
    assert code == 1
    assert (tmp_path / "a.py").read_text() == after
    assert "ops.sum(x)" in (tmp_path / "b.py").read_text()
    assert shown.getvalue().count("a.py: not fixed: it was changed after the question\n") == 1
    assert "does not go with" not in shown.getvalue()


@pytest.mark.parametrize("paths", [["."], ["a.py", "b.py"]])
def test_a_file_that_goes_while_it_is_asked_about_costs_no_other(tmp_path, monkeypatch, paths):
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(SAFE)

    def line():
        (tmp_path / "a.py").unlink(missing_ok=True)
        return "a\n"

    monkeypatch.setattr(run_interactive, "_line", line)
    page = Page(io.StringIO())
    run_interactive.fix(paths, {"target": "keras==3.15.1"}, page, unsafe=None)
    assert "K." not in (tmp_path / "b.py").read_text()


def test_a_file_that_cannot_be_written_is_told_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SAFE)
    monkeypatch.setattr(run_interactive, "_line", lambda: "a\n")
    monkeypatch.setattr(run_interactive.engine, "write", refused)
    shown = io.StringIO()
    how = {"target": "keras==3.15.1"}
    run_interactive.fix(["a.py"], how, Page(shown), unsafe=None)
    assert shown.getvalue().count("a.py: not fixed: it is read-only\n") == 1
    assert "does not go with" not in shown.getvalue()


def refused(result):
    """Leave every file as it is, as `write` does where it may not write."""
    alone = tuple(LeftAlone(each.path, "it is read-only") for each in result.files)
    return structs.replace(result, files=(), left_alone=alone)


def test_what_a_baseline_knows_is_no_failure(project):
    project.write({"a.py": TWO, "kdoctor.toml": 'baseline = ".kdoctor-baseline.json"\n'})
    assert project.kdoctor("baseline", "write").code == 0
    done = answered(project, "nn")
    assert (done.code, "nothing is left" in done.out) == (0, True)


def test_exit_zero_is_heard(project):
    project.write({"a.py": TWO})
    assert answered(project, "nn", "--exit-zero").code == 0


@pytest.mark.parametrize("order", ["yi", "iy"])
def test_never_here_writes_a_comment_that_silences_this_one(project, order):
    project.write({"a.py": TWO})
    done = answered(project, order, "a.py")
    after = project.read("a.py").decode()
    assert after.count("# kdoctor: ignore[KD101]") == 1
    kept = "K.mean(x)  # kdoctor" if order == "yi" else "K.sum(x)  # kdoctor"
    assert kept in after
    assert "Fixed 1 finding; ignored 1; nothing is left." in done.out
    assert done.code == 0
    assert "called 2 times" in done.out
    for _ in range(2):
        assert project.kdoctor("fix", "--undo").code == 0
    assert project.read("a.py").decode() == TWO


@pytest.mark.parametrize("answers", ["yyy", "aaa", "yny", "nyn", "yyn"])
def test_fixes_one_inside_the_other_are_all_made(project, answers):
    project.write({"a.py": NESTED})
    answered(project, answers, "a.py")
    after = project.read("a.py").decode()
    for answer, name in zip(answers, ("sqrt", "sum", "square"), strict=True):
        assert (f"ops.{name}(" in after) is (answer in "ya")
        assert (f"K.{name}(" in after) is (answer == "n")


def test_quitting_writes_what_was_accepted_before(project):
    project.write({"a.py": TWO})
    answered(project, "yq", "a.py")
    assert "ops.sum(x)" in project.read("a.py").decode()
    assert "K.mean(x)" in project.read("a.py").decode()


@pytest.mark.parametrize("answers", ["", "q", "nn", "dd"])
def test_nothing_is_written_where_nothing_is_accepted(project, answers):
    project.write({"a.py": TWO})
    done = answered(project, answers, "a.py")
    assert project.read("a.py").decode() == TWO
    assert done.code == 1
    assert "Fixed 0 findings; left: 2 errors." in done.out
    assert "undoes" not in done.out


def test_what_is_no_answer_shows_what_can_be_answered(project):
    project.write({"a.py": TWO})
    done = answered(project, ["?", "what", "", "Yes", "no"], "a.py")
    assert done.out.count("i - ignore: never here") == 3
    assert "ops.sum(x)" in project.read("a.py").decode()


def test_no_unsafe_asks_about_safe_fixes_only(project):
    project.write({"a.py": UNSAFE})
    done = answered(project, "y", "a.py", "--no-unsafe")
    assert "Apply this fix" not in done.out
    assert project.read("a.py").decode() == UNSAFE
    assert "Apply this fix" in answered(project, "n", "a.py").out


def test_a_notebook_is_fixed_in_its_cells(project):
    cells = [HEAD, "K.sum(1)", "K.mean(1)"]
    project.write({"n.ipynb": project.notebook(*cells)})
    answered(project, "ny")
    after = project.read("n.ipynb").decode()
    assert "K.sum(1)" in after
    assert "ops.mean(1)" in after
    assert '"execution_count": 7' in after


WRONG = {
    "--verify": "cannot be combined",
    "--add-ignores": "cannot be combined",
    "--output x.json": "cannot be combined",
    "--format json": "cannot be combined",
    "--undo": "cannot be combined",
    "-": "reads answers from standard input",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_what_does_not_go_with_it_is_told(project, arguments):
    project.write({"a.py": TWO})
    done = answered(project, "y", *arguments.split())
    assert done.code == 2
    assert WRONG[arguments] in " ".join(done.err.split())
    assert project.read("a.py").decode() == TWO


def test_apply_says_the_same_again(project):
    project.write({"a.py": TWO})
    answered(project, "yy", "a.py", "--apply")
    assert "K." not in project.read("a.py").decode()
