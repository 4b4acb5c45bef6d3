"""Errors that were raised for real (``tools/raise_errors``) are explained rightly."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path

import pytest

from kdoctor import explain
from kdoctor.diagnose.messages import messages
from kdoctor.report.diagnosis import write_text
from kdoctor.report.output import Page
from tests.diagnose.proof_of_removals import guessed

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).parent / "recorded"
PROGRAMS = tomllib.loads((ROOT / "tools" / "raise_errors" / "programs.toml").read_text())["program"]


def versions(program):
    """What is installed where the program ran, where that is one release and no mixture."""
    environment = program.get("environment", "current")
    if program.get("overlay"):
        return None
    return {"keras": environment.removeprefix("keras-").replace("current", "3.15.1")}


def text_of(program):
    return (RECORDED / f"{program['id']}.txt").read_text("utf-8")


def told_of(program, read):
    found = explain(text_of(program), versions=versions(program), read=read)
    page = io.StringIO()
    write_text(found, Page(page))
    return found, page.getvalue()


@pytest.mark.parametrize("with_source", [True, False], ids=["file", "text"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["id"])
def test_the_error_of_a_program_is_explained(program, with_source):
    source = program["code"].encode() if with_source else None
    found, told = told_of(program, lambda path: source if path.endswith("train.py") else None)
    assert found.fault.value == program["fault"], told
    assert not guessed(text_of(program), found)
    for word in program["says"]:
        assert word in told
    if with_source:
        assert not found.only_if  # the text and the file show all that the answer rests on


def test_each_recorded_text_belongs_to_a_program():
    assert {each["id"] for each in PROGRAMS} == {path.stem for path in RECORDED.glob("*.txt")}


# Rows of the facts (error-messages.csv) that no error tells of: the program runs on in silence.
SILENT = {27, 60}


def test_each_message_of_the_facts_is_raised_or_in_the_table():
    rows = {each.get("row", 0) for each in PROGRAMS} | {entry.row for entry in messages()}
    assert rows - {0} == set(range(1, 82)) - SILENT
