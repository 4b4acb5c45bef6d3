"""A notebook that installs a Keras is checked for that one, where no target is asked for."""

from __future__ import annotations

import json

import pytest

from kdoctor.engine import scan

GONE = "\nfrom keras.utils import np_utils\nnp_utils.to_categorical([1])"


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scanned(project, *sources, **options):
    cell = {"cell_type": "code", "metadata": {}, "outputs": []}
    cells = [{**cell, "source": each} for each in sources]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    (project / "a.ipynb").write_text(text)
    return scan(["a.ipynb"], jobs=1, **options)


@pytest.mark.parametrize(
    ("install", "keras"),
    [
        ("!pip install -q keras==2.2.5", "keras 2.2.5"),
        ("%pip install 'keras>=2.3,<2.4'", "keras 2.3.1"),
        ("!python -m pip install tensorflow-gpu==2.8.0", "tensorflow 2.8.0"),
    ],
)
def test_what_is_installed_is_the_target(project, install, keras):
    result = scanned(project, install + GONE)
    assert result.findings == ()
    (own,) = result.own_targets
    assert (own.keras, own.counts, own.place.line) == (keras, True, 1)
    assert own.description.startswith(f"checked against {keras}: line 1 of cell 1 installs `")


@pytest.mark.parametrize(
    ("cell", "keras"),
    [
        ("%%bash\npip install -q keras==2.2.5", "keras 2.2.5"),
        ("%%sh\nset -e\npip install \\\n  tensorflow==2.8.0 numpy", "tensorflow 2.8.0"),
    ],
)
def test_what_a_cell_of_shell_commands_installs_is_the_target(project, cell, keras):
    result = scanned(project, cell, GONE)
    assert result.findings == ()
    (own,) = result.own_targets
    assert own.keras == keras
    assert own.description.startswith(f"checked against {keras}: line {own.place.line} of cell 1 ")


@pytest.mark.parametrize(
    "cell",
    [
        "%%bash\n# pip install keras==2.2.5",
        "%%bash\nif colab; then\n  pip install keras==2.2.5\nfi",
        "%%bash\necho pip install keras==2.2.5",
        "%%writefile setup.sh\npip install keras==2.2.5",
        "%%bash\npip install keras==2.2.5\npip install keras==3.3.3",
    ],
)
def test_what_may_not_run_in_a_shell_changes_nothing(project, cell):
    result = scanned(project, cell, GONE)
    assert {each.code for each in result.findings} == {"KD102"}
    assert result.own_targets == ()


@pytest.mark.parametrize(
    "install",
    [
        "!pip install keras",
        "!pip install 'keras>=2.2'",
        "!pip install -r requirements.txt",
        "if colab:\n    !pip install keras==2.2.5",
        "!pip install keras==2.2.5\n!pip install keras==3.3.3",
        "print('!pip install keras==2.2.5')",
    ],
)
def test_what_leaves_it_open_changes_nothing(project, install):
    result = scanned(project, install + GONE)
    assert {each.code for each in result.findings} == {"KD102"}
    assert result.own_targets == ()


def test_a_target_that_is_asked_for_wins(project):
    result = scanned(project, "!pip install keras==2.2.5" + GONE, target="keras==3.15.1")
    assert [each.code for each in result.findings] == ["KD712", "KD102"]
    assert result.own_targets == ()


def test_the_project_itself_gives_way_and_other_files_are_as_it_says(project):
    (project / "requirements.txt").write_text("keras==3.3.3\n")
    (project / "a.py").write_text(f"import keras{GONE}")
    assert scanned(project, "!pip install keras==2.2.5" + GONE).findings == ()
    (told,) = scan(["."], jobs=1).findings
    assert told.place.path == "a.py"
