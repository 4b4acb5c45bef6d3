"""``kdoctor scan --diff COMMIT`` reports what stands on the lines that a branch changes."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kdoctor.errors import UsageProblem
from kdoctor.project.changed_lines import ChangedLines

HEAD = "from keras import backend as K\n\n\n"
OLD = f"{HEAD}def total(x):\n    return K.sum(x)\n"
NEW = f"{OLD}\n\ndef mean(x):\n    return K.mean(x)\n"
FOREIGN = "from keras import backend as K\n\nK.get_session()\n"


def found(project, *arguments):
    """Return the lines of the findings by file, and what is noted besides."""
    done = project.kdoctor("scan", "--format", "concise", *arguments)
    places = [line.split(":")[:2] for line in done.out.splitlines()]
    return [(path, int(line)) for path, line in places], done


@pytest.fixture
def branch(project):
    """A branch of a project, which goes on where main went on as well."""
    project.write({"a.py": OLD})
    project.write({"b.py": FOREIGN})
    project.committed()
    project.git("branch", "main-line")
    project.git("checkout", "--quiet", "-b", "work")
    return project


def test_only_changed_lines_are_reported(branch):
    branch.write({"a.py": NEW})
    places, done = found(branch, "--diff", "main-line")
    assert places == [("a.py", 9)]
    assert done.code == 1
    base = branch.git("rev-parse", "main-line")[:9]
    assert done.err.endswith(
        f"kdoctor: only lines changed since main-line ({base}) are reported; "
        "not shown: 2 findings elsewhere; `kdoctor fix` goes by files, not by lines\n"
    )


@pytest.mark.parametrize("how", ["committed", "staged", "not staged", "untracked"])
def test_it_does_not_matter_how_far_a_change_has_come(branch, how):
    name = "new.py" if how == "untracked" else "a.py"
    branch.write({name: NEW})
    if how != "untracked":
        assert found(branch, "--diff", "main-line")[0] == [("a.py", 9)]
    if how in ("staged", "committed"):
        branch.git("add", ".")
    if how == "committed":
        branch.git("commit", "--quiet", "--message", "more")
    lines = [5, 9] if how == "untracked" else [9]
    assert found(branch, "--diff", "main-line")[0] == [(name, line) for line in lines]


def test_what_the_other_branch_did_meanwhile_is_none_of_it(branch):
    branch.git("checkout", "--quiet", "main-line")
    branch.write({"b.py": "import os\n"})
    branch.git("commit", "--quiet", "--all", "--message", "theirs")
    branch.git("checkout", "--quiet", "work")
    places, done = found(branch, "--diff", "main-line")
    assert places == []
    assert done.code == 0


def test_a_notebook_is_compared_as_it_is_stored(branch):
    cells = [HEAD, "K.sum(1)", "K.mean(1)"]
    branch.write({"n.ipynb": branch.notebook(*cells[:2])})
    branch.git("add", ".")
    branch.git("commit", "--quiet", "--message", "notebook")
    branch.write({"n.ipynb": branch.notebook(*cells)})
    done = branch.kdoctor("scan", "--format", "jsonl", "--diff", "HEAD")
    assert '"line": 1, "column": 1' in done.out
    assert "K.mean" in done.out
    assert "K.sum" not in done.out


def test_a_folder_below_the_repository_and_odd_names_are_found(branch):
    for name in ("with space.py", 'quo"te.py', "é.py", "tab\t.py", "sub/deep.py"):
        branch.write({name: OLD})
    branch.git("add", ".")
    branch.git("commit", "--quiet", "--message", "odd")
    for name in ("with space.py", 'quo"te.py', "é.py", "tab\t.py", "sub/deep.py"):
        branch.write({name: NEW})
    done = branch.kdoctor("scan", "--format", "jsonl", "--diff", "HEAD")
    assert done.out.count('"code": "KD1') == 5
    assert found(branch, "--diff", "HEAD", "sub")[0] == [("sub/deep.py", 9)]


def test_a_file_that_cannot_be_read_is_told_where_it_changed(branch):
    branch.write({"broken.py": f"{HEAD}K.sum(\n"})
    assert branch.kdoctor("scan", "--diff", "main-line").code == 2
    branch.git("add", ".")
    branch.git("commit", "--quiet", "--message", "broken")
    done = branch.kdoctor("scan", "--diff", "HEAD")
    assert done.code == 0
    assert "1 file that could not be read" in done.err


def test_what_a_baseline_knows_stays_known(branch):
    branch.write({"a.py": NEW})
    assert branch.kdoctor("baseline", "write").code == 0
    assert found(branch, "--diff", "main-line", "--baseline", ".kdoctor-baseline.json")[0] == []


WRONG = {
    ("--diff", "nowhere"): "--diff nowhere: git knows no such commit here",
    ("--diff", "main-line..HEAD"): "name one commit, not a range",
    ("--diff", "--version"): "--diff",
    ("--diff", "main-line", "-"): "--diff needs files",
}


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_a_wrong_use_is_one_clear_sentence(branch, arguments):
    done = branch.kdoctor("scan", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert WRONG[arguments] in done.err


def test_outside_of_a_repository_it_says_so(project):
    project.write({"a.py": OLD})
    done = project.kdoctor("scan", "--diff", "main")
    assert done.code == 2
    assert "not a git repository" in done.err


def test_a_project_with_findings_elsewhere_is_not_told_that_only_its_pins_are_left(branch):
    branch.write({"requirements.txt": "keras==2.2.4\n"})
    options = ("--target", "keras==3.15.1", "--ignore", "KD712")
    done = found(branch, "--diff", "main-line", *options)[1]
    assert done.code == 0
    assert "keeps the project" not in done.err


def test_branches_without_a_common_commit_are_told(branch):
    branch.git("checkout", "--quiet", "--orphan", "alone")
    branch.git("commit", "--quiet", "--message", "alone")
    with pytest.raises(UsageProblem, match="no commit where HEAD parted"):
        ChangedLines.since("main-line", branch.folder)


SETTINGS = {
    "context between hunks": ("diff.interHunkContext", "10"),
    "another order": ("diff.orderFile", "nowhere"),
    "no prefix": ("diff.noprefix", "true"),
    "another program": ("diff.external", "false"),
    "colours": ("color.ui", "always"),
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_what_git_is_set_to_changes_nothing(branch, setting):
    body = "\n".join(f"x{n} = K.sum({n})" for n in range(9))
    for name in ("c.py", "d.py"):
        branch.write({name: HEAD + body})
    branch.git("add", ".")
    branch.git("commit", "--quiet", "--message", "long")
    changed = body.replace("sum(2)", "mean(2)").replace("sum(6)", "mean(6)")
    for name in ("c.py", "d.py"):
        branch.write({name: HEAD + changed})
    branch.git("config", *setting)
    expected = [(name, line) for name in ("c.py", "d.py") for line in (6, 10)]
    assert found(branch, "--diff", "HEAD")[0] == expected


@pytest.mark.parametrize("attribute", ["-diff", "binary"])
def test_what_attributes_call_no_text_is_compared(branch, attribute):
    branch.write({".gitattributes": f"*.py {attribute}\n", "a.py": NEW})
    assert found(branch, "--diff", "main-line")[0] == [("a.py", 9)]


def test_a_file_that_only_has_another_name_has_no_new_lines(branch):
    branch.git("mv", "a.py", "moved.py")
    assert found(branch, "--diff", "main-line")[0] == []
    branch.write({"moved.py": NEW})
    assert found(branch, "--diff", "main-line")[0] == [("moved.py", 9)]


def test_a_file_that_git_ignores_is_new_where_it_is_named(branch):
    branch.write({".gitignore": "own.py\n", "own.py": OLD})
    assert found(branch, "--diff", "main-line")[0] == []
    assert found(branch, "--diff", "main-line", "own.py")[0] == [("own.py", 5)]


def test_what_lies_in_another_repository_is_told(branch):
    branch.write({"inner/a.py": OLD})
    branch.git("init", "--quiet", "inner")
    done = found(branch, "--diff", "main-line")[1]
    assert done.code == 0
    assert "and 1 finding in another repository, as inner/a.py" in done.err
    assert found(branch, "--diff", "main-line", "a.py")[1].code == 0


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "@@ -1 +1 @@", "+++ b/x", "--- a/x"]))


@settings(max_examples=25, deadline=None)
@given(old=LINES, new=LINES, ending=st.sampled_from(["", "\n"]))
def test_lines_that_did_not_change_stand_in_the_old_file_in_the_same_order(
    tmp_path_factory, old, new, ending
):
    folder = tmp_path_factory.mktemp("repository")
    file = folder / "x"

    def git(*arguments):
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)

    git("init", "--quiet")
    file.write_text("\n".join(old) + ending)
    git("add", ".")
    git("commit", "--quiet", "--message", "old")
    file.write_text("\n".join(new) + ending)
    changed = ChangedLines.since("HEAD", folder)
    text = file.read_text().splitlines()
    same = [each for n, each in enumerate(text, 1) if not changed.touch(str(file), n, n)]
    before = iter(("\n".join(old) + ending).splitlines())
    assert all(any(each == line for line in before) for each in same)
    assert changed.has(str(file)) == ("\n".join(old) != "\n".join(new))
