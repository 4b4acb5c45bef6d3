"""What shells offer when Tab is pressed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kdoctor.cli.app import app
from kdoctor.cli.completion import complete_format, complete_rules

ROOT = Path(__file__).resolve().parent.parent.parent


def offered(monkeypatch, capsys, shell, line):
    """Return what the program answers a shell that asks, as the shell's own script asks it."""
    for name, value in {
        "_KDOCTOR_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as end:
        app(args=[], prog_name="kdoctor")
    assert not end.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("kdoctor ba", "baseline"),
        ("kdoctor scan --format sa", "sarif"),
        ("kdoctor scan --select KD101,KD10", "KD101,KD102"),
        ("kdoctor fix --ignore missing-n", "missing-name"),
        ("kdoctor rules KD10", "KD102"),
    ],
)
def test_each_shell_is_offered_commands_rules_and_formats(monkeypatch, capsys, shell, line, word):
    assert word in offered(monkeypatch, capsys, shell, line)


def test_formats_and_rules_are_completed_from_what_is_written():
    assert complete_format("j") == ["json", "jsonl", "junit"]
    codes = [word for word, _ in complete_rules("KD1,kd20")]
    assert codes[:2] == ["KD1,KD201", "KD1,KD202"]
    assert all(" " not in word and help_ for word, help_ in complete_rules(""))


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
def test_bash_completes_with_the_script_that_the_program_gives(tmp_path):
    script = tmp_path / "kdoctor"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kdoctor "$@"\n')
    script.chmod(0o755)
    lines = (
        "source <(_KDOCTOR_COMPLETE=source_bash kdoctor)\n"
        "COMP_WORDS=(kdoctor scan --format sa) COMP_CWORD=3\n"
        '_kdoctor_completion kdoctor; echo "${COMPREPLY[@]}"\n'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", lines],
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "sarif\n"
