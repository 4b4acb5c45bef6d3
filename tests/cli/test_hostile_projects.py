"""A project that is nobody's friend: nothing is written outside of it, no name steers a terminal."""

import os
from pathlib import Path

import pytest

from kdoctor.report.formats import format_names

OLD = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x, axis=-1)\n"
TARGET = ("--target", "keras==3.15.1")
CACHED = {"KDOCTOR_NO_CACHE": "0"}
STEERS = "no\x1b[31mred\x9b5m"


@pytest.fixture
def outside(tmp_path_factory):
    return tmp_path_factory.mktemp("outside")


def cached(project, *arguments, **environ):
    """Run with a cache, which the tests else go without."""
    env = {"KDOCTOR_NO_CACHE": "0"} | environ
    return project.kdoctor(*arguments, *TARGET, env=env)


@pytest.mark.parametrize("file", ["kdoctor.toml", "pyproject.toml"])
@pytest.mark.parametrize("way", ["absolute", "up", "home", "link"])
def test_no_setting_has_a_scan_write_outside_of_the_project(project, outside, file, way):
    where = {
        "absolute": str(outside),
        "up": os.path.relpath(outside, project.folder),
        "home": "~/cache",
        "link": "linked",
    }[way]
    (project.folder / "linked").symlink_to(outside)
    table = "[tool.kdoctor]\n" if file == "pyproject.toml" else ""
    project.write({"a.py": OLD, file: f"{table}cache-dir = '{where}'\n"})
    ended = cached(project, "scan", HOME=str(outside))
    assert ended.code == 1
    assert not list(outside.iterdir())
    assert f"{file}:{1 + bool(table)}: cache-dir points outside the project" in ended.err
    assert "KDOCTOR_CACHE_DIR=" in ended.err


def test_a_setting_may_put_the_cache_elsewhere_in_the_project(project):
    project.write({"sub/a.py": OLD, "sub/kdoctor.toml": "cache-dir = '../cache'\n"}).committed()
    ended = cached(project, "scan", "sub")
    assert (ended.code, ended.err) == (1, "")
    assert (project.folder / "cache" / "scan").is_dir()


def test_whoever_runs_it_may_put_the_cache_anywhere(project, outside):
    project.write({"a.py": OLD})
    assert cached(project, "scan", KDOCTOR_CACHE_DIR=str(outside / "cache")).err == ""
    settings = outside / "mine.toml"
    settings.write_text(f"cache-dir = '{outside}/other'\n")
    assert cached(project, "scan", "--config", settings).err == ""
    assert (outside / "cache" / "scan").is_dir()
    assert (outside / "other" / "scan").is_dir()


@pytest.mark.parametrize("link", [".kdoctor_cache", ".kdoctor_cache/scan"])
def test_a_link_where_the_cache_should_be_is_not_followed(project, outside, link):
    project.write({"a.py": OLD})
    (project.folder / link).parent.mkdir(exist_ok=True)
    (project.folder / link).symlink_to(outside)
    ended = cached(project, "scan")
    assert ended.code == 1
    assert not list(outside.iterdir())
    assert ".kdoctor_cache points outside the project" in ended.err


@pytest.mark.parametrize("way", ["setting", "link"])
def test_a_baseline_that_leads_out_of_the_project_is_not_written(project, outside, way):
    project.write({"a.py": OLD})
    if way == "setting":
        project.write({"kdoctor.toml": f"baseline = '{outside}/known.json'\n"})
    else:
        (outside / "known.json").write_text('{"kdoctor-baseline": 1, "files": {}}')
        (project.folder / ".kdoctor-baseline.json").symlink_to(outside / "known.json")
    before = [path.read_bytes() for path in outside.iterdir()]
    ended = project.kdoctor("baseline", "write", "--force", *TARGET)
    assert ended.code == 2
    assert "points outside the project" in ended.err
    assert [path.read_bytes() for path in outside.iterdir()] == before

    named = project.kdoctor(
        "baseline", "write", "--force", "--baseline", outside / "x.json", *TARGET
    )
    assert named.code == 0
    assert (outside / "x.json").is_file()


