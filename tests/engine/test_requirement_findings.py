"""What a project installs is reported where it contradicts the target that was asked for."""

from __future__ import annotations

import json

import pytest

from kdoctor.engine import fix, scan
from kdoctor.keras_api import newest_target

ASKED = "keras==3.15.1"
FIRST = "keras==2.2.4"


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def found(paths=(".",), **options):
    """Return place, cell and requirement of each finding on a pin."""
    options = {"target": ASKED, **options}
    result = scan(list(paths), jobs=1, **options)
    assert not result.unreadable
    return [
        (each.place.path, each.place.line, each.message.split("`")[1])
        for each in result.findings
        if each.code == "KD712"
    ]


def fixed(path, **options):
    """Return the bytes of a file with the fixes on pins."""
    options = {"target": ASKED, "select": ["KD712"], "unsafe": True, **options}
    result = fix([path], jobs=1, **options)
    assert not result.left_alone
    return result.files[0].after if result.files else None


def notebook(*sources):
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": s} for s in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


FILES = {
    "requirements.txt": f"numpy\n{FIRST}\n",
    "requirements/dev.in": f"\n{FIRST}\n",
    "constraints.txt": f"\n{FIRST}  # old\n",
    "pyproject.toml": f'[project]\ndependencies = ["{FIRST}"]\n',
    "setup.cfg": f"[options]\ninstall_requires = {FIRST}\n",
    "setup.py": f"from setuptools import setup\nsetup(install_requires=['{FIRST}'])\n",
    "Pipfile": '[packages]\nkeras = "==2.2.4"\n',
    "environment.yml": f"dependencies:\n  - {FIRST}\n",
    "tox.ini": f"[testenv]\ndeps = {FIRST}\n",
    "Dockerfile": f"FROM python\nRUN pip install -q {FIRST}\n",
    "ci/Dockerfile.gpu": f'\nRUN ["pip", "install", "{FIRST}"]\n',
    ".github/workflows/ci.yml": f"steps:\n  - run: pip install {FIRST} h5py\n",
    "tools/setup.sh": f"\npip install {FIRST}\n",
    "README.md": f"# A\n\n```bash\n$ pip install {FIRST}\n```\n",
    "a.ipynb": notebook("x = 1", f"import keras\n!pip install {FIRST}"),
    "b.ipynb": notebook("import keras", f"%%bash\npip install {FIRST}"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_pin_is_reported_wherever_something_is_installed(project, name):
    write(project, {name: FILES[name]})
    ((path, line, requirement),) = found()
    assert (path, requirement.replace(" ", "")) == (name, FIRST)
    assert line == (4 if name == "README.md" else 2)


@pytest.mark.parametrize("name", FILES)
def test_its_fix_changes_the_version_and_nothing_else(project, name):
    write(project, {name: FILES[name]})
    assert fixed(name) == FILES[name].replace("2.2.4", "3.15.1").encode()
    assert fixed(name, unsafe=False) is None


SILENT = {
    "requirements.txt": "keras>=2.2\ntensorflow\nkeras-tuner==1.0\n# keras==2.2.4\n",
    "old.txt": f"{FIRST}\n",
    "Dockerfile": "# RUN pip install keras==2.2.4\nRUN echo pip install keras==2.2.4\n",
    "ci.sh": "if old; then pip install keras==2.2.4; else pip install 'keras>=3'; fi\n",
    "tf.sh": "pip install tensorflow==2.15 || pip install keras~=3.3\n",
    "README.md": f"Write `pip install {FIRST}`.\n\n```python\ntext = 'pip install {FIRST}'\n```\n",
    "setup.py": "setup(extras_require={'a': ['tensorflow<2'], 'b': ['tensorflow>=2.16']})\n",
    "a.ipynb": notebook(f"import keras\nprint('!pip install {FIRST}')"),
    "rc.txt": "",
    "requirements-rc.txt": "tensorflow==2.16.0rc0\n",
}


def test_what_keeps_nothing_on_keras_2_is_not_reported(project):
    write(project, SILENT)
    assert found() == []


def test_where_no_target_is_asked_for_pins_tell_the_target(project):
    write(project, {"requirements.txt": FIRST, "a.py": "import keras\n"})
    result = scan(["."], jobs=1)
    assert (result.findings, result.files) == ((), ("a.py",))
    assert scan(["requirements.txt"], jobs=1).findings == ()
    assert found(target="keras==2.15") == []


def test_a_setting_asks_for_a_target_too(project):
    write(project, {"requirements.txt": FIRST, "kdoctor.toml": f'target = "{ASKED}"\n'})
    write(project, {"apart/requirements.txt": FIRST})
    assert len(found(target=None)) == 2
    write(project, {"apart/kdoctor.toml": 'target = "keras==2.15"\n'})
    assert [path for path, *_ in found(target=None)] == ["requirements.txt"]


def test_a_target_that_was_inferred_is_not_asked_for(project):
    write(project, {"requirements.txt": FIRST})
    from msgspec.structs import replace  # noqa: PLC0415

    assert found(target=replace(newest_target(), assumed=True)) == []


def test_a_comment_an_exclusion_and_a_selection_silence_it(project):
    write(project, {
        "requirements.txt": f"# kdoctor: ignore[KD712] the old server\n{FIRST}\ntensorflow<2\n",
        "Dockerfile": f"RUN pip install \\\n  # kdoctor: ignore\n  h5py \\\n  {FIRST}\n",
        "constraints.txt": f"{FIRST}  # kdoctor: ignore[KD712]\n",
        "kdoctor.toml": '[per-file-ignores]\n"docs/*" = ["KD712"]\n',
        "docs/requirements.txt": FIRST,
    })  # fmt: skip
    assert [(path, line) for path, line, _ in found()] == [
        ("Dockerfile", 4),
        ("requirements.txt", 3),
    ]
    assert found(ignore=["KD712"]) == []


def test_a_comment_that_silences_no_pin_is_told(project):
    write(project, {"requirements.txt": "keras>=3  # kdoctor: ignore[KD712]\n"})
    (told,) = scan(["."], target=ASKED, jobs=1).findings
    assert told.code == "KD901"
    assert fix(["."], target=ASKED, jobs=1).files[0].after == b"keras>=3\n"


@pytest.mark.parametrize("name", FILES)
def test_add_ignores_writes_comments_that_silence(project, name):
    write(project, {name: FILES[name]})
    fix(["."], target=ASKED, add_ignores="", apply=True, jobs=1, select=["KD712"])
    assert b"# kdoctor: ignore[KD712]" in (project / name).read_bytes()
    assert found() == []
    assert len(scan(["."], target=ASKED, jobs=1).suppressed) == 1


BYTES = [
    b"\xef\xbb\xbfkeras==2.2.4\r\nnumpy\r\n",
    "# Gr\u00fc\u00dfe\nkeras==2.2.4\n".encode("latin-1"),
    b"\xff\xfe" + "keras==2.2.4\r\n# \u00fc\r\n".encode("utf-16-le"),
    b"\xfe\xff" + "keras==2.2.4".encode("utf-16-be"),
    b"numpy\rkeras==2.2.4\rh5py",
]


@pytest.mark.parametrize("data", BYTES)
def test_all_other_bytes_stay(project, data):
    write(project, {"requirements.txt": data})
    assert len(found()) == 1
    old, new = (
        text.encode("utf-16-le") if data[:1] == b"\xff" else
        text.encode("utf-16-be") if data[:1] == b"\xfe" else text.encode()
        for text in ("2.2.4", "3.15.1")
    )  # fmt: skip
    assert fixed("requirements.txt") == data.replace(old, new)


NO_FIX = {
    "requirements.txt": f"{FIRST} \\\n    --hash=sha256:ab\n",
    "poetry.lock": '[[package]]\nname = "keras"\nversion = "2.10.0"\n',
    "environment.yml": "dependencies:\n  - keras=2.2.4=py36_0\n",
    "pyproject.toml": '[project]\ndependencies = ["keras @ git+https://a/keras@2.2.4"]\n',
    "tox.ini": "[testenv]\ndeps =\n    a: tensorflow==2.9\n    b: tensorflow==2.10\n",
}


@pytest.mark.parametrize("name", NO_FIX)
def test_what_only_people_or_tools_can_write_says_why(project, name):
    write(project, {name: NO_FIX[name]})
    findings = scan(["."], target=ASKED, jobs=1).findings
    assert findings
    assert all(each.fix is None and each.no_fix_because for each in findings)


def test_a_cell_of_commands_is_named_by_its_number(project):
    source = f"%%sh\n# pip install tensorflow==1.15\n  pip install {FIRST} h5py"
    write(project, {"a.ipynb": notebook("import keras", source)})
    (finding,) = scan(["a.ipynb"], target=ASKED, jobs=1).findings
    assert (finding.place.cell, finding.place.line, finding.place.column) == (2, 3, 15)


def test_all_pins_of_one_magic_are_written_at_once(project):
    text = notebook("!pip install -q keras==2.2.4 'tensorflow<2'  # old", "import keras")
    write(project, {"a.ipynb": text})
    after = text.replace("keras==2.2.4", "keras==3.15.1").replace(
        "tensorflow<2", "tensorflow>=2.16"
    )
    assert fixed("a.ipynb") == after.encode()
    (one, other) = scan(["a.ipynb"], target=ASKED, jobs=1).findings
    assert one.fix.edits == other.fix.edits
    assert (one.place.cell, one.place.column) == (1, 17)


def test_code_and_magics_of_one_cell_are_fixed_together(project):
    source = (
        "!pip install keras==2.2.4\nfrom keras.utils import np_utils\nnp_utils.to_categorical([1])"
    )
    write(project, {"a.ipynb": notebook(source)})
    (after,) = json.loads(fixed("a.ipynb", select=None))["cells"]
    assert after["source"].startswith("!pip install keras==3.15.1\n")
    assert "np_utils" not in after["source"]


def test_a_file_given_twice_or_by_a_link_is_reported_once(project):
    write(project, {"requirements.txt": FIRST})
    (project / "requirements-dev.txt").symlink_to(project / "requirements.txt")
    assert len(found([".", "requirements.txt", "./requirements.txt"])) == 1


def test_several_processes_and_the_cache_report_the_same(project):
    write(project, FILES)
    once = found(cache=True)
    assert found(cache=True) == once
    assert found(target=None, cache=True) == []
    assert len(once) == len(FILES)


@pytest.mark.usefixtures("project")
def test_standard_input_is_read_by_the_name_that_it_is_given():
    options = {"stdin": f"{FIRST}\n".encode(), "stdin_filename": "requirements.txt"}
    assert found(["-"], **options) == [("requirements.txt", 1, FIRST)]
    assert found(["-"], stdin=options["stdin"], kind="requirements") == [("-", 1, FIRST)]


def test_a_changed_setup_with_tensorflow_alone_is_read(project):
    write(project, {"setup.py": "from setuptools import setup\nsetup(install_requires=['tensorflow<2'])\n"})  # fmt: skip
    assert [each[2] for each in found()] == ["tensorflow<2"]
