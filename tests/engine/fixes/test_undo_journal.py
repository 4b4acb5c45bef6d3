"""An apply is taken back, step by step, and never over what was written since."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from kdoctor import fix
from kdoctor.engine import uncommitted_files, undo, write
from kdoctor.engine.fixes.undo_folder import UndoProject, journals_of_user
from kdoctor.errors import UsageProblem
from kdoctor.project.git import not_in_git

OLD = "from keras import backend as K\n\n\ndef loss(a, b):\n    return K.sum(a * b)\n"
OTHER = OLD.replace("sum", "max")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(OLD)
    (tmp_path / "src" / "b.py").write_text(OTHER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def apply(path: str = "."):
    result = fix([path], apply=True, jobs=1)
    assert result.files
    assert not result.no_undo
    return result


def journals(folder: Path) -> Path:
    return journals_of_user() / UndoProject.at(folder).name


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("src/*.py")}


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


def test_an_undo_outlasts_the_cache(folder: Path) -> None:
    fix(["."], apply=True, jobs=1, cache=True)
    shutil.rmtree(folder / ".kdoctor_cache")
    assert undo(["."]).restored == ("src/a.py", "src/b.py")