def test_fix_does_not_follow_a_link_out_of_the_folder_unless_it_is_named(project, outside):
    (outside / "b.py").write_text(OLD)
    project.write({"a.py": OLD})
    (project.folder / "link.py").symlink_to(outside / "b.py")
    (project.folder / "folder").symlink_to(outside)
    ended = project.kdoctor("fix", "--apply", ".", *TARGET)
    assert (outside / "b.py").read_text() == OLD
    assert b"ops.sum" in project.read("a.py")
    assert "not read: 1 link points outside the folder (link.py)" in ended.err

    project.kdoctor("fix", "--apply", "link.py", *TARGET)
    assert "ops.sum" in (outside / "b.py").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ("scan", STEERS),
        ("scan", "--format", "github", STEERS),
        ("scan", "--format", STEERS),
        ("scan", "--select", STEERS),
        ("scan", "--target", STEERS),
        ("scan", f"--{STEERS}"),
        ("fix", STEERS),
        ("baseline", "write", STEERS),
        ("report", STEERS),
        ("rules", STEERS),
        ("api", STEERS),
        ("config", STEERS),
        ("target", STEERS),
        ("explain", STEERS),
        ("verify", STEERS),
        ("env", "--python", STEERS),
        (STEERS,),
    ],
)
def test_what_is_given_does_not_steer_the_terminal(project, arguments):
    ended = project.kdoctor(*arguments)
    assert "\x1b" not in ended.out + ended.err
    assert "\x9b" not in ended.out + ended.err


@pytest.mark.parametrize("name", format_names())
def test_what_files_are_called_and_hold_does_not_steer_the_terminal(project, name):
    project.write(
        {f"{STEERS}/{STEERS}.py": OLD, f"{STEERS}/broken.py": f"import keras\n{STEERS}\n"}
    )
    ended = project.kdoctor("scan", ".", "--format", name, *TARGET)
    assert ended.code == 2
    assert "\x1b" not in ended.out + ended.err
    assert "\x9b" not in ended.out + ended.err


DIGITS = "1" * 5000


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("requirements.txt", f"keras=={DIGITS}\n"),
        ("requirements.txt", f"tensorflow>=2.{DIGITS},<3\n"),
        ("requirements.txt", f"keras==2.{DIGITS}.*\n"),
        ("pyproject.toml", f"[project]\ndependencies = ['keras=={DIGITS}']\n"),
        ("pyproject.toml", f"[tool.poetry.dependencies]\nkeras = '^{DIGITS}'\n"),
        ("Pipfile", f"[packages]\nkeras = '~{DIGITS}'\n"),
        ("environment.yml", f"dependencies:\n  - keras={DIGITS}\n"),
        ("uv.lock", f"version = 1\n[[package]]\nname = 'keras'\nversion = '{DIGITS}'\n"),
    ],
)
def test_a_version_of_thousands_of_digits_is_named_and_the_rest_goes_on(project, file, text):
    project.write({"a.py": OLD, file: text})
    ended = project.kdoctor("scan")
    assert ended.code == 2
    assert f"kdoctor: {file}: " in ended.err
    assert "has no valid version" in ended.err
    assert len(ended.err) < 300
    assert "KD101" in ended.out


@pytest.mark.parametrize(
    "asked", [f"keras=={DIGITS}", f"tensorflow==2.{DIGITS}", f"keras==3.0.{DIGITS}"]
)
def test_a_target_of_thousands_of_digits_is_one_sentence(project, asked):
    project.write({"a.py": OLD})
    ended = project.kdoctor("scan", "--target", asked)
    assert ended.code == 2
    assert "is not a version of" in ended.err
    assert len(ended.err) < 300


def test_an_environment_with_a_version_of_many_digits_is_passed_over(project):
    site = Path(".venv/lib/python3.11/site-packages")
    project.write(
        {
            "a.py": OLD,
            ".venv/pyvenv.cfg": "",
            str(site / f"keras-2.{'1' * 200}.dist-info" / "METADATA"): "",
            str(site / "keras-3.15.1.dist-info" / "METADATA"): "",
        }
    )
    assert project.kdoctor("scan").code in {1, 2}
