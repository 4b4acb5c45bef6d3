"""A project with 500 findings in a git repository, from its first baseline to an empty one."""

import json

import pytest

LOSSES = '''\
"""Losses number {number}."""

from keras import backend as K


class Overlap{number}:
    def __init__(self, smooth=1.0):
        self.smooth = smooth

    def __call__(self, y_true, y_pred):
        truth = K.flatten(y_true)
        guess = K.flatten(y_pred)
        both = K.sum(truth * guess)
        return (2.0 * both + self.smooth) / (K.sum(truth) + K.sum(guess) + self.smooth)


def weighted_{number}(y_true, y_pred, gamma=2.0):
    chance = K.clip(y_pred, 1e-7, 1.0 - 1e-7)
    rare = K.pow(1.0 - chance, gamma)
    return -K.sum(y_true * rare * K.log(chance), axis=-1)


def distance_{number}(a, b):
    gap = K.abs(a - b)
    near = K.minimum(gap, 1.0)
    far = K.maximum(gap, 1.0)
    scores = K.exp(-K.square(K.expand_dims(near, axis=-1)))
    return K.max(scores) + K.min(far) + K.sum(K.relu(a)) + K.sum(K.sigmoid(b))
'''
CELLS = ["from keras import backend as K\n", "%matplotlib inline\ntotal = K.sum(K.square(x))\n"]
README = "# Use\n\n```python\nfrom keras import backend as K\n\nprint(K.sum(K.exp(x)))\n```\n"
FILES = 24


@pytest.fixture
def repository(project):
    """Return a project in git: a package of losses, a notebook, a README."""
    losses = {f"src/losses_{n:02}.py": LOSSES.format(number=n) for n in range(FILES)}
    project.write(losses | {"pyproject.toml": "", "README.md": README})
    project.write({"try.ipynb": project.notebook(*CELLS)})
    return project.committed()


def edit(project, name, old, new):
    text = project.read(name).decode()
    assert old in text
    project.write({name: text.replace(old, new, 1)})


@pytest.mark.timeout(240)
def test_five_hundred_findings_from_baseline_to_fix_to_prune(repository) -> None:  # noqa: PLR0915
    kdoctor = repository.kdoctor
    file = ".kdoctor-baseline.json"

    missing = kdoctor("baseline", "check")
    assert missing.code == 2
    assert "there is no baseline" in missing.err
    written = kdoctor("baseline", "write")
    assert written.code == 0
    entries = [row for rows in json.loads(repository.read(file))["files"].values() for row in rows]
    assert len(entries) >= 500
    assert f"{len(entries)} findings in {FILES + 2} files known" in written.out
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message", "baseline")

    known = kdoctor("baseline", "check")
    assert known.code == 0
    assert known.out == f"Nothing new: {len(entries)} findings are known.\n"

    # Moved lines, edits nearby, renamed files, a notebook and a README that grew: nothing is new.
    edit(
        repository,
        "src/losses_00.py",
        "from keras",
        "import math\n\nHALF = math.pi / 2\n\nfrom keras",
    )
    edit(repository, "src/losses_01.py", "truth * guess", "truth * guess * self.weight")
    repository.git("mv", "src/losses_02.py", "src/overlap.py")
    repository.git("mv", "src/losses_03.py", "moved.py")
    edit(repository, "moved.py", "class Overlap3", "class Jaccard")
    repository.write({"try.ipynb": repository.notebook("import os\n", *CELLS)})
    edit(repository, "README.md", "# Use\n", "# Use\n\nFirst:\n\n```python\nx = 1\n```\n")
    moved = kdoctor("baseline", "check")
    assert (moved.code, moved.out.splitlines()[0]) == (0, known.out.strip())
    assert "are in files that were renamed" in moved.out

    # A new one is new, for the check, for a scan, and for a write without --force.
    edit(repository, "src/losses_04.py", "    gap =", "    K.mean(a)\n    gap =")
    new = kdoctor("baseline", "check")
    assert new.code == 1
    assert new.out.count("KD101") == 1
    assert "src/losses_04.py:24:5: KD101" in new.out
    before = repository.read(file)
    assert kdoctor("baseline", "write").code == 1
    assert repository.read(file) == before
    seen = kdoctor("scan", "--baseline", file, "--output", "all.sarif")
    assert seen.code == 1
    assert f"{len(entries)} findings known to {file} are not shown" in seen.err
    results = json.loads(repository.read("all.sarif"))["runs"][0]["results"]
    states = [each.get("baselineState") for each in results]
    assert (states.count("unchanged"), states.count("new")) == (len(entries), 1)
    edit(repository, "src/losses_04.py", "    K.mean(a)\n", "")

    # The fix sees all of them; what it cured must be pruned, and pruning takes lines away only.
    assert kdoctor("fix", "src", "moved.py", "--apply", "--quiet").code == 0
    stale = kdoctor("baseline", "check")
    assert stale.code == 1
    assert "known are fixed: `kdoctor baseline prune` removes them." in stale.out
    pruned = kdoctor("baseline", "prune")
    assert pruned.code == 0
    rows = set(repository.read(file).decode().replace("},", "}").splitlines())
    assert rows < set(before.decode().replace("},", "}").splitlines()) | {"    ]"}
    assert kdoctor("baseline", "check").code == 0

    # The rest, until nothing is left; then nothing may come back.
    assert kdoctor("fix", "--apply", "--unsafe", "--quiet").code == 0
    assert kdoctor("baseline", "prune").code == 0
    assert json.loads(repository.read(file)) == {"kdoctor-baseline": 1, "files": {}}
    assert kdoctor("baseline", "check").code == 0


def test_the_settings_name_the_baseline_for_scan_and_fix(project) -> None:
    settings = '[tool.kdoctor]\nbaseline = "known.json"\n'
    project.write({"pyproject.toml": settings, "src/a.py": LOSSES.format(number=1)})
    project.write({"src/b.py": "from keras import backend as K\nK.ctc_decode(x, y)\n"})

    missing = "kdoctor: pyproject.toml:2: baseline: there is no baseline known.json; "
    assert project.kdoctor("scan").err.startswith(missing)
    (project.folder / "known.json").mkdir()
    folder = "kdoctor: pyproject.toml:2: baseline: known.json is a folder; name a baseline file, "
    assert project.kdoctor("scan").err.startswith(folder)
    (project.folder / "known.json").rmdir()
    assert project.kdoctor("baseline", "write", "src").code == 0
    assert (project.folder / "known.json").exists()
    assert project.kdoctor("scan", "src/a.py").code == 0
    assert project.kdoctor("scan", "--no-baseline").code == 1
    done = project.kdoctor("fix", "--apply")
    assert done.code == 0
    assert b"K.sum" not in project.read("src/a.py")
    assert "left: 1 error" in done.err
