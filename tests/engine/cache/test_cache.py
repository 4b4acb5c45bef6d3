"""What was found is used again where nothing that it was made of is another, and nowhere else."""

from __future__ import annotations

import os

import pytest
from msgspec.structs import replace

import kdoctor
from kdoctor import engine
from kdoctor.engine.examine import Examiner
from kdoctor.engine.fixes.fixpoint import FixLoop
from kdoctor.modules import file_stamp
from tests.engine.cache.cached_scans import NEW, OLD, both, scan, write


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
        "backend": {"backend": "jax"},
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
