"""The two hooks, used as people use them: by the real ``pre-commit`` program, in a repository."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PRE_COMMIT = Path(sys.executable).with_name("pre-commit")
LEGACY = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x)\n"
FIXED = "from keras import ops\n\n\ndef total(x):\n    return ops.sum(x)\n"


@pytest.fixture(scope="module")
def hooks(tmp_path_factory):
    """A git repository that holds what this working tree holds, for pre-commit to clone."""
    clone = tmp_path_factory.mktemp("hooks") / "kdoctor"
    clone.mkdir()
    built_of = ("kdoctor", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE")
    for name in (".pre-commit-hooks.yaml", *built_of):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, clone / name)
    committed(clone)
    return clone


@pytest.fixture
def project(tmp_path, hooks, monkeypatch):
    """A repository with one legacy file, one notebook of another kind, and both hooks."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(hooks.parent / "environments"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "model.py").write_text(LEGACY)
    (folder / "notes.txt").write_text("K.sum is no Python here\n")
    (folder / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {git(hooks, 'rev-parse', 'HEAD').strip()}\n"
        "  hooks:\n  - id: kdoctor-scan\n  - id: kdoctor-fix\n"
    )
    committed(folder)
    return folder


@pytest.mark.timeout(600)
def test_the_hooks_report_repair_and_then_pass(project):
    scanned = pre_commit(project, "kdoctor-scan")

    assert scanned.returncode == 1
    assert "model.py:5" in scanned.stdout
    assert "keras.backend" in scanned.stdout
    assert (project / "model.py").read_text() == LEGACY

    fixed = pre_commit(project, "kdoctor-fix")

    assert fixed.returncode == 1, "a hook that changes files must stop the commit"
    assert "files were modified by this hook" in fixed.stdout
    assert (project / "model.py").read_text() == FIXED

    assert pre_commit(project, "kdoctor-scan").returncode == 0
    assert pre_commit(project, "kdoctor-fix").returncode == 0


def pre_commit(folder, hook):
    done = subprocess.run(
        [PRE_COMMIT, "run", hook, "--all-files", "--color=never"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "unexpected error" not in done.stdout, done.stdout + done.stderr
    return done


def committed(folder):
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "as it is")


def git(folder, *arguments):
    who = {
        f"GIT_{role}_{key}": "a@b.c"
        for role in ("AUTHOR", "COMMITTER")
        for key in ("NAME", "EMAIL")
    }
    # Inside a hook or a worktree git tells its children where the repository is: not this one.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=clean | who, capture_output=True, text=True, check=True
    )
    return done.stdout
