"""What continuous integration runs on every system and Python: all tests that can run there."""

from __future__ import annotations

import ast
import itertools
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
FRAMEWORKS = {"tensorflow", "keras", "tf_keras", "jax", "torch"}
# User code is run apart there by what only Linux has.
LEFT_OUT = {"tests/verify"}


@pytest.fixture(scope="module")
def everywhere():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    return workflow["jobs"]["everywhere"]


def test_no_folder_of_tests_is_forgotten(everywhere):
    (line,) = [each["run"] for each in everywhere["steps"] if " pytest " in each.get("run", "")]
    words = [word for each in shlex.split(line) for word in each.split("=")]
    ignored = {word for before, word in itertools.pairwise(words) if before == "--ignore"}
    named = {word.rstrip("/") for word in words if word.startswith("tests")} - ignored
    assert ignored == LEFT_OUT
    assert named <= {"tests"}, "a list of folders forgets the next one"
    assert [word for before, word in itertools.pairwise(words) if before == "-m"] == [
        "pytest",
        "not frameworks",
    ]


def test_it_runs_on_each_system_and_python_that_the_package_names(everywhere):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [each.rpartition(" :: ")[2] for each in project["classifiers"]]
    pythons = [each for each in named if each.startswith("3.")]
    systems = {"Linux": "ubuntu", "MacOS": "macos", "Microsoft :: Windows": "windows"}
    matrix = everywhere["strategy"]["matrix"]
    assert matrix["python"] == pythons
    assert {each.partition("-")[0] for each in matrix["os"]} == {
        system
        for name, system in systems.items()
        if any(each.endswith(name) for each in project["classifiers"])
    }
    assert len(matrix["os"]) == len(systems)


def test_every_file_can_be_collected_where_there_are_no_frameworks():
    paths = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "tests").rglob("conftest.py")]
    files = [path for path in paths if not {"golden", "keras2", "verify"} & {*path.parts}]
    assert len(files) > 250
    assert [path for path in files if FRAMEWORKS & _imported(ast.parse(path.read_bytes()))] == []


def _imported(tree):
    """Return the packages that a module imports, or skips itself without, as it is imported."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
        elif isinstance(node, (ast.Expr, ast.Assign)) and isinstance(node.value, ast.Call):
            call = node.value
            if ast.unparse(call.func) == "pytest.importorskip":
                found.add(ast.literal_eval(call.args[0]))
    return found
