"""The README and the pages of docs/ tell the truth."""

import re
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from kdoctor.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_recorded_runs_and_figures_are_what_the_program_prints():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "record.py", "--check"], check=False, timeout=300
    )

    assert done.returncode == 0, "run `python tools/record.py` and read the diff"
    assert "Found " in README
    assert "rewrites hold" in README


def test_every_make_target_that_it_names_is_there():
    makefile = (ROOT / "Makefile").read_text("utf-8")

    for target in re.findall(r"^\$ make (\w[\w-]*)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


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
