"""The legacy projects: they ran on Keras 2, they fail on Keras 3, and repaired they run there."""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.forking import Forking

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
GOLDEN = ROOT / "tests" / "golden"
KERAS_2 = ROOT / "tests" / "keras2"
KDOCTOR = str(Path(sys.executable).with_name("kdoctor"))
SECONDS = 240

# project: what to run, what it says when it runs, and how it fails on Keras 3 as it is
PROGRAMS = {
    "segmentation": (
        ["train.py", "--small"],
        "loss finite: True masks: (16, 32, 32, 1)",
        "ModuleNotFoundError: No module named 'keras.layers.convolutional'",
    ),
    "custom_layers": (
        ["classify.py"],
        "made by ['answer'] loss finite: True answers: (64, 1)",
        "ModuleNotFoundError: No module named 'keras.engine'",
    ),
    "gan": (
        ["gan.py"],
        "samples (64, 2) inside: 1.0",
        "ModuleNotFoundError: No module named 'keras.layers.merge'",
    ),
    "text_classification": (
        ["train.py"],
        "cnn: loss finite: True answers: (12, 4)",
        "ModuleNotFoundError: No module named 'keras.layers.core'",
    ),
}


def test_the_golden_files_are_what_the_tool_makes_today(tmp_path):
    subprocess.run(
        [sys.executable, ROOT / "tools" / "golden.py", tmp_path / "golden"],
        check=True,
        timeout=SECONDS,
    )

    assert differing(GOLDEN, tmp_path / "golden") == []


def test_a_second_fix_of_the_fixtures_changes_nothing(tmp_path):
    shutil.copytree(GOLDEN, tmp_path / "once")
    shutil.copytree(GOLDEN, tmp_path / "twice")

    kdoctor("fix", "--apply", ".", folder=tmp_path / "twice")

    assert differing(tmp_path / "once", tmp_path / "twice") == []


def test_scanning_writes_nothing_and_fixing_without_apply_neither(tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(FIXTURES, copy)
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}

    kdoctor("scan", ".", folder=copy)
    kdoctor("fix", "--unsafe", ".", folder=copy)

    after = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert before == {path: after[path] for path in before}
    assert all(".kdoctor_cache" in path.parts for path in after.keys() - before.keys())


def test_keras_of_tensorflow_has_no_error_and_only_what_is_left_over_is_rewritten(tmp_path):
    copy = tmp_path / "metrics_tf.py"
    shutil.copy(FIXTURES / "segmentation" / copy.name, copy)

    found = kdoctor("scan", "--format", "json", ".", folder=tmp_path).stdout
    kdoctor("fix", "--apply", "--unsafe", "--ignore", "KD121", ".", folder=tmp_path)

    assert {(each["code"], each["severity"]) for each in json.loads(found)["findings"]} == {
        ("KD121", "legacy")
    }
    assert copy.read_bytes() == (FIXTURES / "segmentation" / copy.name).read_bytes()


@pytest.fixture(scope="module")
def on_keras_3():
    """What runs programs, each in a process of its own that has Keras 3 already."""
    forking = Forking("keras", CUDA_VISIBLE_DEVICES="-1")
    yield partial(run, forking)
    forking.end()


@pytest.fixture(scope="module")
def on_keras_2():
    forking = Forking("keras", CUDA_VISIBLE_DEVICES="-1", PYTHONPATH=str(KERAS_2))
    yield partial(run, forking)
    forking.end()


@pytest.mark.frameworks
@pytest.mark.parametrize("project", PROGRAMS)
def test_each_project_runs_on_keras_2_as_it_is(project, tmp_path, on_keras_2):
    command, says, _ = PROGRAMS[project]

    done = on_keras_2(runnable(FIXTURES / project, tmp_path), command)

    assert done.returncode == 0, done.stderr[-2000:]
    assert says in done.stdout


@pytest.mark.frameworks
@pytest.mark.parametrize("project", PROGRAMS)
def test_each_project_fails_on_keras_3_as_it_is(project, tmp_path, on_keras_3):
    command, _, error = PROGRAMS[project]

    done = on_keras_3(runnable(FIXTURES / project, tmp_path), command)

    assert done.returncode == 1
    assert done.stderr.strip().endswith(error)


@pytest.mark.frameworks
@pytest.mark.parametrize("project", PROGRAMS)
def test_each_project_trains_and_predicts_on_keras_3_after_the_fix(project, tmp_path, on_keras_3):
    command, says, _ = PROGRAMS[project]

    done = on_keras_3(runnable(GOLDEN / project, tmp_path), command)

    assert done.returncode == 0, done.stderr[-2000:]
    assert says in done.stdout


@pytest.mark.frameworks
def test_the_code_in_the_readme_runs_on_keras_3_after_the_fix(tmp_path, on_keras_3):
    readme = (GOLDEN / "readme" / "README.md").read_text()
    (tmp_path / "usage.py").write_text(fences(readme, "python")[0])
    (tmp_path / "session.txt").write_text(fences(readme, "pycon")[0])
    (tmp_path / "session.py").write_text(
        "import doctest\nprint(doctest.testfile('session.txt', module_relative=False))\n"
    )

    usage = on_keras_3(tmp_path, ["usage.py"])
    session = on_keras_3(tmp_path, ["session.py"])

    assert "(2, 1)" in usage.stdout, usage.stderr[-2000:]
    assert session.stdout.startswith("TestResults(failed=0"), session.stdout


def test_the_fixed_notebook_is_valid_and_keeps_all_that_is_no_code():
    nbformat = pytest.importorskip("nbformat")
    before = json.loads((FIXTURES / "gan" / "gan.ipynb").read_text())
    after = json.loads((GOLDEN / "gan" / "gan.ipynb").read_text())

    nbformat.validate(nbformat.from_dict(after))
    assert without_code(before) == without_code(after)


def fences(markdown, language):
    return re.findall(rf"^```{language}\n(.*?)^```", markdown, re.DOTALL | re.MULTILINE)


def without_code(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = [line for line in cell["source"] if line.startswith(("%", "!"))]
    return notebook


def runnable(project, folder):
    """A copy of the project, with its notebooks as plain Python beside them."""
    copy = folder / project.name
    shutil.copytree(project, copy)
    for notebook in copy.glob("*.ipynb"):
        notebook.with_suffix(".py").write_text(plain_python(notebook))
    return copy


def plain_python(notebook):
    cells = json.loads(notebook.read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines = [
        line
        for source in sources
        if not source.startswith("%%bash")
        for line in source.splitlines()
        if not line.startswith(("%", "!")) and not line.endswith("?")
    ]
    return "\n".join(lines) + "\n"


def run(forking, folder, command):
    done = forking.python(*command, cwd=folder, env=os.environ)
    told = (done.stdout.decode(), done.stderr.decode())
    return subprocess.CompletedProcess(command, done.returncode, *told)


def kdoctor(*arguments, folder):
    done = subprocess.run(
        [KDOCTOR, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, 1}, done.stderr
    return done


def differing(one, other):
    """The files that two folders do not have alike."""
    names = {
        str(path.relative_to(folder))
        for folder in (one, other)
        for path in folder.rglob("*")
        if path.is_file() and not {".kdoctor_cache", "__pycache__"} & set(path.parts)
    }
    _, mismatch, missing = filecmp.cmpfiles(one, other, sorted(names), shallow=False)
    return mismatch + missing
