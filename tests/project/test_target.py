"""Which Keras a project runs on, by its own files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kdoctor.errors import UsageProblem
from kdoctor.keras_api import known_releases
from kdoctor.project import find_target, show_chain

FIXTURES = Path(__file__).with_name("fixtures")
NEWEST = known_releases("keras")[-1]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Write files into an own folder, the top of a repository, and return the chain there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()

    def write(files, below=".", environ=None):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return find_target([below], environ or {})

    return write


@pytest.mark.parametrize(
    ("project", "shown", "source"),
    [
        ("uv_lock", "keras 3.5.0", "uv.lock:45"),
        ("poetry_lock", "keras 2.11.0", "poetry.lock:3"),
        ("pdm_lock", "keras 2.15.0", "pdm.lock:13"),
        ("pylock", "keras 2.15.0", "pylock.toml:7"),
        ("pipfile_lock", "keras 2.12.0", "Pipfile.lock:19"),
        (
            "requirements",
            "tensorflow 2.10.1",
            "requirements.txt:5 says tensorflow<2.12,>=2.4: the newest matching release, with keras 2.10.0",
        ),
        (
            "pyproject",
            "keras 2.15.0",
            "pyproject.toml:6 says keras~=2.9: the newest matching release",
        ),
        (
            "poetry_table",
            "tensorflow 2.8.4",
            "pyproject.toml:6 says tensorflow ~2.8: the newest matching release, with keras 2.8.0",
        ),
        ("setup_cfg", "keras 2.3.1", "setup.cfg:7"),
        ("setup_py", "keras 2.2.5", "setup.py:5 says Keras<2.3,>=2.2: the newest matching release"),
        (
            "conda",
            "tensorflow 2.16.2",
            (
                "environment.yml:5 says conda-forge::tensorflow-gpu=2.16: the newest matching release, with keras "
                f"{NEWEST}; tf.keras is tf_keras 2.16.0: TF_USE_LEGACY_KERAS in environment.yml:10"
            ),
        ),
        (
            "pipfile",
            "tensorflow 2.21.0",
            f"Pipfile:3 leaves tensorflow open: the newest known release, with keras {NEWEST}",
        ),
        ("kdoctor_toml", "tensorflow 2.21", f"kdoctor.toml:2, with keras {NEWEST}"),
    ],
)
def test_each_kind_of_file_gives_the_target_and_is_named(tree, tmp_path, project, shown, source):
    shutil.copytree(FIXTURES / project, tmp_path, dirs_exist_ok=True)
    chain = tree({})
    assert (str(chain.target), chain.target.source) == (shown, source)
    assert chain.problems == ()
    assert chain.conflicts == ()
    assert chain.target.inferred


def test_a_folder_without_such_files_is_checked_for_the_newest(tree):
    chain = tree({"train.py": "import keras\n", "requirements.txt": "numpy\n"}, "train.py")
    assert chain.target.source == "newest Keras 3 known"


def test_keras_beside_tensorflow_keeps_its_own_version_and_tf_keras_that_of_tensorflow(tree):
    target = tree({"requirements.txt": "tensorflow-gpu==2.10.1\nkeras\n"}).target
    assert (target.keras_version, target.tf_keras_version) == ("2.10.0", "2.10.0")
    assert str(target) == "tensorflow 2.10.1"
    target = tree({"requirements.txt": "tensorflow==2.3.1\nkeras==2.3.1\n"}).target
    assert (str(target), target.keras_version) == ("keras 2.3.1", "2.3.1")
    assert target.tf_keras_version == "2.3.4"
    target = tree({"requirements.txt": "tensorflow==1.15.2\nkeras==2.3.1\n"}).target
    assert (target.keras_version, target.tf_keras_version) == ("2.3.1", "1.15.5")
    target = tree({"requirements.txt": "tensorflow-gpu==1.15.2\nkeras\n"}).target
    assert (str(target), target.keras_version) == ("tensorflow 1.15.2", "2.3.1")
    target = tree({"requirements.txt": "tensorflow==2.3\n"}).target
    assert (target.keras_version, target.tf_keras_version) == ("", "2.3.4")
    assert target.is_before_keras_3


def test_a_lock_beats_a_range_and_an_exact_version_narrows_it(tree):
    lock = '[[package]]\nname = "keras"\nversion = "2.9.0"\n'
    assert tree({"pyproject.toml": '[project]\ndependencies = ["keras>=2"]\n'}).target.inferred
    chain = tree({"poetry.lock": lock})
    assert (str(chain.target), chain.conflicts) == ("keras 2.9.0", ())
    chain = tree({"poetry.lock": "", "environment.yml": "dependencies:\n- keras=2.8\n"})
    assert str(chain.target) == "keras 2.8.0"


def test_a_workspace_keeps_its_lock_at_the_top(tree):
    files = {
        "uv.lock": '[[package]]\nname = "keras"\nversion = "3.5.0"\n',
        "apps/waves/pyproject.toml": '[project]\ndependencies = ["keras>=3"]\n',
        "old/requirements.txt": "keras==2.4.3\n",
    }
    assert str(tree(files, "apps/waves").target) == "keras 3.5.0"
    chain = tree(files, "old")
    assert (str(chain.target), chain.conflicts) == ("keras 2.4.3", ())


def test_what_lies_above_the_repository_is_none_of_its(tmp_path):
    (tmp_path / "requirements.txt").write_text("keras==2.4.3\n")
    inner = tmp_path / "inner"
    (inner / ".git").mkdir(parents=True)
    assert find_target([inner], {}).target.source == "newest Keras 3 known"
    (inner / ".git").rmdir()
    assert str(find_target([inner], {}).target) == "keras 2.4.3"


@pytest.mark.parametrize(
    ("files", "taken", "parts"),
    [
        (
            {"requirements.txt": "keras==2.10\n", "uv.lock": '[[package]]\nname = "keras"\nversion = "3.5.0"\n'},
            "keras 3.5.0",
            ["requirements.txt:1 says keras==2.10", "uv.lock:1 says keras 3.5.0", "uv.lock:1 is used, as a lock"],
        ),
        (
            {"requirements.txt": "keras==2.15.0\ntensorflow==2.21.0\n"},
            "keras 2.15.0",
            ["requirements.txt:1", "requirements.txt:2", "are incompatible", "keras 2.15.0 is used"],
        ),
        (
            {"requirements.txt": "keras==2.10.0\n", "requirements-gpu.txt": "numpy\nkeras==2.4.3\n"},
            "keras 2.10.0",
            ["requirements-gpu.txt:2 says keras==2.4.3", "requirements.txt:1 is used, as it is read first"],
        ),
        (
            {"requirements.txt": "keras==2.10.0\n-r more.txt\n", "more.txt": "keras<2.5\n"},
            "keras 2.10.0",
            ["more.txt:1 says keras<2.5", "requirements.txt:1 is used, as it comes first"],
        ),
        (
            {"requirements.txt": "tensorflow==2.10.0\n", "setup.cfg": "[options]\ninstall_requires = keras==2.3.1\n"},
            "tensorflow 2.10.0",
            ["setup.cfg:2 says keras==2.3.1", "as a requirements file takes precedence over a project file"],
        ),
    ],
)  # fmt: skip
def test_a_conflict_is_said_once_with_both_places_and_the_reason(tree, files, taken, parts):
    chain = tree(files)
    assert str(chain.target) == taken
    (conflict,) = chain.conflicts
    assert [part for part in parts if part not in conflict] == []


@pytest.mark.parametrize(
    "files",
    [
        {"requirements.txt": "keras>=2.4\n", "setup.cfg": "[options]\ninstall_requires = keras\n"},
        {"requirements.txt": "keras==2.10.0\n", "uv.lock": '[[package]]\nname = "keras"\nversion = "2.10.0"\n'},
        {"requirements.txt": "tensorflow==2.10.0; python_version < '3.11'\ntensorflow==2.15.0; python_version >= '3.11'\n"},
        {"pyproject.toml": '[project]\ndependencies = ["keras==2.10"]\n[project.optional-dependencies]\nnew = ["keras>=3"]\n'},
        {"uv.lock": '[[package]]\nname = "keras"\nversion = "2.10.0"\n[[package]]\nname = "keras"\nversion = "3.5.0"\n'},
        {"requirements.txt": "tensorflow==2.18.0\ntf-keras==2.18.0\nkeras==3.6.0\n"},
    ],
)  # fmt: skip
def test_what_agrees_or_is_for_others_is_no_conflict(tree, files):
    assert tree(files).conflicts == ()


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"uv.lock": '[[package]]\nname = "keras"\nversion = \n'}, "not valid TOML: invalid value (line 3)"),
        ({"uv.lock": '[[package]]\nname = "numpy"\n<<<<<<< HEAD\n# keras\n'}, "unresolved merge conflict (line 3)"),
        ({"Pipfile.lock": '{"default": {"keras": \n}'}, "not valid JSON: expecting value (line 2)"),
        ({"Pipfile.lock": '{"keras": ' + "[" * 100_000}, "nested too deeply"),
        ({"poetry.lock": "x = " + "[" * 10_000 + "# keras"}, "not valid TOML: nested too deeply"),
        ({"pyproject.toml": "keras = " + "1" * 5000}, "not valid TOML: exceeds the limit"),
        ({"Pipfile": "[packages\nkeras = 1\n"}, "(line 1)"),
        ({"pyproject.toml": "[project]\ndependencies = ['keras'\n"}, "(line 3)"),
        ({"environment.yml": "dependencies:\n- keras\n  - : [\n"}, "not valid YAML: "),
        ({"setup.cfg": "install_requires = keras\n"}, "no section headers"),
        ({"requirements.txt": "numpy\nkeras === === 3\n"}, "'keras === === 3' is not a valid requirement"),
        ({"requirements.txt": "-r nowhere.txt\n"}, "included file nowhere.txt: cannot be read: No such file"),
        ({"requirements.txt": b"keras==2.10 # \xff\n"}, "not UTF-8: byte 14"),
    ],
)  # fmt: skip
def test_a_broken_file_is_one_sentence_and_the_others_still_count(tree, files, sentence):
    chain = tree(
        {
            **files,
            "setup.py": "from setuptools import setup\nsetup(install_requires=['keras==2.12'])\n",
        }
    )
    assert str(chain.target) == "keras 2.12.0"
    (problem,) = chain.problems
    assert sentence in problem.why
    assert problem.path == next(iter(files))
    assert "\n" not in problem.why


@pytest.mark.parametrize(
    "files",
    [
        {"uv.lock": "# keras has no table of its own here\n"},
        {"Pipfile.lock": '{"default": {"keras": {"version": 3}, "numpy": 3}, "develop": []}'},
    ],
)
def test_a_lock_that_says_nothing_is_no_problem(tree, files):
    chain = tree(files)
    assert not chain.problems
    assert str(chain.target) == f"keras {NEWEST}"


def test_a_setting_of_kdoctor_comes_first_and_says_its_line(tree):
    chain = tree(
        {"pyproject.toml": "[tool.kdoctor]\ntarget = 'keras==2.15'\n", "uv.lock": "<<<<<<< x"}
    )
    assert (str(chain.target), chain.target.source) == ("keras 2.15.0", "pyproject.toml:2")
    assert chain.conflicts == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[tool.kdoctor]\ntargt = 'keras==3'\n",
            r"unknown setting 'targt'; did you mean 'target'\?",
        ),
        (
            "[tool.kdoctor]\ntarget = 3\n",
            (
                r"^pyproject.toml:2: target must be a string or a list of strings, as in "
                r'target = "keras==3\.15\.1"$'
            ),
        ),
        (
            "[tool.kdoctor]\ntarget = 'keras==9'\n",
            "pyproject.toml:2: target: keras 9 is not a known release",
        ),
        ("[tool]\nkdoctor = 3\n", "not a table"),
    ],
)
def test_a_wrong_setting_is_a_usage_problem(tree, text, sentence):
    with pytest.raises(UsageProblem, match=sentence):
        tree({"pyproject.toml": text})


def test_the_flag_of_tensorflow_turns_tf_keras_into_the_old_one(tree):
    files = {"requirements.txt": "tensorflow==2.18.0\n"}
    assert tree(files).target.tf_keras_version == NEWEST
    target = tree(files, environ={"TF_USE_LEGACY_KERAS": "1"}).target
    assert (target.keras_version, target.tf_keras_version) == (NEWEST, "2.18.0")
    assert target.source.endswith("tf.keras is tf_keras 2.18.0: $TF_USE_LEGACY_KERAS")
    files["Dockerfile"] = "FROM x\nENV A=1 \\\n    TF_USE_LEGACY_KERAS=True\n"
    target = tree(files).target
    assert target.tf_keras_version == "2.18.0"
    assert target.source.endswith("TF_USE_LEGACY_KERAS in Dockerfile:3")
    assert tree(files, environ={"TF_USE_LEGACY_KERAS": "0"}).target.tf_keras_version == NEWEST
    files |= {"Dockerfile": "", ".env": "# TF_USE_LEGACY_KERAS=1\nexport TF_USE_LEGACY_KERAS=1\n"}
    assert tree(files).target.source.endswith(".env:2")


def test_tf_keras_alone_leaves_tf_keras_of_tensorflow_what_it_is(tree):
    target = tree({"requirements.txt": "tf-keras==2.18.0\n"}).target
    assert (str(target), target.keras_version) == ("tf_keras 2.18.0", NEWEST)
    assert target.tf_keras_version == NEWEST


def installed(*names):
    site = ".venv/lib/python3.11/site-packages"
    return {".venv/pyvenv.cfg": "home = /usr\n"} | {
        f"{site}/{name}.dist-info/METADATA": "Metadata-Version: 2.1\n" for name in names
    }


def test_an_environment_of_the_project_speaks_where_nothing_is_declared(tree):
    files = installed("keras-2.14.0", "tensorflow-2.14.1", "numpy-1.26.0")
    chain = tree(files)
    assert (str(chain.target), chain.target.source) == ("keras 2.14.0", "installed in .venv")
    assert str(tree({"requirements.txt": "keras>=3\n"}).target) == f"keras {NEWEST}"
    assert ".venv says keras 2.14.0" in tree({}).conflicts[0]


def test_stale_metadata_does_not_count(tree):
    site = ".venv/lib/python3.11/site-packages"
    files = installed("keras-2.14.0", "keras-3.5.0", "~eras-3.9.0") | {
        f"{site}/keras/src/version.py": '__version__ = "2.14.0"\n',
        f"{site}/tensorflow-2.9.0.dist-info/INSTALLER": "pip\n",
    }
    assert str(tree(files).target) == "keras 2.14.0"
    assert str(tree({f"{site}/keras/src/version.py": ""}).target) == "keras 3.5.0"


def test_the_active_environment_speaks_last(tree, tmp_path):
    active = tmp_path / "elsewhere" / "env"
    packages = active / "lib" / "python3.7" / "site-packages" / "Keras-2.3.1-py3.7.egg-info"
    packages.mkdir(parents=True)
    (packages / "PKG-INFO").touch()
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        chain = tree({}, environ={variable: str(active)})
        assert str(chain.target) == "keras 2.3.1"
        assert variable in chain.target.source
    chain = tree({"requirements.txt": "keras==3.5.0\n"}, environ={"VIRTUAL_ENV": str(active)})
    assert (str(chain.target), chain.conflicts) == ("keras 3.5.0", ())


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("keras==2.3.1=py37_0", "keras 2.3.1"),
        ("keras=2.3.1", "keras 2.3.1"),
        ("Keras 2.3.1", "keras 2.3.1"),
        ("keras>=2.3.*,<2.4", "keras 2.3.1"),
        ("keras == 2.10.* # x", "keras 2.10.0"),
        ("keras~=2.9", "keras 2.15.0"),
        ("keras<3", "keras 2.15.0"),
        ("keras!=3.15.1,!=3.15.0", "keras 3.14.1"),
        ("keras>2.4.3,<=2.7", "keras 2.7.0"),
        ("keras===2.7.0", "keras 2.7.0"),
        ("tensorflow[and-cuda]==2.15.0.post1", "tensorflow 2.15.0"),
        ("tensorflow==2.13.0rc1", "tensorflow 2.13.0"),
        ("tensorflow_cpu==2.9.0 --hash=sha256:00", "tensorflow 2.9.0"),
        ("tensorflow-macos==2.9.2; sys_platform == 'darwin'", "tensorflow 2.9.2"),
        ("keras @ https://files.example.org/keras-2.2.4.tar.gz", "keras 2.2.4"),
        ("git+https://github.com/keras-team/keras.git@2.2.4", "keras 2.2.4"),
        ("-e git+https://github.com/keras-team/keras@v3.5.0#egg=keras", "keras 3.5.0"),
        ("https://example.org/tensorflow-2.8.0-cp38-cp38-manylinux2010_x86_64.whl", "tensorflow 2.8.0"),
        ("tf-nightly", "tensorflow 2.21.0"),
        ("tf_nightly==2.99.0.dev20300101", "tensorflow 2.99.0"),
        ("keras==1.2.2", "keras 1.2.2"),
        ("keras==4.1", "keras 4.1.0"),
        ("keras>=4", f"keras {NEWEST}"),
    ],
)  # fmt: skip
def test_odd_requirements_mean_what_people_mean(tree, line, shown):
    chain = tree({"requirements.txt": f"numpy\n{line}\n"})
    assert str(chain.target) == shown
    assert chain.problems == ()
    assert chain.taken[0].place == "requirements.txt:2"


def test_a_version_that_kdoctor_does_not_know_is_read_as_the_nearest_and_says_so(tree):
    old = tree({"requirements.txt": "keras==1.2.2\n"}).target
    assert old.keras_version == known_releases("keras")[0]
    assert "keras 1.2.2 is not known to kdoctor; treated as" in old.source
    assert tree({"requirements.txt": "keras==4.1\n"}).target.keras_version == NEWEST


def test_requirements_in_utf_16_and_with_a_mark_are_read(tree):
    for encoding in ("utf-16", "utf-8-sig"):
        text = "numpy==1.0\r\nkeras==2.12.0\r\n".encode(encoding)
        assert tree({"requirements.txt": text}).target.source == "requirements.txt:2"


def test_requirements_that_include_each_other_come_to_an_end(tree):
    chain = tree(
        {"requirements.txt": "-r a.txt\n", "a.txt": "-r requirements.txt\n-ra.txt\nkeras==2.9\n"}
    )
    assert chain.target.source == "a.txt:3"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2.4", "keras 2.4.0"), ("^2.4", "keras 2.15.0"), ("~2.4", "keras 2.4.3"), ("*", f"keras {NEWEST}"),
        ("~2", "keras 2.15.0"), ("2.*", "keras 2.15.0"), ("<2.5 || >=2.9,<2.11", "keras 2.10.0"), ("~=2.9.0", "keras 2.9.0"),
    ],
)  # fmt: skip
def test_versions_of_poetry(tree, written, shown):
    assert (
        str(tree({"pyproject.toml": f"[tool.poetry.dependencies]\nkeras = '{written}'\n"}).target)
        == shown
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("keras=2.3", "keras 2.3.1"), ("keras==2.3.0", "keras 2.3.0"), ("keras 2.3.1", "keras 2.3.1"),
        ("keras >=2.3,<2.5", "keras 2.4.3"), ("keras=2.3.1=py37h1", "keras 2.3.1"), ("keras", f"keras {NEWEST}"),
        ("conda-forge::keras[version='>=2.8,<2.10']", "keras 2.9.0"), ("keras-gpu=2.3.*", "keras 2.3.1"),
    ],
)  # fmt: skip
def test_versions_of_conda(tree, written, shown):
    assert str(tree({"environment.yaml": f'dependencies:\n- "{written}"\n'}).target) == shown


@given(
    st.text(max_size=30),
    st.sampled_from(["keras", "tensorflow", "tf-keras==", "keras>=2,<", "-r keras", "keras @ ", "keras; "]),
)  # fmt: skip
@example("\x00", "-r keras")
@example("\ud800", "-r keras")
def test_no_requirement_is_too_odd(name, start):
    from kdoctor.errors import FileProblem  # noqa: PLC0415
    from kdoctor.project.readers.file import File  # noqa: PLC0415
    from kdoctor.project.readers.requirements_txt import read_requirements  # noqa: PLC0415

    data = f"{start}{name}\nkeras==2.10\n".encode(errors="replace")
    try:
        found = list(read_requirements(File("requirements.txt", Path("requirements.txt"), data)))
    except FileProblem as problem:
        pytest.fail(str(problem))
    assert name.rstrip().endswith("\\") or found[-1].requirement == "keras==2.10"


def test_the_whole_chain_is_shown_also_where_it_does_not_decide(tree):
    tree({"requirements.txt": "keras==2.10\n", "kdoctor.toml": "target = 'keras==3'\n"})
    chain = show_chain(["."], None, {})
    assert chain.target.source == "kdoctor.toml:1"
    assert [source.path for source in chain.sources] == ["requirements.txt"]
    assert show_chain(["."], "keras==2.15", {}).target.source == "--target"
