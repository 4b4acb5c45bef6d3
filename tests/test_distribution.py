"""What users install: the name on the index, the text about it, the archives, and the command in them.

``kdoctor`` on the index is a stranger's tool: whoever is told to install it gets something else.
"""

from __future__ import annotations

import email
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
PUBLISHED_AT = {
    "KERAS_DOCTOR_REPOSITORY": "https://code.example/people/keras-doctor",
    "KERAS_DOCTOR_DOCUMENTATION": "https://people.example/keras-doctor/",
}
# `pip install kdoctor`, `uv tool install "kdoctor[lsp]"`, `uvx kdoctor`, `pipx run kdoctor==1.2`
INSTALLS_A_STRANGERS_TOOL = re.compile(
    r"\b(?:(?:pip|pipx|tool|uv)[ \t]+(?:install|run|add|inject)|uvx)[ \t]+(?:-{1,2}[\w-]+[ \t]+)*"
    r"(?:\S+[ \t]+)?['\"]?kdoctor\b(?!/|\.git)"
)
LEFT_BY_RUNS = {".kdoctor_cache", "__pycache__", ".venv", ".pytest_cache"}
READ_BY_USERS = {
    ".md",
    ".rst",
    ".ipynb",
    ".py",
    ".toml",
    ".yml",
    ".yaml",
    ".mk",
    ".sh",
    ".txt",
    ".json",
    ".html",
    ".cfg",
    "",
}


def _tracked():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    return [ROOT / name for name in listed if name and Path(name).suffix in READ_BY_USERS]


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    {
        "pip install kdoctor": True,
        "python -m pip install --upgrade 'kdoctor[lsp]'": True,
        "uv tool install kdoctor": True,
        "pipx install kdoctor": True,
        "uvx kdoctor scan .": True,
        "pip install keras-doctor": False,
        "uvx --from keras-doctor kdoctor scan .": False,
        "pipx run --spec keras-doctor kdoctor": False,
        "pip install kdoctor/": False,
    }.items(),
)
def test_what_installs_the_other_tool_is_known(text, is_wrong):
    text = re.sub(r"(--from|--spec) keras-doctor kdoctor", "keras-doctor", text)
    assert bool(INSTALLS_A_STRANGERS_TOOL.search(text)) == is_wrong


def test_no_text_tells_anyone_to_install_a_strangers_tool():
    files = _tracked()
    assert len(files) > 500
    wrong = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files
        if path != Path(__file__).resolve() and path.is_file()
        for match in INSTALLS_A_STRANGERS_TOOL.finditer(path.read_text("utf-8", "replace"))
        if "keras-doctor" not in match[0]
    ]
    assert wrong == []


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Return a copy of what git tracks here, with what runs leave behind in a checkout."""
    source = tmp_path_factory.mktemp("source")
    for path in subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0"):
        if path and (ROOT / path).is_file():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, source / path)
    (source / ".kdoctor_cache").mkdir()
    (source / ".kdoctor_cache" / "findings.bin").write_bytes(b"cached")
    (source / "kdoctor" / "__pycache__").mkdir()
    (source / "kdoctor" / "__pycache__" / "old.cpython-311.pyc").write_bytes(b"compiled")
    return source


class Room:
    """An environment of its own with pip, for whoever has no uv, or whose index uv does not know."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment."""
        return _run(self.folder / SCRIPTS / command[0], *command[1:], cwd=cwd)

    def install(self, *packages: str | Path) -> None:
        """Install from the index that pip has, or skip the test where there is none."""
        if not self.folder.exists():
            subprocess.run([sys.executable, "-m", "venv", self.folder], check=True)
        done = self.run("python", "-m", "pip", "install", "--quiet", *packages, cwd=ROOT)
        if done.returncode != 0:
            asked = [
                "python",
                "-m",
                "pip",
                "download",
                "--no-deps",
                "--quiet",
                "-d",
                self.folder / "asked",
            ]
            index = self.run(*asked, "packaging", cwd=ROOT)
            if index.returncode != 0:
                pytest.skip(f"no package index: {index.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stdout + done.stderr


def _run(*command, cwd, **environment):
    return subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path / "room")


def _built(source, out, room, **environment):
    """Return the wheel and the sdist of a source."""
    uv = BIN / "uv"
    options = ["build", "--quiet", "--out-dir", out, source]
    if not uv.exists() or _run(uv, *options, cwd=source, **environment).returncode != 0:
        room.install("hatchling>=1.25")
        python = room.folder / SCRIPTS / "python"
        done = _run(python, "-m", "hatchling", "build", "-d", out, cwd=source, **environment)
        assert done.returncode == 0, done.stderr
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    return wheel, sdist


