"""The reference is right on this machine's CPU, wholly checked, and stands alone."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kdoctor.reference
from kdoctor.verify.reference import catalogue

SPOILED = 5  # places, drawn anew each time
HERE = Path(__file__).parent
FOLDER = Path(kdoctor.reference.__file__).parent
FILES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
QUIET = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}


def kdoctor_cli(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "kdoctor", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=560,
        check=False,
        env=os.environ | QUIET | {"PYTHONIOENCODING": "utf-8"} | environment,
    )


@pytest.fixture
def reference(forking, tmp_path):
    def told(*names):
        ran = forking.kdoctor("reference", *names, cwd=tmp_path, env=os.environ)
        written = (ran.stdout.decode(), ran.stderr.decode())
        return subprocess.CompletedProcess(ran.args, ran.returncode, *written)

    return told


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    return tmp_path_factory.mktemp("room")


@pytest.fixture(scope="module")
def checked(room):
    pytest.importorskip("tensorflow")
    ran = kdoctor_cli("verify", "--device", "cpu", "--json", TMPDIR=str(room))
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr
    return json.loads(ran.stdout)["checks"]


@pytest.mark.frameworks
def test_every_check_is_within_its_tolerance(checked):
    assert len(checked) > 250
    assert [each for each in checked if not each["holds"]] == []
    assert all(each["applies"] for each in checked), "on TensorFlow there is something to check"


@pytest.mark.frameworks
@pytest.mark.usefixtures("checked")
def test_nothing_is_left_behind(room):
    assert list(room.iterdir()) == []


@pytest.mark.frameworks
def test_every_definition_of_the_reference_is_checked(checked):
    subjects = {each["subject"].partition(",")[0] for each in checked}
    # The arguments of optimizers are what these do by hand.
    by_hand = {
        "clip_by_value": "clipvalue",
        "clip_by_norm": "clipnorm",
        "clip_by_global_norm": "global_clipnorm",
    }
    defined = {each.name for module in catalogue.modules() for each in module.definitions}
    assert {by_hand.get(name, name) for name in defined} <= subjects


@pytest.mark.frameworks
def test_functions_run_eagerly_and_compiled_with_and_without_xla(checked):
    ways = {each["check"] for each in checked if each["subject"] == "dice"}
    assert {
        f"NumPy in float64, {way}" for way in ("eagerly", "compiled", "compiled with XLA")
    } <= ways
    assert {"half precision", "gradient, finite differences"} <= ways


@pytest.mark.frameworks
def test_the_checks_see_each_place_where_the_reference_is_spoiled():
    """A sample, another one each time; `make mutants` spoils all places."""
    pytest.importorskip("tensorflow")
    ran = subprocess.run(
        [sys.executable, str(HERE / "sabotage.py"), str(SPOILED)],
        capture_output=True,
        text=True,
        timeout=560,
        check=False,
        env=os.environ | QUIET | {"KERAS_BACKEND": "tensorflow"},
    )
    told = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert len(told) == SPOILED, ran.stderr[-3000:]
    assert [each["place"] for each in told if each["seen"] is None] == []


@pytest.mark.frameworks
def test_a_gpu_that_is_not_there_is_one_clear_sentence():
    pytest.importorskip("tensorflow")
    ran = kdoctor_cli("verify", "--device", "gpu")
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith("kdoctor: tensorflow sees no GPU on this machine: run with")
    assert ran.stderr.count("\n") == 1


def test_a_backend_that_is_not_installed_is_one_clear_sentence(tmp_path):
    # A Python without site-packages has no framework, but can import what kdoctor needs.
    code = (
        "import importlib.util, sys; real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, *a: None if n in ('torch', 'keras') else real(n, *a)\n"
        "from kdoctor.cli.app import main; sys.argv = ['kdoctor', 'verify', '--backend', 'torch']\n"
        "main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ran.returncode == 2
    assert "pip install 'keras-doctor[verify]' torch" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_the_reference_imports_keras_and_backends_only(path):
    imported = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module.partition(".")[0])
    assert imported <= {"keras", "numpy", "tensorflow", "jax", "torch"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_the_reference_touches_nothing_private_of_keras(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            assert ast.unparse(node.value) == "self" or node.attr == "__init__", ast.unparse(node)


def test_reference_lists_every_file_and_definition(reference):
    ran = reference()
    assert ran.returncode == 0
    for module in catalogue.modules():
        assert f"{module.name}: {module.summary}" in ran.stdout
        assert all(f"  {each.name} " in ran.stdout for each in module.definitions)
        assert all(each.summary for each in module.definitions)


@pytest.mark.parametrize("name", ["dice", "DiceLoss", "diceloss", "overlap"])
def test_reference_prints_the_file_that_holds_a_name(reference, name):
    ran = reference(name)
    assert ran.returncode == 0
    assert ran.stdout == (FOLDER / "overlap.py").read_text("utf-8")


def test_a_name_that_the_reference_has_not_is_one_clear_sentence(reference):
    ran = reference("hubr")
    assert ran.returncode == 2
    assert ran.stderr == (
        "kdoctor: the reference has no 'hubr'; did you mean huber? "
        "(`kdoctor reference` lists its contents)\n"
    )
