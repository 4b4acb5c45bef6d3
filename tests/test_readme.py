"""The README and the pages of docs/ tell the truth."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kdoctor.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
MAX_LINES = 220
MAX_LINES_OF_A_RUN = 40
SECTIONS = [
    "Install",
    "First steps",
    "Commands",
    "Safe and unsafe fixes",
    "CI and pre-commit",
    "Documentation",
]


def test_the_recorded_runs_and_figures_are_what_the_program_prints():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "record.py", "--check"], check=False, timeout=570
    )

    assert done.returncode == 0, "run `python tools/record.py` and read the diff"


@pytest.mark.parametrize(
    ("page", "printed"),
    [
        ("README.md", "fix available (safe)"),
        ("docs/findings.md", "Found "),
        ("docs/explain.md", "fault: "),
        ("docs/names.md", "never existed"),
        ("docs/proving.md", "rewrites hold"),
        ("docs/benchmarks.md", "| keras-bert |"),
        ("docs/benchmarks.md", "| ruff |"),
    ],
)
def test_each_page_shows_what_was_recorded_for_it(page, printed):
    assert printed in (ROOT / page).read_text("utf-8")


def test_the_readme_is_short_and_in_the_order_that_people_expect():
    headings = re.findall(r"^## (.+)", README, re.MULTILINE)
    (run,) = re.findall(r"```console\n(.*?)```", README, re.DOTALL)

    assert len(README.splitlines()) <= MAX_LINES
    assert len(run.splitlines()) <= MAX_LINES_OF_A_RUN
    assert [heading for heading in headings if heading in SECTIONS] == SECTIONS
    assert README.index(run) < README.index("## Install")


def test_every_command_is_in_its_table():
    described = {*re.findall(r"^\| `kdoctor (\w+)", README, re.MULTILINE)}

    assert described == {name for name, command in _commands().items() if not command.hidden}


def test_every_file_that_it_links_to_is_there():
    links = re.findall(r"\]\((?!https?://)([^)#]+)", README)

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_target_that_the_pages_name_is_there():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    named = {
        target
        for page in pages
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text("utf-8"), re.MULTILINE)
    }

    assert {"demo", "test"} <= {*re.findall(r"^make (\w+)", README, re.MULTILINE)}
    assert [
        target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)
    ] == []


def _commands():
    return typer.main.get_command(app).commands


def test_every_option_that_it_names_is_known():
    commands = (
        (),
        *(("scan",), ("fix",), ("target",), ("api",), ("rules",), ("baseline", "write")),
        *(("explain",), ("env",), ("run",), ("verify",), ("reference",)),
        *(("config",), ("report",), ("server",)),
    )
    asked = [CliRunner().invoke(app, [*command, "--help"]) for command in commands]
    assert all(each.exit_code == 0 for each in asked)
    help_texts = "".join(each.stdout for each in asked)
    # What stands after the script of `kdoctor run` is the script's.
    own = re.sub(r"(kdoctor run \S+\.py).*?(?=  |$)", r"\1", README, flags=re.MULTILINE)

    for option in set(re.findall(r"(?<![\w-])--[a-z]+", own)):
        assert option in help_texts, option
