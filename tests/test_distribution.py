"""What users install: the name on the index, the text about it, the archives, and the command in them.

``kdoctor`` on the index is a stranger's tool: whoever is told to install it gets something else.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
UVX = Path(sys.executable).with_name("uvx")
# `pip install kdoctor`, `uv tool install "kdoctor[lsp]"`, `uvx kdoctor`, `pipx run kdoctor==1.2`
INSTALLS_A_STRANGERS_TOOL = re.compile(
    r"\b(?:(?:pip|pipx|tool|uv)\s+(?:install|run|add|inject)|uvx)\s+(?:-{1,2}[\w-]+\s+)*"
    r"(?:\S+\s+)?['\"]?kdoctor\b(?!/|\.git)"
)
LEFT_BY_RUNS = {".kdoctor_cache", "__pycache__", ".venv", ".pytest_cache"}
READ_BY_USERS = {".md", ".py", ".toml", ".yml", ".yaml", ".mk", ".json", ".html", ".cfg"}


def _tracked():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    return [ROOT / name for name in listed if Path(name).suffix in READ_BY_USERS]


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
        if path != Path(__file__).resolve() and path.exists()
        for match in INSTALLS_A_STRANGERS_TOOL.finditer(path.read_text("utf-8", "replace"))
        if "keras-doctor" not in match[0]
    ]
    assert wrong == []


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Return the wheel and the sdist of what git tracks here."""
    source = tmp_path_factory.mktemp("source")
    for path in subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0"):
        if path and (ROOT / path).is_file():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, source / path)
    # What a run leaves behind in a checkout is not for others.
    (source / ".kdoctor_cache").mkdir()
    (source / ".kdoctor_cache" / "findings.bin").write_bytes(b"cached")
    (source / "kdoctor" / "__pycache__").mkdir()
    (source / "kdoctor" / "__pycache__" / "old.cpython-311.pyc").write_bytes(b"compiled")
    built = tmp_path_factory.mktemp("dist")
    uv = UVX.with_name("uv")
    subprocess.run([uv, "build", "--quiet", "--out-dir", built, source], check=True)
    (wheel,) = built.glob("*.whl")
    (sdist,) = built.glob("*.tar.gz")
    return wheel, sdist


def test_the_archives_hold_the_package_and_no_leavings(archives):
    wheel, sdist = archives
    assert wheel.name.startswith("keras_doctor-")
    with zipfile.ZipFile(wheel) as opened:
        inside = opened.namelist()
    assert {"kdoctor/__main__.py", "kdoctor/py.typed", "kdoctor/rules/index.json"} <= {*inside}
    with tarfile.open(sdist) as opened:
        inside += opened.getnames()
    leavings = [name for name in inside if LEFT_BY_RUNS & {*Path(name).parts}]
    assert leavings == []


def test_the_index_would_take_the_archives(archives):
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *archives],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_of_the_wheel_runs_where_nothing_else_is(archives, tmp_path):
    done = subprocess.run(
        [UVX, "--quiet", "--from", archives[0], "kdoctor", "--version"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"kdoctor \d+\.\d+\.\d+\S*\n", done.stdout)
