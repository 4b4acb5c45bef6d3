"""What is broken in one project of a repository is named once, and the others go on."""

import json

import pytest

OLD = "from keras import backend as K\nK.sum(1)\n"
BASELINE = ".kdoctor-baseline.json"


@pytest.fixture
def monorepo(project):
    """Two projects side by side, and the folder of the repository above them."""
    project.write(
        {
            "pyproject.toml": "[tool.kdoctor]\ntarget = 'keras==3.15.1'\n",
            "one/a.py": OLD,
            "two/a.py": OLD,
            "two/deep/b.py": OLD,
        }
    )
    (project.folder / ".git").mkdir()
    return project


BROKEN = [
    ("two/kdoctor.toml", "select = [\n", "two/kdoctor.toml: "),
    ("two/kdoctor.toml", "select = ['KD999']\n", "two/kdoctor.toml: line 1: select: "),
    ("two/kdoctor.toml", "surely = 1\n", "two/kdoctor.toml: line 1: unknown setting 'surely'"),
    ("two/kdoctor.toml", "target = 'keras==99'\n", "two/kdoctor.toml: line 1: "),
    ("two/kdoctor.toml", "exclude = ['[z-a]']\n", "two/kdoctor.toml: line 1: exclude: "),
    ("two/kdoctor.toml", "extend = 'gone.toml'\n", "two/kdoctor.toml: line 1: extend: "),
    ("two/pyproject.toml", "[tool.kdoctor\n", "two/pyproject.toml: "),
    ("two/pyproject.toml", "[tool.kdoctor]\nselect = 3\n", "two/pyproject.toml: line 2: "),
]


@pytest.mark.parametrize(("file", "text", "told"), BROKEN)
def test_broken_settings_hold_up_their_own_files_only(monorepo, file, text, told):
    monorepo.write({file: text})
    ended = monorepo.kdoctor("scan", "--format", "json")
    assert ended.code == 2
    assert [each["path"] for each in ended.json["findings"]] == ["one/a.py"]
    (line,) = (line for line in ended.err.splitlines() if line.startswith("kdoctor: two/"))
    assert line.startswith(f"kdoctor: {told}")
    assert line.endswith("(2 files were not checked, because these settings apply there)")
    assert ended.json["files"]["read"] == 1


@pytest.mark.parametrize(("file", "text", "told"), BROKEN)
def test_named_alone_their_folder_cannot_be_checked(monorepo, file, text, told):
    monorepo.write({file: text})
    ended = monorepo.kdoctor("scan", "two")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"kdoctor: {told.replace(' line 1:', '').split(':')[0]}:")


def test_what_waits_is_not_fixed_by_other_settings(monorepo):
    monorepo.write({"two/kdoctor.toml": "ignore = ['KD1']\nsurely = 1\n"})
    ended = monorepo.kdoctor("fix", "--apply")
    assert ended.code == 2
    assert b"ops.sum" in monorepo.read("one/a.py")
    assert monorepo.read("two/a.py") == OLD.encode()


def test_a_broken_file_that_only_tells_the_target_holds_up_nothing(monorepo):
    monorepo.write({"two/pyproject.toml": "[project\n"})
    ended = monorepo.kdoctor("scan", "--format", "json", "--target", "keras==3.15.1")
    assert len(ended.json["findings"]) == 3


def test_a_baseline_accepts_what_cannot_be_checked(monorepo):
    monorepo.write(
        {
            "two/kdoctor.toml": "select = [\n",
            "one/broken.ipynb": "no notebook of keras",
            "one/old.py": "import keras\nprint 'x'\n",
        }
    )
    assert monorepo.kdoctor("scan").code == 2
    written = monorepo.kdoctor("baseline", "write")
    assert written.code == 0
    assert "1 finding in 1 file known, 3 files that cannot be checked." in written.out
    assert "one/broken.ipynb: not checked: " in written.out
    kept = json.loads(monorepo.read(BASELINE))["not-checked"]
    assert set(kept) == {"one/broken.ipynb", "one/old.py", "two/kdoctor.toml"}

    checked = monorepo.kdoctor("baseline", "check")
    assert checked.code == 0
    assert "Known as not checked: 3 files." in checked.out
    scanned = monorepo.kdoctor("scan", "--baseline", BASELINE)
    assert scanned.code == 0
    assert "known as not checked: 3 files" in scanned.err

    # What is new is new, whatever is accepted.
    monorepo.write({"one/worse.ipynb": "nor this of keras"})
    assert monorepo.kdoctor("baseline", "check").code == 2
    refused = monorepo.kdoctor("baseline", "write")
    assert refused.code == 1
    assert "1 file that cannot be checked is not in .kdoctor-baseline.json" in refused.err
    assert json.loads(monorepo.read(BASELINE))["not-checked"] == kept
    (monorepo.folder / "one/worse.ipynb").unlink()

    # What can be checked again is asked to be taken out, and then fails again.
    monorepo.write({"one/old.py": "import keras\nprint('x')\n"})
    (monorepo.folder / "one/broken.ipynb").unlink()
    again = monorepo.kdoctor("baseline", "check")
    assert again.code == 1
    assert "2 files known as not checked can be checked now, or are gone" in again.out
    pruned = monorepo.kdoctor("baseline", "prune")
    assert pruned.code == 0
    assert "Removed 2 files that could not be checked from" in pruned.out
    assert set(json.loads(monorepo.read(BASELINE))["not-checked"]) == {"two/kdoctor.toml"}
    monorepo.write({"one/old.py": "import keras\nprint 'x'\n"})
    assert monorepo.kdoctor("baseline", "check").code == 2


def test_what_waits_for_its_settings_is_not_taken_for_fixed(monorepo):
    assert monorepo.kdoctor("baseline", "write").code == 0
    before = monorepo.read(BASELINE)
    monorepo.write({"two/kdoctor.toml": "select = [\n"})
    assert "fixed" not in monorepo.kdoctor("baseline", "check").out
    monorepo.kdoctor("baseline", "prune")
    assert monorepo.read(BASELINE) == before
