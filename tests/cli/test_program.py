"""How the program is called, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest
import typer
from typer.testing import CliRunner

import kdoctor
from kdoctor.cli import exit_codes
from kdoctor.cli.app import COMMANDS, app

OLD = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x, axis=-1)\n"

# One call of each command that imports what the command works with, and ends by itself.
CALLS = {
    "scan": "scan --format json",
    "fix": "fix --unsafe",
    "baseline": "baseline write",
    "explain": "explain KD101",
    "rules": "rules KD101",
    "target": "target --json",
    "config": "config a.py",
    "api": "api keras.backend.sum",
    "env": "env --json",
    "model": "model a.py",
    "migrate": "migrate --json",
    "report": "report --json -",
    "run": "run other.py",
    "server": "server --help",
    "reference": "reference dice",
    "verify": "verify nothing.py",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_started_is_the_one_that_the_other_tests_fork(project, command):
    project.write({"a.py": OLD, "other.py": "print(1)\n"})
    call = CALLS[command].split()
    started = project.started(*call)
    (project.folder / ".kdoctor-baseline.json").unlink(missing_ok=True)
    assert project.kdoctor(*call) == started
    assert started.out or started.err


@pytest.mark.parametrize("command", [(), ("scan",), ("fix",), ("rules",)])
def test_help_shows_examples_line_by_line(project, command):
    ended = project.kdoctor(*command, "--help")
    assert ended.code == 0
    name = command[0] if command else "scan"
    assert sum(line.startswith(f"  kdoctor {name}") for line in ended.out.splitlines()) >= 1
    assert "\x1b" not in ended.out
    assert "\\b" not in ended.out


def commands(group, *before):
    for name, command in group.commands.items():
        yield (*before, name)
        if hasattr(command, "commands"):
            yield from commands(command, *before, name)


@pytest.mark.parametrize("command", list(commands(typer.main.get_command(app))), ids=" ".join)
def test_the_help_of_every_command_has_an_example_of_its_own(command):
    told = CliRunner().invoke(app, [*command, "--help"], prog_name="kdoctor")
    assert told.exit_code == 0
    example = re.compile(rf"  (.* \| )?kdoctor {' '.join(command)}( |$)")
    assert any(map(example.match, told.output.splitlines())), told.output


def test_without_a_command_the_help_is_shown(project):
    ended = project.kdoctor()
    assert ended.code == 2
    assert "Commands:" in ended.out + ended.err


def test_the_version_is_told(project):

    assert project.kdoctor("--version").out == f"kdoctor {kdoctor.__version__}\n"


@pytest.mark.parametrize("arguments", [("scna",), ("scan", "--traget", "x"), ("fix", "--aply")])
def test_a_slip_in_the_call_is_a_sentence_and_two(project, arguments):
    ended = project.kdoctor(*arguments)
    assert ended.code == 2
    assert ended.err


def test_rules_lists_every_rule_with_its_first_sentence(project):
    ended = project.kdoctor("rules")
    lines = ended.out.splitlines()
    assert ended.code == 0
    assert all(line.startswith("KD") for line in lines)
    assert len({line.split()[0] for line in lines}) == len(lines) >= 2


@pytest.mark.parametrize("name", ["KD102", "kd102", "missing-name"])
def test_one_rule_is_told_whole(project, name):
    page = project.kdoctor("rules", name)
    assert page.code == 0
    assert page.out.startswith("KD102 missing-name [error]")
    for heading in ("What it does", "Why it breaks", "What to write instead", "How we know"):
        assert f"## {heading}\n" in page.out
    assert "## Examples\n" in page.out
    assert "Before:\n" in page.out
    assert "After (" in page.out


def test_the_rewrites_of_a_rule_are_told_with_their_proofs(project):
    page = project.kdoctor("rules", "KD101").out
    rewrites = page.partition("## Rewrites\n")[2]
    old = "    keras.backend.square(x)\n    -> keras.ops.square(x)\n    "
    lines = rewrites.partition(old)[2].split("\n\n")[0].splitlines()
    assert lines[0].startswith("proven: both sides agree")
    assert lines[1].split()[:2] == ["eager", "function"]
    shown = {line.split()[0]: line for line in lines[2:]}
    assert {"TensorFlow", "JAX", "PyTorch"} <= set(shown)
    assert " holds " in shown["TensorFlow"]
    assert "old side: tf_keras" in lines[-1]


def test_an_unknown_rule_is_a_sentence_with_what_was_meant(project):
    ended = project.kdoctor("rules", "missing-nam")
    assert ended.code == 2
    assert ended.err == "kdoctor: there is no rule 'missing-nam'; did you mean missing-name?\n"


def test_a_reader_that_has_seen_enough_is_no_error(project):
    project.write({f"m{number}.py": OLD * 50 for number in range(40)})
    program = subprocess.Popen(
        # More than a pipe holds: otherwise nothing is left to write when the reader goes.
        [sys.executable, "-m", "kdoctor", "scan", "--show", "all"],
        cwd=project.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    program.stdout.readline()
    program.stdout.close()
    assert program.stderr.read() == b""
    assert program.wait(60) == 141


@pytest.mark.skipif(sys.platform != "linux", reason="a device of Linux")
@pytest.mark.parametrize("command", ["scan", "fix", "rules"])
def test_a_full_disk_is_one_sentence_and_two(project, command):
    project.write({"a.py": OLD})
    ended = project.shell(f"kdoctor {command} > /dev/full")
    assert ended.code == 2
    assert ended.err.endswith("kdoctor: No space left on device\n")
    assert "internal error" not in ended.err


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
@pytest.mark.parametrize(
    ("call", "code"),
    [("scan a.py <&-", 1), ("scan a.py >&-", 1), ("scan a.py >&- 2>&-", 1), ("explain <&-", 2)],
)
def test_a_program_that_starts_without_its_streams_does_its_work(project, call, code):
    ended = project.write({"a.py": OLD}).shell(f"kdoctor {call}")
    assert ended.code == code
    assert "internal error" not in ended.err


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot go there")
@pytest.mark.parametrize("command", ["scan", "explain nothing", "run a.py", "target"])
def test_a_working_folder_that_is_gone_is_one_sentence_and_two(project, command):
    ended = project.shell(f"mkdir gone; cd gone; rmdir ../gone; kdoctor {command}")
    assert ended.code == 2
    assert ended.err.endswith(
        "kdoctor: the working directory no longer exists; change to another\n"
    )


def test_what_may_not_be_looked_into_is_named(monkeypatch, capsys):
    monkeypatch.delenv("KDOCTOR_DEBUG", raising=False)
    assert exit_codes.report_error(PermissionError(13, "Permission denied", "locked/.git")) == 2
    assert capsys.readouterr().err == "kdoctor: locked/.git: Permission denied\n"


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_with_130_and_leaves_no_process(project):
    project.write({f"m{number}.py": OLD * 300 for number in range(200)})
    program = subprocess.Popen(
        [sys.executable, "-m", "kdoctor", "scan", "--jobs", "2"],
        cwd=project.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(2)
    os.killpg(program.pid, signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert program.returncode == 130
    assert err == b"kdoctor: interrupted\n", err.decode()
    assert b"Traceback" not in out
    with pytest.raises(ProcessLookupError):
        os.killpg(program.pid, 0)


@pytest.mark.skipif(os.name == "nt", reason="pseudo terminals")
def test_long_work_shows_its_progress_on_a_terminal_only(project):
    project.write({f"m{number}.py": OLD * 300 for number in range(40)})
    command = [sys.executable, "-m", "kdoctor", "scan", "--jobs", "1"]
    import pty  # noqa: PLC0415 - of POSIX alone

    ours, theirs = pty.openpty()
    program = subprocess.Popen(command, cwd=project.folder, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    program.stdout.read()
    program.wait(60)
    shown = b""
    while chunk := _read(ours):
        shown += chunk
    os.close(ours)
    assert b"Checking" in shown
    assert project.kdoctor("scan", "--jobs", "1").err == ""


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""
