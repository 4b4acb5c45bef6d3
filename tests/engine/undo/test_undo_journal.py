"""An apply is taken back, step by step, and never over what was written since."""

import json
import os
import shutil
from pathlib import Path

import pytest

from kdoctor import fix
from kdoctor.engine import undo, write
from kdoctor.engine.fixes.undo_folder import UndoProject, journals_of_user
from kdoctor.errors import UsageProblem
from tests.engine.undo.applied import OLD, apply, contents, journals


def test_what_was_applied_is_taken_back(folder: Path) -> None:
    before = contents(folder)
    apply()
    assert contents(folder) != before

    undone = undo(["."])
    assert undone.restored == ("src/a.py", "src/b.py")
    assert not undone.left_alone
    assert contents(folder) == before
    with pytest.raises(UsageProblem, match="there is no `kdoctor fix --apply` to undo in"):
        undo(["."])


def test_several_are_taken_back_one_by_one(folder: Path) -> None:
    states = [contents(folder)]
    for _ in range(3):
        apply()
        (folder / "src" / "a.py").write_text((folder / "src" / "a.py").read_text() + OLD)
        states.append(contents(folder))
    (folder / "src" / "a.py").write_text(states[-1]["a.py"].removesuffix(OLD))

    assert undo(["src"]).earlier == 2
    assert contents(folder) == states[2]
    (folder / "src" / "a.py").write_text(states[2]["a.py"].removesuffix(OLD))
    assert undo(["src/a.py"]).earlier == 1
    assert contents(folder) == states[1]


def test_a_file_that_was_changed_since_is_left_and_what_it_was_is_named(folder: Path) -> None:
    apply()
    (folder / "src" / "a.py").write_text("mine = 1\n")
    (folder / "src" / "b.py").unlink()

    undone = undo(["."])
    assert not undone.restored
    assert [each.path for each in undone.left_alone] == ["src/a.py", "src/b.py"]
    assert (folder / "src" / "a.py").read_text() == "mine = 1\n"
    kept = undone.left_alone[0].why.rpartition(" ")[2]
    assert Path(kept).read_text() == OLD
    assert undone.left_alone[1].why.startswith("it no longer exists")
    with pytest.raises(UsageProblem):
        undo(["."])


@pytest.mark.skipif(os.name == "nt", reason="mode bits")
def test_the_mode_and_the_link_are_kept(folder: Path) -> None:
    (folder / "src" / "a.py").chmod(0o755)
    (folder / "script").symlink_to("src/a.py")
    result = fix(["script"], kind="python", apply=True, jobs=1)
    assert [file.path for file in result.files] == ["script"]
    undo(["."])

    assert (folder / "script").is_symlink()
    assert (folder / "src" / "a.py").read_text() == OLD
    assert (folder / "src" / "a.py").stat().st_mode & 0o777 == 0o755


def test_the_journal_lies_with_the_user_and_not_in_the_project(folder: Path) -> None:
    apply()

    assert {path.name for path in folder.iterdir()} == {"pyproject.toml", "src"}
    assert journals(folder).stat().st_mode & 0o777 == 0o700
    assert journals_of_user().stat().st_mode & 0o777 == 0o700


def test_a_moved_project_is_still_taken_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply()
    moved = folder.with_name(folder.name + "-moved")
    shutil.move(folder, moved)
    monkeypatch.chdir(moved)

    assert undo(["."]).restored == ("src/a.py", "src/b.py")
    assert (moved / "src" / "a.py").read_text() == OLD


def test_a_moved_project_with_a_file_changed_since_is_taken_back_but_for_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply("src/a.py")
    apply("src/b.py")
    moved = folder.with_name(folder.name + "-moved")
    shutil.move(folder, moved)
    monkeypatch.chdir(moved)
    (moved / "src" / "b.py").write_text("mine = 1\n")

    assert [each.path for each in undo(["."]).left_alone] == ["src/b.py"]
    assert undo(["."]).restored == ("src/a.py",)
    assert (moved / "src" / "a.py").read_text() == OLD


@pytest.mark.parametrize("content", [None, "mine = 1\n", OLD])
def test_a_new_project_with_the_inode_of_a_deleted_one_has_nothing_to_take_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    apply()
    deleted = UndoProject.at(folder)
    new = folder.with_name(folder.name + "-new")
    (new / "src").mkdir(parents=True)
    (new / "pyproject.toml").touch()
    if content is not None:
        (new / "src" / "a.py").write_text(content)
    shutil.rmtree(folder)
    monkeypatch.chdir(new)
    monkeypatch.setattr(
        UndoProject,
        "at",
        lambda root: UndoProject(os.path.realpath(root), deleted.device, deleted.inode),
    )

    with pytest.raises(UsageProblem, match="there is no `kdoctor fix --apply` to undo in"):
        undo(["."])
    # What is applied here goes into a journal of its own.
    (new / "src" / "c.py").write_text(OLD)
    fix(["src/c.py"], apply=True, jobs=1)
    assert len(list(journals(new).iterdir())) == 1
    assert undo(["."]).restored == ("src/c.py",)


