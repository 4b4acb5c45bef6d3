"""Each command and environment line of a message was tried (``commands.py``), or is named here."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kdoctor.diagnose.messages import messages
from tests.diagnose.commands import RAN, TRIALS, digest, named

NOTED = json.loads(RAN.read_text("utf-8"))
# No trial of these has ended well: either none is written, or it cannot be run here.
# The lines say why.
OPEN = [
    line.partition(": ")[0]
    for line in (Path(__file__).parent / "commands_open.txt").read_text("utf-8").splitlines()
]
# A step is tried when all of its trials ended well: beside each TensorFlow that one may have.
TRIED = {step for trial in TRIALS for step in trial["of"]} - {
    step for trial in TRIALS if NOTED.get(named(trial)) != digest(trial) for step in trial["of"]
}
STEPS = [
    f"{entry.id}#{number}"
    for entry in messages()
    for number, cure in enumerate(entry.fix)
    if cure.command or cure.environment
]


@pytest.mark.parametrize("step", STEPS)
def test_each_command_was_tried_as_it_is_now_or_is_said_to_be_open(step):
    assert (step in TRIED) is not (step in OPEN)


@pytest.mark.parametrize("name", NOTED)
def test_nothing_was_changed_since_it_was_tried(name):
    assert NOTED[name] in {digest(trial) for trial in TRIALS if named(trial) == name}


PINNED = re.compile(
    r"pip install .*\b(?:numpy|protobuf|h5py|ml[-_]dtypes|typing[-_]extensions)[<=]"
)
PINS = [cure.command for entry in messages() for cure in entry.fix if PINNED.search(cure.command)]


@pytest.mark.parametrize("command", PINS)
def test_a_release_of_what_tensorflow_needs_is_chosen_beside_the_tensorflow_that_is_there(command):
    assert command.split()[-1] == "tensorflow"  # else pip looks at no other package's metadata


def test_there_are_such_pins():
    assert len(PINS) >= 5


def test_no_step_is_open_that_is_not_there():
    assert set(OPEN) <= set(STEPS)
