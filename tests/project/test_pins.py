"""Requirements that keep a project on Keras 2 are found wherever something is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdoctor.keras_api import newest_target, resolve_target
from kdoctor.keras_api.surface import TENSORFLOW as TENSORFLOW_DATA
from kdoctor.keras_api.surface import newest
from kdoctor.project.pins import pins

KERAS = f"keras=={newest('keras')}"
TENSORFLOW = f"tensorflow=={newest(TENSORFLOW_DATA)}"


def found(folder: Path, name: str, text: str, target=None):
    """Return line, requirement and what to write, of the pins in one file of a project."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    (folder / ".git").mkdir(exist_ok=True)
    told = pins([folder], target or newest_target())
    assert {Path(each.path).name for each in told} <= {path.name}
    return [(each.line, each.requirement, each.instead) for each in told]


PINNED = {
    "keras==2.2.4": ("keras==2.2.4", KERAS),
    "keras<3": ("keras<3", "keras>=3"),
    "Keras>=2.1,<2.4": ("Keras<2.4,>=2.1", "keras>=3"),
    "tensorflow==1.15.0": ("tensorflow==1.15.0", TENSORFLOW),
    "tensorflow-gpu==2.3": ("tensorflow-gpu==2.3", TENSORFLOW),
    "tensorflow~=2.8.0": ("tensorflow~=2.8.0", "tensorflow>=2.16"),
    "tensorflow<2.16": ("tensorflow<2.16", "tensorflow>=2.16"),
}
FREE = [
    "keras", "keras>=2.2", "keras==3.3.3", "tensorflow>=2.4", "tensorflow==2.16.1", "numpy==1.19",
    "tf-nightly", "keras!=2.4", "tensorflow-datasets==1.0", "# keras==2.2.4",
]  # fmt: skip


@pytest.mark.parametrize("line", PINNED)
def test_a_requirement_that_allows_no_keras_3_is_told_with_what_to_write(tmp_path, line):
    assert found(tmp_path, "requirements.txt", f"numpy\n{line}\n") == [(2, *PINNED[line])]


@pytest.mark.parametrize("line", FREE)
def test_what_allows_keras_3_is_not_told(tmp_path, line):
    assert found(tmp_path, "requirements.txt", f"numpy\n{line}\n") == []


FILES = {
    "Dockerfile": "FROM python\nRUN pip install --no-cache \\\n    numpy \\\n  {} && true\n",
    "Dockerfile.gpu": "RUN pip3 install '{}'\n",
    "train.dockerfile": 'RUN python -m pip install "{}"\n',
    ".github/workflows/ci.yml": "steps:\n  - run: pip install {} h5py  # old\n",
    ".gitlab-ci.yml": "test:\n  script:\n    - pip install {}\n",
    ".travis.yml": "install:\n  - travis_retry pip install {}\n",
    "setup.sh": "uv pip install {} | tee log\n",
    "Makefile": "all:\n\tpip install {}; true\n",
    "a.ipynb": '{{"cells": [{{"cell_type": "code", "source": ["%pip install {}\\n", "1"]}}]}}',
    "b.ipynb": '{{"cells": [{{"source": ["!pip install -q \\"{}\\" h5py\\n", "x = 1"]}}]}}',
    "c.ipynb": '{{"cells": [{{"source": [\n "%%bash\\n",\n "pip install {}\\n"\n]\n}}]}}',
    "d.ipynb": '{{"cells": [{{"source": "%%sh\\npip install {}"}}]}}',
    "requirements/dev.txt": "{}\n",
    "setup.py": "from setuptools import setup\nsetup(install_requires=['{}'])\n",
    "pyproject.toml": '[project]\nname = "a"\ndependencies = ["{}"]\n',
    "environment.yml": "dependencies:\n  - pip:\n    - {}\n",
}


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_installs_is_read(tmp_path, name):
    told = found(tmp_path, name, FILES[name].format("keras==2.3.1"))
    assert [each[1:] for each in told] == [("keras==2.3.1", KERAS)]
    assert found(tmp_path, name, FILES[name].format("keras>=3")) == []


@pytest.mark.parametrize(
    "lines",
    [
        '"%%bash\\n",\n"# pip install keras==2.2.4\\n"',
        '"%%bash\\n",\n"echo pip install keras==2.2.4\\n"',
        '"%%bash\\n",\n"ls"\n]}, {"source": [\n"pip install keras==2.2.4\\n"',
    ],
    ids=["comment", "printed", "another cell"],
)
def test_what_no_cell_of_a_notebook_installs_is_not_read(tmp_path, lines):
    assert found(tmp_path, "a.ipynb", f'{{"cells": [{{"source": [\n{lines}\n]}}]}}') == []


INCLUDING = {
    "Dockerfile": "COPY deps.txt /app/\nRUN pip install --no-cache -r /app/deps.txt\n",
    "setup.sh": "pip install -U --requirement=deps.txt && true\n",
    ".github/workflows/ci.yml": "steps:\n  - run: pip install -r deps.txt\n",
    "Makefile": "all:\n\tpip install -rdeps.txt\n",
    "a.ipynb": '{"cells": [{"source": ["!pip install -r deps.txt\\n", "1"]}]}',
}


@pytest.mark.parametrize("name", INCLUDING)
def test_a_file_that_pip_is_given_is_read_whatever_its_name(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(INCLUDING[name])
    assert found(tmp_path, "deps.txt", "h5py\nkeras==2.3.1\n") == [(2, "keras==2.3.1", KERAS)]
    path.unlink()
    assert found(tmp_path, "deps.txt", "h5py\nkeras==2.3.1\n") == []


def test_conda_writes_versions_its_own_way(tmp_path):
    told = found(tmp_path, "install.sh", "conda install -c x keras=2.3 tensorflow=2.1.0\n")
    assert [each[1] for each in told] == ["keras=2.3", "tensorflow=2.1.0"]


def test_what_is_no_call_of_an_installer_is_not_read(tmp_path):
    text = "echo keras==2.2.4\npip install numpy | grep keras==2.2.4\npip uninstall keras==2.2.4\n"
    assert found(tmp_path, "run.sh", text) == []


def test_the_target_says_which_release_to_write(tmp_path):
    target = resolve_target("tensorflow==2.17", "--target")
    told = found(tmp_path, "requirements.txt", "keras==2.2.4\ntensorflow==2.2\n", target)
    versions = (target.keras_version, target.version)
    assert [each[2] for each in told] == [f"keras=={versions[0]}", f"tensorflow=={versions[1]}"]


def test_folders_up_to_the_top_of_the_project_are_read(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text("keras==2.2.4\n")
    below = tmp_path / "src" / "pkg"
    below.mkdir(parents=True)
    assert [each.line for each in pins([below], newest_target())] == [1]
    (tmp_path.parent / "requirements.txt").write_text("keras==2.2.4\n")
    assert len(pins([below], newest_target())) == 1, "what lies above the project is not its own"
    (tmp_path.parent / "requirements.txt").unlink()


def test_a_lock_file_is_made_anew_by_its_tool(tmp_path):
    lock = '[[package]]\nname = "keras"\nversion = "2.10.0"\n'
    told = found(tmp_path, "poetry.lock", lock)
    assert [each[2] for each in told] == ["lock it again"]


ODD = {b"\xff pip install keras==2.2.4\n": 1, b"pip install keras==" * 9: 0}


@pytest.mark.parametrize(("data", "number"), ODD.items())
def test_what_is_no_text_or_no_version_is_passed_over(tmp_path, data, number):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.sh").write_bytes(data)
    assert len(pins([tmp_path], newest_target())) == number
