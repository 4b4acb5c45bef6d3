"""The burndown: what scans of earlier commits find."""

from __future__ import annotations

import subprocess

import pytest

from kdoctor import progress as migration_progress
from kdoctor.engine import scan
from kdoctor.errors import UsageProblem
from kdoctor.keras_api import resolve_target
from kdoctor.progress import Counts, commit_history

BAD = "from keras import backend as K\n\nK.sum([1])\n"


def burndown(repo, since, most=24, paths=(".",), **options):
    commits = migration_progress.history(list(paths), since, most)
    target = resolve_target(repo.TARGET, "--target")
    return migration_progress.burndown(commits, target, {"jobs": 1, **options})


@pytest.fixture
def grown(repo):
    """A repository whose commits differ in many ways: moved, removed, a folder become a file."""
    commits = [repo.write(repo.FILES).commit("first", date=1)]
    repo.write({"later.py": "import keras\n", "x/a.py": BAD, "x/b.md": f"```python\n{BAD}```\n"})
    commits.append(repo.commit("second", date=2))
    repo.git("mv", "pkg/losses.py", "pkg/loss.py")
    repo.write({"pkg/__init__.py": "from .loss import dice\n"})
    commits.append(repo.commit("third", date=3))
    repo.git("rm", "-rq", "x")
    repo.write(
        {"x": "no folder\n", "broken.py": "import keras\ndef (:\n", ".gitignore": "data.py\n"}
    )
    commits.append(repo.commit("fourth", date=4))
    repo.write({"broken.py": BAD})
    commits.append(repo.commit("fifth", date=5))
    return repo, commits


def test_it_is_what_a_scan_of_each_commit_finds(grown, tmp_path, monkeypatch):
    repo, commits = grown
    found = burndown(repo, commits[0])
    assert [sample.commit.id for sample in found.samples] == commits
    assert [sample.commit.subject for sample in found.samples] == [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
    ]
    for index, sample in enumerate(found.samples):
        copy = tmp_path / f"copy{index}"
        subprocess.run(["git", "clone", "-q", repo.folder, copy], check=True, capture_output=True)
        subprocess.run(
            ["git", "checkout", "-q", sample.commit.id], cwd=copy, check=True, capture_output=True
        )
        monkeypatch.chdir(copy)
        alone = scan(["."], target=repo.TARGET, jobs=1, diffs=False)
        assert sample.left == Counts.of(alone.findings), sample.commit.subject
        assert sample.unreadable == len(alone.unreadable), sample.commit.subject
    assert len({sample.left for sample in found.samples}) > 2
    assert found.samples[3].unreadable == 1


def test_a_file_is_scanned_anew_only_where_it_or_what_it_imports_differs(grown, monkeypatch):
    repo, commits = grown
    scanned = []

    def counted(paths, **options):
        scanned.append(sorted(paths))
        return scan(paths, **options)

    monkeypatch.setattr(commit_history, "scan", counted)
    burndown(repo, commits[0])
    assert scanned[1] == ["later.py", "x/a.py", "x/b.md"]
    assert scanned[2] == ["pkg/__init__.py", "pkg/loss.py", "train.py"]
    assert scanned[3:] == [["broken.py"], ["broken.py"]]


def test_a_base_class_that_moves_in_another_file_changes_the_count(repo):
    use = "from base import K\n\nK.sum([1])\n"
    commits = [repo.write({"base.py": "K = None\n", "use.py": use}).commit("own", date=1)]
    repo.write({"base.py": "from keras import backend as K\n"}).commit("keras", date=2)
    assert [sample.left.total for sample in burndown(repo, commits[0]).samples] == [0, 1]


def test_the_work_tree_and_the_index_stay_as_they_are(grown):
    repo, commits = grown
    repo.write({"clean.py": "changed = 1\n", "untracked.py": BAD})
    index = (repo.folder / ".git" / "index").read_bytes()
    before = {path: path.read_bytes() for path in repo.folder.rglob("*") if path.is_file()}
    assert repo.overview().is_changed
    burndown(repo, commits[0])
    assert (repo.folder / ".git" / "index").read_bytes() == index
    assert {path: path.read_bytes() for path in repo.folder.rglob("*") if path.is_file()} == before


def test_many_commits_are_sampled_evenly_with_the_first_and_the_last(repo):
    commits = [repo.write({"a.py": f"n = {n}\n"}).commit(str(n), date=n) for n in range(9)]
    found = burndown(repo, commits[0], most=3)
    assert [sample.commit.subject for sample in found.samples] == ["0", "4", "8"]
    assert found.commits == 9
    assert len(burndown(repo, "HEAD", most=3).samples) == 1


def test_paths_and_excludes_count_as_they_do_from_the_working_folder(grown, monkeypatch):
    repo, commits = grown
    assert burndown(repo, commits[1], paths=["x"]).samples[0].left.total == 2
    assert burndown(repo, commits[1], exclude=["/x/b.md", "pkg"]).samples[0].left.total == 1
    monkeypatch.chdir(repo.folder / "pkg")
    assert burndown(repo, commits[0], paths=["../x", "."]).samples[1].left.total > 2


def test_todays_settings_hold_for_every_commit(repo):
    repo.write(
        {"a.py": BAD, "sub/a.py": BAD, "kdoctor.toml": "nonsense = 1\n", "pyproject.toml": "[tool"}
    )
    commits = [repo.commit("wrong settings", date=1)]
    repo.git("rm", "-q", "pyproject.toml")
    repo.write({"kdoctor.toml": "[per-file-ignores]\n'sub/*' = ['KD1']\n"}).commit("right", date=2)
    assert [sample.left.total for sample in burndown(repo, commits[0]).samples] == [1, 1]


@pytest.mark.parametrize("since", ["nothing", "--output=x", "HEAD~99", ""])
def test_a_revision_that_is_none_is_told_in_one_sentence(grown, since):
    with pytest.raises(UsageProblem, match="knows no such commit"):
        burndown(grown[0], since)


def test_a_commit_that_did_not_come_before_is_refused(grown):
    repo, commits = grown
    repo.git("checkout", "-q", commits[1])
    with pytest.raises(UsageProblem, match="does not come from"):
        burndown(repo, commits[4])


def test_outside_of_a_repository_there_is_no_history(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(UsageProblem, match="no git repository"):
        migration_progress.history(["."], "HEAD", 3)