def test_the_journal_lies_where_the_project_begins(folder: Path, monkeypatch) -> None:
    monkeypatch.chdir(folder / "src")
    apply("a.py")
    assert journals(folder).is_dir()
    assert undo(["."]).restored == ("a.py",)

    (folder / "pyproject.toml").unlink()
    monkeypatch.chdir(folder)
    shutil.rmtree(journals(folder))
    apply("src/a.py")
    assert journals(folder).is_dir()


def test_nothing_is_kept_where_nothing_is_written(folder: Path) -> None:
    fix(["."], jobs=1)
    shutil.rmtree(folder / "src")
    (folder / "c.py").write_text("x = 1\n")
    fix(["."], apply=True, jobs=1)

    assert not journals(folder).exists()


def test_only_the_last_twenty_are_kept(folder: Path) -> None:
    for _ in range(22):
        (folder / "src" / "a.py").write_text(OLD)
        apply("src/a.py")

    assert len(list((journals(folder)).iterdir())) == 20
    assert undo(["."]).earlier == 19


@pytest.mark.parametrize("damage", ["", '{"applied"', "[]\n", '{"applied": "2026-01-01"}\n', "cut"])
def test_a_damaged_journal_is_passed_over(folder: Path, damage: str) -> None:
    apply("src/a.py")
    apply("src/b.py")
    last = max((journals(folder)).iterdir())
    lines = last / "journal.jsonl"
    head = lines.read_text().splitlines(keepends=True)[0]
    lines.write_text(f'{head}{{"pa' if damage == "cut" else damage)

    if damage == "cut":  # of the last file nothing had been written yet
        assert undo(["."]).restored == ()
    assert undo(["."]).restored == ("src/a.py",)


def test_without_a_journal_the_files_are_written_all_the_same(folder: Path) -> None:
    journals(folder).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    journals(folder).write_text("in the way")
    result = fix(["."], apply=True, jobs=1)

    assert "File exists" in result.no_undo
    assert str(journals(folder)) in result.no_undo
    assert "ops.sum" in (folder / "src" / "a.py").read_text()


def test_a_file_that_cannot_be_written_keeps_its_findings(folder: Path) -> None:
    before = fix(["."], jobs=1)
    (folder / "src" / "a.py").chmod(0o444)
    result = write(before)

    assert [file.path for file in result.files] == ["src/b.py"]
    assert [each.path for each in result.left_alone] == ["src/a.py"]
    of_a = [each for each in before.found.findings if each.place.path == "src/a.py"]
    assert list(result.left.findings) == of_a
    assert all(each.place in result.left.lines for each in of_a)
    assert undo(["."]).restored == ("src/b.py",)


def test_an_apply_that_could_write_nothing_does_not_stand_before_the_one_that_could(
    folder: Path,
) -> None:
    apply("src/b.py")
    (folder / "src" / "a.py").chmod(0o444)
    assert fix(["src/a.py"], apply=True, jobs=1).files == ()
    assert undo(["."]).restored == ("src/b.py",)


def test_other_hard_links_are_named(folder: Path) -> None:
    os.link(folder / "src" / "a.py", folder / "elsewhere")
    result = apply()

    assert result.split == ("src/a.py",)
    assert (folder / "elsewhere").read_text() == OLD


def test_an_interrupt_between_two_files_is_told_and_can_be_taken_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(folder)
    result = fix(["."], jobs=1)
    real = os.replace

    def interrupted(*arguments, **options):
        import signal  # noqa: PLC0415

        signal.raise_signal(signal.SIGINT)
        return real(*arguments, **options)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt, match="1 of 2 files were written, the others are"):
        write(result)
    monkeypatch.setattr(os, "replace", real)

    changed = [name for name, text in contents(folder).items() if text != before[name]]
    assert changed == ["a.py"]
    lines = (journals(folder) / "000001" / "journal.jsonl").read_text().splitlines()
    assert [json.loads(line).get("path") for line in lines] == [None, "src/a.py"]
    undo(["."])
    assert contents(folder) == before


def test_an_undo_outlasts_the_cache(folder: Path) -> None:
    fix(["."], apply=True, jobs=1, cache=True)
    shutil.rmtree(folder / ".kdoctor_cache")
    assert undo(["."]).restored == ("src/a.py", "src/b.py")
