"""What was found is used again where nothing that it was made of is another, and nowhere else."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

import kdoctor
from kdoctor import engine
from kdoctor.engine.cache import store, version
from kdoctor.engine.examine import Examiner
from kdoctor.engine.fixes.fixpoint import FixLoop
from kdoctor.modules import file_stamp

OLD = "from keras import backend as K\n\nx = K.sum(1)\n"
NEW = "from keras import ops as K\n\nx = K.sum(1)\n"
FILES = {
    "pyproject.toml": "",
    "train.py": OLD,
    "use.py": "from compat import K\n\nx = K.sum(1)\n",
    "compat.py": "from keras import backend as K\n",
    "clean.py": "import os\n",
}


@pytest.fixture
def examined(monkeypatch):
    """The paths that were examined, for want of a result."""
    paths = []
    scan = Examiner.scan

    def noted(self, task, data=None):
        paths.append(task.source.path)
        return scan(self, task, data)

    monkeypatch.setattr(Examiner, "scan", noted)
    return paths


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, FILES)
    return tmp_path


@pytest.fixture
def settled(monkeypatch):
    """All that was written is old enough for its times to tell of it."""
    monkeypatch.setattr(file_stamp, "_SETTLES", -(10**18))


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def scan(*paths, **options):
    how = {"cache": True, "jobs": 1, "target": "keras==3.15.1"} | options
    return engine.scan(paths or ["."], **how)


def both(**options):
    """Scan with the cache and without it."""
    return scan(**options), scan(**options, cache=False)


def files_of(project):
    return [each for each in (project / ".kdoctor_cache" / "scan").iterdir() if "-" in each.name]


@pytest.mark.usefixtures("project")
def test_a_second_scan_examines_nothing_and_says_the_same(examined):
    first = scan()
    assert {finding.place.path for finding in first.findings} == {"train.py", "use.py"}
    examined.clear()
    assert scan() == first
    assert not examined


@pytest.mark.usefixtures("project", "settled")
def test_what_settled_is_not_even_read(examined, monkeypatch):
    first = scan()
    scan()  # the cache itself is new in the folder
    monkeypatch.setattr("kdoctor.modules.prefilter.file_state", None)
    monkeypatch.setattr("kdoctor.engine.cache.cache.state_of", None)
    examined.clear()
    assert scan() == first
    assert not examined


def test_nothing_is_kept_unless_it_is_asked_for(project):
    kdoctor.scan(["."], target="keras==3.15.1")
    assert not (project / ".kdoctor_cache").exists()


@pytest.mark.usefixtures("project")
def test_a_scan_without_a_cache_does_not_ask_in_which_state_files_are(monkeypatch):
    """To make a state takes longer than to look."""
    digest, made = file_stamp.digest, []

    def noted(data):
        made.append(data)
        return digest(data)

    monkeypatch.setattr(file_stamp, "digest", noted)
    without = scan(cache=False)
    assert {finding.place.path for finding in without.findings} == {"train.py", "use.py"}
    assert not made
    assert scan() == without
    assert OLD.encode() in made


def test_an_edit_is_seen_however_soon_it_comes(project):
    scan()
    stat = (project / "train.py").stat()
    (project / "train.py").write_text(OLD.replace("sum", "dot"))  # of the same size
    os.utime("train.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    one, other = both()
    assert one == other
    assert "keras.backend.dot" in {finding.symbol for finding in one.findings}


@pytest.mark.usefixtures("settled")
def test_new_times_alone_change_nothing_and_are_taken_down(project, examined, monkeypatch):
    first = scan()
    for path in project.glob("*.py"):
        os.utime(path, ns=(1, 1))
    examined.clear()
    assert scan() == first
    monkeypatch.setattr("kdoctor.engine.cache.cache.state_of", None)
    assert scan() == first
    assert not examined


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "compat.py").write_text("from keras import ops as K\n"),
        lambda folder: (folder / "compat.py").unlink(),
        lambda folder: write(folder, {"compat/__init__.py": "K = None\n"}),
        lambda folder: (folder / "compat.py").rename(folder / "other.py"),
        lambda folder: write(folder, {"keras.py": "backend = None\n"}),  # of no consequence
    ],
)
def test_a_change_of_what_a_file_imports_is_seen(project, change):
    before = scan()
    change(project)
    after, expected = both()
    assert after == expected
    assert after == scan()
    assert (after.findings != before.findings) is not (project / "keras.py").exists()


@pytest.mark.usefixtures("settled")
def test_a_file_that_begins_to_reach_keras_through_others_is_seen(project):
    write(project, {"a.py": "from b import K\nK.sum(1)\n", "b.py": "from c import K\n"})
    scan()
    write(project, {"c.py": "from keras import backend as K\n"})
    after, expected = both()
    assert after == expected
    assert "a.py" in {finding.place.path for finding in after.findings}


@pytest.mark.usefixtures("settled")
def test_only_what_depends_on_a_change_is_examined_again(project, examined):
    scan()
    examined.clear()
    write(project, {"compat.py": "from keras import ops as K\n"})
    scan()
    assert set(examined) == {"compat.py", "use.py"}


@pytest.mark.usefixtures("project")
def test_a_release_that_is_named_elsewhere_is_no_other_question(project, examined):
    requirements = project / "requirements.txt"
    requirements.write_text("keras==3.15.1\n")
    before = scan(target=None)
    examined.clear()
    requirements.write_text("numpy\nkeras==3.15.1\n")
    after = scan(target=None)
    assert examined == []
    assert after.findings == before.findings
    assert [before.target.source, after.target.source] == [f"requirements.txt:{n}" for n in (1, 2)]
    requirements.write_text("keras==2.15.0\n")
    assert not scan(target=None).findings
    assert examined


@pytest.mark.parametrize("settled_first", [True, False])
def test_who_takes_a_name_from_a_file_counts_in_what_its_fix_shows(
    project, examined, monkeypatch, settled_first
):
    """Also where times tell nothing yet."""
    if settled_first:
        monkeypatch.setattr(file_stamp, "_SETTLES", -(10**18))
    assert scan() == scan(cache=False)
    for text in (
        "from train import K\n",
        "from train import K  # again\n",
        "from train import x\n",
    ):
        write(project, {"other.py": text})
        examined.clear()
        assert scan() == scan(cache=False)
        # Another answer makes the file unknown, another text of who takes it does not.
        assert ("again" in text) == (examined.count("train.py") == 1)
        examined.clear()
        assert scan() == scan(cache=False)
        assert examined.count("train.py") == 1  # without the cache


@pytest.mark.usefixtures("project")
def test_another_question_gets_its_own_answer():
    answers = {
        "plain": {},
        "target": {"target": "keras==2.15"},
        "select": {"select": ["KD2"]},
        "diffs": {"diffs": False},
        "namespace": {"namespace": "tf.keras"},
        "no gate": {"gate": False},
    }
    first = {name: scan(**options) for name, options in answers.items()}
    for name, options in answers.items():
        assert scan(**options) == first[name] == scan(**options, cache=False), name


@pytest.mark.usefixtures("project")
def test_an_edit_of_kdoctor_itself_makes_all_of_it_unknown(examined, monkeypatch):
    scan()
    examined.clear()
    monkeypatch.setattr("kdoctor.engine.cache.location.version_key", lambda: "another")
    scan()
    assert "train.py" in examined


def test_the_version_is_that_of_every_file_of_kdoctor(tmp_path, monkeypatch):
    home = shutil.copytree(Path(version.__file__).parent, tmp_path / "kdoctor")
    monkeypatch.setattr(version, "_HOME", str(home))
    before = version.version_key()
    assert version.version_key() == before
    os.utime(home / "cache.py", ns=(1, 1))
    assert version.version_key() != before


@pytest.mark.parametrize(
    "harm",
    [
        lambda _: b"",
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"keras.backend.sum", b"keras.backend.mum"),
        lambda data: b"\x80\x04\x95" + data,
        lambda data: os.urandom(len(data)),
        lambda _: store._MAGIC + (0).to_bytes(4, "little"),
    ],
)
def test_a_harmed_file_is_made_anew(project, examined, harm):
    first = scan()
    (file,) = files_of(project)
    file.write_bytes(harm(file.read_bytes()))
    examined.clear()
    assert scan() == first
    assert examined
    examined.clear()
    assert scan() == first
    assert not examined


def test_a_sound_file_with_foreign_content_is_none(project):
    first = scan()
    (file,) = files_of(project)
    for payload in (b"\x90", b"\xc0", b"\x95\x00\x90\x90\x90\x90" + b"\x00", b"\x91" * 100_000):
        total = store.zlib.crc32(payload).to_bytes(4, "little")
        file.write_bytes(store._MAGIC + total + payload)
        assert scan() == first


def test_folders_where_the_cache_should_lie_stop_nobody(project, monkeypatch):
    first = scan(cache=False)
    (project / ".kdoctor_cache").write_text("a file, not a folder")
    assert scan() == first
    monkeypatch.setenv("KDOCTOR_CACHE_DIR", "/dev/null/nowhere")
    assert scan() == first
    monkeypatch.setenv("KDOCTOR_CACHE_DIR", "cache")
    scan()
    (file,) = (project / "cache" / "scan").glob("*-*")
    file.unlink()
    file.mkdir()
    assert scan() == first
    file.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(file)
        assert scan() == first


@pytest.mark.usefixtures("project")
def test_a_cache_that_cannot_be_written_stops_nobody(monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refused)
    assert scan() == scan(cache=False)


def test_a_write_that_fails_leaves_nothing_beside(project, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        scan()
    assert not files_of(project)


def test_runs_side_by_side_spoil_nothing(project):
    write(project, {f"m{number}.py": OLD for number in range(6)})
    expected = scan(cache=False)
    context = multiprocessing.get_context("fork")
    runs = [context.Process(target=_scan_halves, args=(number,)) for number in range(4)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert [each.exitcode for each in runs] == [0] * 4
    assert scan() == expected


def _scan_halves(number):
    for round_ in range(3):
        scan(*(f"m{each}.py" for each in range(6) if (each + number + round_) % 2))


@pytest.mark.usefixtures("project")
def test_what_two_runs_found_is_kept_from_both(examined):
    scan("train.py")
    scan("use.py")
    examined.clear()
    scan("train.py", "use.py")
    assert not examined


def test_what_fails_is_tried_again_and_what_is_no_python_is_known(project, examined, monkeypatch):
    write(project, {"bad.py": "import keras\nprint 'old'\n"})
    first = scan()
    assert [each.path for each in first.unreadable] == ["bad.py"]
    examined.clear()
    assert scan() == first
    assert not examined
    write(project, {"bad.py": "import keras\n"})
    assert not scan().unreadable

    def broken(*_, **__):
        raise ZeroDivisionError

    write(project, {"bad.py": "import keras\nx = 1\n"})
    with monkeypatch.context() as patched:
        patched.setattr(Examiner, "examine", broken)
        assert scan().unreadable
    assert not scan().unreadable


def test_what_is_gone_or_not_used_is_left_out(project, monkeypatch):
    def known():
        snapshot = store.Store(project / ".kdoctor_cache", files_of(project)[0].name).read()
        return {Path(snapshot.paths[row.path]).name for row in snapshot.facts}

    write(project, {"old/later.py": OLD})
    scan()
    assert "later.py" in known()
    (project / "old" / "later.py").unlink()
    now = time.time()
    monkeypatch.setattr(store.time, "time", lambda: now + 2 * 86_400)
    scan("train.py")
    assert {"train.py", "clean.py"} <= known()
    assert "later.py" not in known()
    monkeypatch.setattr(store.time, "time", lambda: now + 20 * 86_400)
    scan("train.py")
    assert "train.py" in known()
    assert "clean.py" not in known()


def test_old_files_of_other_versions_and_of_killed_runs_go(project, monkeypatch):
    scan()
    folder = project / ".kdoctor_cache" / "scan"
    for name in ("old-version", "x-y.0123.tmp"):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, ns=(0, 0))
    now = time.time()
    monkeypatch.setattr(store.time, "time", lambda: now + 86_400)
    scan()
    assert {each.name for each in folder.iterdir()} == {"CACHEDIR.TAG", files_of(project)[0].name}


def test_git_and_backups_pass_over_it(project):
    scan()
    assert (project / ".kdoctor_cache" / ".gitignore").read_text().endswith("\n*\n")
    tag = (project / ".kdoctor_cache" / "scan" / "CACHEDIR.TAG").read_text()
    assert tag.startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_settings_and_the_environment_say_where_it_lies(project, monkeypatch):
    write(project, {"kdoctor.toml": "cache-dir = '.own'\n"})
    scan()
    assert (project / ".own" / "scan").is_dir()
    monkeypatch.setenv("KDOCTOR_CACHE_DIR", str(project / "other"))
    scan()
    assert (project / "other" / "scan").is_dir()
    assert not (project / ".kdoctor_cache").exists()


@pytest.mark.usefixtures("project", "examined")
def test_standard_input_is_never_kept():
    for text in (OLD, NEW, OLD):
        how = {"stdin": text.encode(), "stdin_filename": "train.py"}
        assert scan("-", **how) == scan("-", **how, cache=False)
    assert scan() == scan(cache=False)


def test_text_that_is_half_a_character_is_found_all_the_same(project):
    (project / "train.py").write_bytes(b"# -*- coding: latin-1 -*-\n# \xe9\n" + OLD.encode())
    one, other = both()
    assert one == other == scan()


@pytest.mark.usefixtures("project")
def test_a_fix_passes_over_what_needs_none_and_does_all_the_rest(monkeypatch):
    how = {"target": "keras==3.15.1", "jobs": 1}
    expected = engine.fix(["."], **how)
    fixed = []
    fix = FixLoop.fix
    monkeypatch.setattr(
        FixLoop, "fix", lambda self, task, *rest: fixed.append(task) or fix(self, task, *rest)
    )
    for _ in range(2):
        fixed.clear()
        assert engine.fix(["."], cache=True, **how) == expected
    assert {task.source.path for task in fixed} == {file.path for file in expected.files}
    engine.fix(["."], cache=True, apply=True, **how)
    assert not engine.fix(["."], cache=True, **how).files
    one, other = both()
    assert one == other


@pytest.mark.usefixtures("project")
def test_comments_are_added_with_the_cache_as_without_it():
    how = {"target": "keras==3.15.1", "jobs": 1, "add_ignores": "later"}
    scan()
    expected = engine.fix(["."], **how)
    assert expected.files
    assert engine.fix(["."], cache=True, **how) == expected == engine.fix(["."], cache=True, **how)


@pytest.mark.usefixtures("project")
def test_fixes_without_their_edits_are_told_alike_and_kept_apart():
    whole, bare = scan(), scan(edits=False)
    assert bare == scan(edits=False) == scan(edits=False, cache=False)
    assert scan() == whole
    (full,), (kept,) = whole.findings[:1], bare.findings[:1]
    assert full.fix.edits
    assert kept.fix == replace(full.fix, edits=(), imports=(), drops=())
    assert replace(kept, fix=full.fix) == full


def test_a_file_or_folder_whose_name_is_no_utf_8_costs_the_others_nothing(project, examined):
    odd = [os.fsdecode(b"\xff.py"), os.fsdecode(b"\xe9t\xe9/train.py")]
    try:
        write(project, dict.fromkeys(odd, OLD))
    except OSError:
        pytest.skip("the file system takes no such name")
    first = scan()
    examined.clear()
    assert scan() == first == scan(cache=False)
    assert sorted(set(examined[: len(odd)])) == sorted(odd)
    assert {finding.place.path for finding in first.findings} == {"train.py", "use.py", *odd}
