"""What users of ruff and other tools type is understood, or answered with the right command."""

from __future__ import annotations

import pytest

from kdoctor.cli import habits
from kdoctor.cli.app import COMMANDS
from kdoctor.errors import UsageProblem

OLD = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x)\n"
NEW = "from keras import ops\n\n\ndef total(x):\n    return ops.sum(x)\n"

# What ruff documents of these: https://docs.astral.sh/ruff/linter/
SAME = {
    "check": "scan",
    "check .": "scan .",
    "check --select KD1 src": "scan --select KD1 src",
    "check --fix": "fix --apply",
    "check --fix src --unsafe-fixes": "fix --apply src --unsafe",
    "check --fix --no-unsafe-fixes src": "fix --apply --no-unsafe src",
    "check --unsafe-fixes src": "scan src",
    "check --diff src": "fix src",
    "check --diff --fix --unsafe-fixes src": "fix --unsafe src",
    "check --fix-only src": "fix --apply --exit-zero src",
    "check --add-noqa src": "fix --apply --add-ignores src",
    "check --output-format full": "scan --format text",
    "check --output-format=json-lines": "scan --format=jsonl",
    "check full": "scan full",
    "check --statistics --exit-zero -q": "scan --statistics --exit-zero -q",
    "check --fix --statistics src": "fix --apply src",
    "check --fix --show-fixes --output-format concise src": "fix --apply src",
    "check --fix --output-format=json src": "fix --apply src",
    "check -n -e -s --no-fix src": "scan --no-cache --exit-zero --quiet src",
    "check -- --fix": "scan -- --fix",
    "check --fix -- --diff": "fix --apply -- --diff",
    "scan -- --apply": "scan -- --apply",
    "check --help": "scan --help",
    "check --fix --help": "scan --fix --help",
    "scan --output-format github src": "scan --format github src",
    "scan --diff main": "scan --diff main",
    "fix --unsafe-fixes src": "fix --unsafe src",
    "fix --diff src": "fix src",
    "fix --apply --unsafe src": "fix --apply --unsafe src",
    "rules KD101": "rules KD101",
    "run train.py --fix": "run train.py --fix",
    "--version": "--version",
    "": "",
    "nonsense": "nonsense",
}


@pytest.mark.parametrize("typed", SAME)
def test_it_is_understood(typed):
    assert habits.translated(typed.split(), COMMANDS) == SAME[typed].split()


ANSWERED = {
    "scan --apply src": "kdoctor fix --apply src",
    "scan --fix": "kdoctor fix --apply",
    "scan --fix --unsafe-fixes src": "kdoctor fix --apply --unsafe src",
    "scan --fix --format concise --statistics x.py": "kdoctor fix --apply x.py",
    "scan --fix --baseline b.json --diff=main x.py": "kdoctor fix --apply x.py",
    "scan --fix -- -x.py": "kdoctor fix --apply -- -x.py",
    "scan src --unsafe": "kdoctor fix src --unsafe",
    "scan --undo": "kdoctor fix --undo",
    "scan -i src": "kdoctor fix -i src",
    "scan --add-ignores src": "kdoctor fix --apply --add-ignores src",
    "scan --verify src": "kdoctor fix --apply --verify src",
    "fix --fix src": "kdoctor fix --apply src",
    "train.py": "kdoctor scan train.py",
    "train.py --fix": "kdoctor fix --apply train.py",
    "train.py --select KD1": "kdoctor scan train.py --select KD1",
    "src/": "kdoctor scan src/",
    ".": "kdoctor scan .",
    "notes.ipynb": "kdoctor scan notes.ipynb",
}


@pytest.mark.parametrize("typed", ANSWERED)
def test_it_is_answered_with_the_right_command(typed):
    with pytest.raises(UsageProblem) as told:
        habits.translated(typed.split(), COMMANDS)
    assert str(told.value).endswith(f"; try: {ANSWERED[typed]}")


def test_it_says_why_where_nothing_would_be_written():
    with pytest.raises(UsageProblem, match="`--unsafe`: it says which fixes are safe; try: "):
        habits.translated(["scan", "--unsafe"], COMMANDS)


def test_to_show_and_to_write_at_once_is_refused():
    with pytest.raises(UsageProblem, match="drop one of them"):
        habits.translated(["fix", "--apply", "--diff", "src"], COMMANDS)


def test_paths_are_quoted_as_a_shell_needs_them():
    with pytest.raises(UsageProblem, match=r"try: kdoctor scan 'my code\.py'"):
        habits.translated(["my code.py"], COMMANDS)


def test_a_folder_without_an_ending_is_known_for_it_is_there(project):
    project.write({"src/a.py": OLD})
    done = project.kdoctor("src")
    assert (done.code, done.out) == (2, "")
    assert done.err == "kdoctor: `src` is not a command; try: kdoctor scan src\n"


@pytest.mark.parametrize("typed", [each for each in ANSWERED if "x.py" in each or "src" in each])
def test_the_command_that_is_named_is_one(project, typed):
    project.write({"x.py": OLD, "-x.py": OLD, "src/a.py": OLD, "b.json": "{}"})
    named = ANSWERED[typed].split()[1:]
    if "-i" not in named and "--verify" not in named:
        assert project.kdoctor(*named).code in (0, 1)


def test_the_program_itself_understands_it(project):
    project.write({"a.py": OLD})
    told = project.kdoctor("check", "--output-format", "concise", "a.py")
    assert (told.code, told.out.partition(": ")[0]) == (1, "a.py:5:12")
    shown = project.kdoctor("check", "--diff", "a.py")
    assert (shown.code, shown.out.splitlines()[0]) == (1, "--- a/a.py")
    assert project.read("a.py").decode() == OLD
    assert project.kdoctor("check", "--fix", "a.py").code == 0
    assert project.read("a.py").decode() == NEW


def test_nothing_is_written_by_what_is_only_answered(project):
    project.write({"a.py": OLD})
    done = project.kdoctor("scan", "--apply", "a.py")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert project.read("a.py").decode() == OLD
    assert [each.name for each in project.folder.iterdir()] == ["a.py"]
