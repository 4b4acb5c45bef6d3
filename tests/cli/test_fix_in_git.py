"""What an apply says about files whose content git could not bring back, and how it is undone."""

import shlex

import pytest

OLD = "from keras import backend as K\n\n\ndef loss(a, b):\n    return K.sum(a * b)\n"
WARNING = "changes not committed to git"


@pytest.fixture
def repository(project):
    project.write({"a.py": OLD, "b.py": OLD, ".gitignore": "ignored.py\n"})
    return project.committed()


def test_an_apply_to_what_is_committed_is_silent_and_undone_step_by_step(repository) -> None:
    done = repository.kdoctor("fix", "--apply")
    assert done.code == 0
    assert WARNING not in done.err
    assert "`kdoctor fix --undo` undoes it." in done.err
    assert repository.git("status", "--porcelain").split() == ["M", "a.py", "M", "b.py"]

    # What the last apply left is not the user's own.
    first = repository.read("a.py")
    assert WARNING not in repository.kdoctor("fix", "--apply", "--namespace", "tf.keras").err
    assert repository.read("a.py") != first
    undone = repository.kdoctor("fix", "--undo")
    assert (undone.code, undone.out) == (0, "restored a.py\nrestored b.py\n")
    assert "`kdoctor fix --undo` undoes the one before it (1 left)." in undone.err
    assert repository.read("a.py") == first
    assert repository.kdoctor("fix", "--undo", "-q").code == 0
    assert not repository.git("status", "--porcelain")


def test_what_lies_elsewhere_is_taken_back_as_it_is_told(repository, tmp_path_factory) -> None:
    elsewhere = tmp_path_factory.mktemp("other code")
    (elsewhere / "a.py").write_text(OLD)
    (elsewhere / "b.py").write_text(OLD)
    for name in ("a.py", "b.py"):
        done = repository.kdoctor("fix", "--apply", str(elsewhere / name))
    (told,) = (line for line in done.err.splitlines() if "--undo" in line)
    command = shlex.split(told.split("`")[1])
    assert command[:3] == ["kdoctor", "fix", "--undo"]
    undone = repository.kdoctor(*command[1:])
    assert f"`{shlex.join(command)}` undoes the one before it" in undone.err
    assert repository.kdoctor(*command[1:]).code == 0
    assert (elsewhere / "a.py").read_text() == (elsewhere / "b.py").read_text() == OLD


def test_changes_that_are_nowhere_else_are_named_in_a_line(repository) -> None:
    changed = dict.fromkeys(("a.py", "new.py", "ignored.py"), OLD + "# mine\n")
    repository.write(changed)
    done = repository.kdoctor("fix", "a.py", "b.py", "new.py", "ignored.py", "--apply")

    assert done.code == 0
    (line,) = (line for line in done.err.splitlines() if WARNING in line)
    assert line.startswith("kdoctor: 2 files to be written have changes")
    assert "(a.py, new.py)" in line
    repository.write({"b.py": "x = 1\n"})
    undone = repository.kdoctor("fix", "--undo")
    assert undone.code == 2
    assert (
        "b.py: left alone: it was changed after the fix; its previous content is in" in undone.err
    )
    assert all(repository.read(name) == text.encode() for name, text in changed.items())


def test_what_is_staged_is_in_git_and_other_changes_are_no_matter(repository) -> None:
    repository.write({"a.py": OLD + "# mine\n", "notes.txt": "x\n"})
    repository.git("add", "a.py")

    assert WARNING not in repository.kdoctor("fix", "--apply").err


def test_in_a_hook_of_git_the_same_is_said(repository) -> None:
    # As git tells a hook, where the work tree is linked to another's repository.
    top = repository.folder / ".git"
    repository.write({"src/c.py": OLD}).git("add", ".")
    hook = {"GIT_DIR": str(top), "GIT_INDEX_FILE": str(top / "index"), "GIT_PREFIX": ""}
    assert WARNING not in repository.kdoctor("fix", "src", "--apply", env=hook).err


def test_nothing_of_the_repository_is_run(repository) -> None:
    repository.write({"hook.sh": "#!/bin/sh\ntouch ran\n"})
    (repository.folder / "hook.sh").chmod(0o755)
    repository.git("config", "core.fsmonitor", "./hook.sh")
    repository.kdoctor("fix", "--apply")

    assert not (repository.folder / "ran").exists()


def test_undo_says_in_a_sentence_what_it_cannot_do(project) -> None:
    project.write({"a.py": OLD})

    nothing = project.kdoctor("fix", "--undo")
    assert nothing.code == 2
    assert nothing.err.startswith("kdoctor: there is no `kdoctor fix --apply` to undo in")
    assert project.kdoctor("fix", "--undo", "--apply").code == 2
    assert project.kdoctor("fix", "--undo", "-").code == 2