@pytest.fixture(scope="module")
def archives(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    return _built(source, folder / "dist", Room(folder / "room"))


@pytest.fixture(scope="module")
def published(source, tmp_path_factory):
    """Return the archives as a release builds them: with the address of repository and pages."""
    folder = tmp_path_factory.mktemp("published")
    return _built(source, folder / "dist", Room(folder / "room"), **PUBLISHED_AT)


def _metadata(wheel):
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        return email.message_from_string(opened.read(name).decode())


def test_the_archives_hold_the_package_and_no_leavings(archives):
    wheel, sdist = archives
    assert wheel.name.startswith("keras_doctor-")
    with zipfile.ZipFile(wheel) as opened:
        inside = opened.namelist()
    assert {"kdoctor/__main__.py", "kdoctor/py.typed", "kdoctor/rules/index.json"} <= {*inside}
    with tarfile.open(sdist) as opened:
        inside += opened.getnames()
        in_sdist = {name.partition("/")[2] for name in opened.getnames()}
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "kdoctor").rglob("rules/*/*.md")}
    assert pages
    assert pages <= {*inside} & in_sdist
    leavings = [name for name in inside if LEFT_BY_RUNS & {*Path(name).parts}]
    assert leavings == []


def test_the_index_would_take_the_archives(archives, published, room):
    python = sys.executable
    if importlib.util.find_spec("twine") is None:
        room.install("twine>=6")
        python = room.folder / SCRIPTS / "python"
    done = _run(python, "-m", "twine", "check", "--strict", *archives, *published, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_metadata_names_authors_systems_and_pythons(archives):
    metadata = _metadata(archives[0])
    classifiers = metadata.get_all("Classifier")
    assert metadata["Name"] == "keras-doctor"
    assert metadata["Author"]
    for system in ("POSIX :: Linux", "MacOS", "Microsoft :: Windows"):
        assert f"Operating System :: {system}" in classifiers
    for minor in (11, 12, 13, 14):
        assert f"Programming Language :: Python :: 3.{minor}" in classifiers


def test_a_release_names_its_addresses_and_has_absolute_links_only(published):
    metadata = _metadata(published[0])
    named = dict(url.split(", ", 1) for url in metadata.get_all("Project-URL"))
    home = PUBLISHED_AT["KERAS_DOCTOR_REPOSITORY"]
    assert named["Repository"] == home
    assert named["Documentation"] == PUBLISHED_AT["KERAS_DOCTOR_DOCUMENTATION"]
    assert {"Issues", "Changelog"} <= {*named}

    links = re.findall(r"\]\(([^)]+)\)", metadata.get_payload())
    assert f"{home}/blob/v{metadata['Version']}/docs/install.md" in links
    assert [link for link in links if not link.startswith("https://")] == []
    assert "<owner>" not in metadata.get_payload()


def test_a_build_that_is_not_published_links_nowhere_rather_than_astray(archives):
    metadata = _metadata(archives[0])
    assert metadata.get_all("Project-URL") is None
    assert re.search(r"\]\(", metadata.get_payload()) is None
    assert "Read a finding shows the whole report" in metadata.get_payload()


def test_the_release_workflow_says_where_it_publishes():
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    for name in PUBLISHED_AT:
        assert f"{name}: https" in workflow or f"{name}: ${{{{ github.server_url }}}}" in workflow


def _run_alone(wheel, room, cwd, *arguments):
    """Run the command of a wheel in an environment that has nothing else."""
    uvx = BIN / "uvx"
    if uvx.exists():
        done = _run(uvx, "--quiet", "--from", wheel, "kdoctor", *arguments, cwd=cwd)
        if done.stdout:
            return done
    room.install(wheel)
    return room.run("kdoctor", *arguments, cwd=cwd)


def test_the_command_of_the_wheel_runs_where_nothing_else_is(archives, tmp_path, room):
    done = _run_alone(archives[0], room, tmp_path, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"kdoctor \d+\.\d+\.\d+\S*\n", done.stdout)


def test_a_release_links_its_rules_in_sarif(published, tmp_path, room):
    (tmp_path / "train.py").write_text("from keras import backend as K\n\nK.sum(1)\n")
    done = _run_alone(published[0], room, tmp_path, "scan", "--format", "sarif", "train.py")
    assert done.returncode == 1, done.stderr
    driver = json.loads(done.stdout)["runs"][0]["tool"]["driver"]
    pages = PUBLISHED_AT["KERAS_DOCTOR_DOCUMENTATION"]
    assert [rule["helpUri"] for rule in driver["rules"]] == [f"{pages}rules/KD101/"]
    assert driver["informationUri"] == PUBLISHED_AT["KERAS_DOCTOR_REPOSITORY"]
