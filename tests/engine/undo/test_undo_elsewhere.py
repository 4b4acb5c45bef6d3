"""Nothing is taken back by a journal of others, or outside of the project whose journal it is."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from kdoctor import fix
from kdoctor.engine import uncommitted_files, undo, write
from kdoctor.errors import UsageProblem
from kdoctor.project.git import not_in_git
from tests.engine.undo.applied import OLD, apply, journals


@pytest.mark.usefixtures("folder")
def test_a_journal_that_is_somebody_elses_costs_the_apply_nothing_but_its_undo(monkeypatch) -> None:
    apply()
    listed = Path.iterdir

    def refused(path: Path):
        if path == journals(Path.cwd()):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", refused)
    Path("src/a.py").write_text(OLD)
    result = fix(["."], jobs=1)
    assert uncommitted_files(result) == not_in_git([file.path for file in result.files])
    assert write(result).no_undo.startswith("Permission denied")
    assert "K.sum" not in Path("src/a.py").read_text()


def test_a_journal_that_came_with_the_project_is_not_believed(
    folder: Path, tmp_path_factory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "settings"
    outside.write_text("mine\n")
    apply()
    # What kdoctor wrote of this very project, by the same user, changed and put into the project.
    planted = folder / ".kdoctor_cache" / "undo"
    shutil.copytree(journals(folder), planted)
    shutil.rmtree(journals(folder))
    lines = planted / "000001" / "journal.jsonl"
    head, *_ = lines.read_text().splitlines()
    after = hashlib.sha256(outside.read_bytes()).hexdigest()
    line = {"path": str(outside), "before": "0001", "after": after}
    lines.write_text(f"{head}\n{json.dumps(line)}\n")

    with pytest.raises(UsageProblem, match="there is no `kdoctor fix --apply` to undo"):
        undo(["."])
    assert outside.read_text() == "mine\n"


@pytest.mark.parametrize("way", ["absolute", "up", "link"])
def test_nothing_outside_of_the_project_is_written_back(
    folder: Path, tmp_path_factory, way: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.py").write_text("mine\n")
    apply("src/a.py")
    lines = journals(folder) / "000001" / "journal.jsonl"
    head, line = map(json.loads, lines.read_text().splitlines())
    line["after"] = hashlib.sha256(b"mine\n").hexdigest()
    if way == "link":
        shutil.rmtree(folder / "src")
        (folder / "src").symlink_to(outside)
    else:
        line["path"] = str(outside / "a.py")
        if way == "up":
            line["path"] = os.path.relpath(line["path"], folder)
    lines.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n")

    undone = undo(["."])
    assert not undone.restored
    assert "it points outside the project" in undone.left_alone[0].why
    assert (outside / "a.py").read_text() == "mine\n"


@pytest.mark.parametrize("way", ["absolute", "up", "link"])
def test_nothing_outside_of_a_moved_project_is_written_back(
    folder: Path, tmp_path_factory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.py").write_text("mine\n")
    apply()
    lines = journals(folder) / "000001" / "journal.jsonl"
    head, first, second = map(json.loads, lines.read_text().splitlines())
    first["after"] = hashlib.sha256(b"mine\n").hexdigest()
    moved = folder.with_name(folder.name + "-moved")
    shutil.move(folder, moved)
    monkeypatch.chdir(moved)
    if way == "link":
        (moved / "src" / "a.py").unlink()
        (moved / "src" / "a.py").symlink_to(outside / "a.py")
    else:
        first["path"] = str(outside / "a.py")
        if way == "up":
            first["path"] = os.path.relpath(first["path"], moved)
    lines.write_text("".join(f"{json.dumps(each)}\n" for each in (head, first, second)))

    undone = undo(["."])
    assert undone.restored == ("src/b.py",)  # by it the project is known
    assert "it points outside the project" in undone.left_alone[0].why
    assert (outside / "a.py").read_text() == "mine\n"


def test_a_project_is_not_known_by_files_outside_of_it(
    folder: Path, tmp_path_factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "a.py"
    outside.write_text("mine\n")
    apply("src/a.py")
    lines = journals(folder) / "000001" / "journal.jsonl"
    head, line = map(json.loads, lines.read_text().splitlines())
    line |= {"path": str(outside), "after": hashlib.sha256(b"mine\n").hexdigest()}
    lines.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n")
    moved = folder.with_name(folder.name + "-moved")
    shutil.move(folder, moved)
    monkeypatch.chdir(moved)

    with pytest.raises(UsageProblem, match="there is no `kdoctor fix --apply` to undo"):
        undo(["."])
    assert outside.read_text() == "mine\n"


def test_a_link_that_leads_elsewhere_since_the_project_moved_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = folder.with_name(f"{folder.name}-shared.py")
    shared.write_text(OLD)
    (folder / "shared.py").symlink_to(f"../{shared.name}")
    apply("shared.py")
    apply("src")
    other = folder.parent / "deeper" / shared.name
    moved = other.parent / folder.name
    other.parent.mkdir()
    shutil.move(folder, moved)
    shutil.copy(shared, other)  # of another project, and the same as what was left in the first
    fixed = other.read_text()
    monkeypatch.chdir(moved)

    assert undo(["."]).restored == ("src/a.py", "src/b.py")
    with pytest.raises(UsageProblem):
        undo(["."])
    assert other.read_text() == shared.read_text() == fixed


def test_a_link_out_of_the_project_that_was_named_is_taken_back(
    folder: Path, tmp_path_factory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "shared.py"
    outside.write_text(OLD)
    (folder / "shared.py").symlink_to(outside)
    apply("shared.py")
    assert outside.read_text() != OLD

    assert undo(["."]).restored == ("shared.py",)
    assert outside.read_text() == OLD


def test_another_project_that_takes_the_place_of_one_has_nothing_to_take_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply()
    aside = folder.with_name(f"{folder.name}-aside")
    folder.rename(aside)
    other = folder.with_name(f"{folder.name}-other")
    shutil.copytree(aside, other)
    monkeypatch.chdir(other)
    with pytest.raises(UsageProblem):
        undo(["."])

    monkeypatch.chdir(aside)
    assert undo(["."]).restored == ("src/a.py", "src/b.py")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no mode bits here")
def test_journals_into_which_others_may_write_are_not_believed(folder: Path) -> None:
    apply()
    journals(folder).chmod(0o777)
    with pytest.raises(UsageProblem):
        undo(["."])

    (folder / "src" / "a.py").write_text(OLD)
    result = fix(["src/a.py"], apply=True, jobs=1)
    assert "Other users can write" in result.no_undo
    journals(folder).chmod(0o700)
