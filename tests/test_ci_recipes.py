"""The recipes of docs/ci, their shell lines run by a shell with the real program.

Two things are not what they are in use: ``pip install`` does nothing, for kdoctor is on the PATH
already, and what belongs to GitHub (``uses:``) is not run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
RECIPES = ROOT / "docs" / "ci"
OLD = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x)\n"


@pytest.fixture
def repository(tmp_path):
    """A git repository with a finding below src/, and a PATH with kdoctor and a pip that rests."""
    if os.name == "nt":
        pytest.skip("the recipes are for a POSIX shell")
    (tmp_path / "repository" / "src").mkdir(parents=True)
    (tmp_path / "repository" / "src" / "model.py").write_text(OLD)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "bin").mkdir()
    for name, line in {
        "kdoctor": f'exec "{sys.executable}" -m kdoctor "$@"',
        "pip": '[ "$*" = "install keras-doctor" ]',
    }.items():
        script = tmp_path / "bin" / name
        script.write_text(f"#!/bin/sh\n{line}\n")
        script.chmod(0o755)
    return tmp_path / "repository"


def run(lines, repository, **environment):
    """Run shell lines as a job does: the first that fails ends it."""
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", lines],
        cwd=repository,
        env={
            **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
            "PATH": f"{repository.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def read(name):
    return yaml.safe_load((RECIPES / name).read_text("utf-8"))


def test_the_workflow_annotates_the_pull_request_and_uploads_what_it_wrote(repository):
    (job,) = read("github-actions.yml")["jobs"].values()
    lines = [step["run"] for step in job["steps"] if "run" in step]
    done = run("\n".join(lines), repository)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error title=kdoctor KD101")
    assert "file=src/model.py,line=5," in done.stdout
    (upload,) = [step for step in job["steps"] if "upload-sarif" in step.get("uses", "")]
    log = json.loads((repository / upload["with"]["sarif_file"]).read_text())
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "src/model.py", "uriBaseId": "%SRCROOT%"}


@pytest.mark.parametrize(("fail", "code"), [("true", 1), ("false", 0)])
def test_the_action_scans_what_it_is_told_to(repository, fail, code):
    steps = _action_steps()
    given = {"PYTHON": sys.executable, "PATHS": "src", "ARGUMENTS": "--select KD1 --jobs 1"}
    done = run(steps["Scan"], repository, **given, OUTPUT="junit=a b.xml", FAIL=fail)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith("::error ")
    suites = ET.fromstring((repository / "a b.xml").read_text())  # noqa: S314 - our own
    assert suites.get("failures") == "1"


def test_the_inputs_of_the_action_cannot_run_anything(repository):
    steps = _action_steps()
    given = {"PYTHON": sys.executable, "PATHS": "src $(touch ran) ; touch ran", "FAIL": "true"}
    done = run(steps["Scan"], repository, **given, ARGUMENTS="", OUTPUT="")
    assert done.returncode == 2
    assert "$(touch" in done.stderr
    assert not (repository / "ran").exists()


def _action_steps():
    """Return the action's scripts by name, each of whose inputs comes by its environment."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    steps = {step["name"]: step for step in action["runs"]["steps"]}
    asked = {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    assert asked == set(steps["Scan"]["env"].values()) - {steps["Install kdoctor"]["env"]["PYTHON"]}
    assert not any("${{" in step.get("run", "") for step in steps.values())
    assert '"$PYTHON" -m pip install' in steps["Install kdoctor"]["run"]
    return {name: step["run"] for name, step in steps.items() if "run" in step}


def test_the_recipe_of_the_action_gives_it_inputs_that_it_has():
    (job,) = read("github-action.yml")["jobs"].values()
    (step,) = [step for step in job["steps"] if "kdoctor@" in step["uses"]]
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert set(step["with"]) <= set(action["inputs"])


def test_the_gitlab_job_writes_the_reports_that_it_names(repository):
    (job,) = read("gitlab-ci.yml").values()
    done = run("\n".join([*job["before_script"], *job["script"]]), repository)
    assert done.returncode == 1, done.stderr
    reports = job["artifacts"]["reports"]
    (issue,) = json.loads((repository / reports["codequality"]).read_text())
    assert issue["location"]["path"] == "src/model.py"
    suites = ET.fromstring((repository / reports["junit"]).read_text())  # noqa: S314 - our own
    assert suites.get("tests") == "1"


def test_the_make_targets_do_what_they_say(repository):
    make = f"make --silent --file '{RECIPES / 'kdoctor.mk'}'"
    diff = run(f"{make} keras-diff", repository)
    assert diff.returncode != 0
    assert "+    return ops.sum(x)" in diff.stdout
    report = run(f"{make} keras-report", repository)
    assert report.returncode == 0, report.stderr
    assert "KD101" in report.stdout
    assert (repository / "kdoctor.sarif").exists()
    assert run(f"{make} keras-fix keras", repository).returncode == 0
    assert "ops.sum" in (repository / "src" / "model.py").read_text()


def test_the_pre_commit_recipe_names_hooks_that_there_are():
    (repo,) = read("pre-commit-config.yaml")["repos"]
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert {hook["id"] for hook in repo["hooks"]} == {hook["id"] for hook in hooks}
    assert all(hook["entry"].startswith("kdoctor ") for hook in hooks)
