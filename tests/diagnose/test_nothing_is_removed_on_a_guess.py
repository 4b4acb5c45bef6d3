"""No answer removes, reinstalls or goes back to an older release on a guess.

Each answer with such a step is held to the evidence that leaves no other cause: that of
``proof_of_removals``. The messages alone, the recorded errors and those of other libraries are held
to it where they are explained; here are the texts that look like them.
"""

from __future__ import annotations

import pytest

from kdoctor import explain
from kdoctor.diagnose import Step, StepKind
from kdoctor.diagnose.messages import messages
from kdoctor.diagnose.remedies import takes_away
from tests.diagnose.proof_of_removals import PROVEN, guessed, removing


def below_a_line_of_the_user(error):
    return (
        "Traceback (most recent call last):\n"
        f'  File "/home/me/train.py", line 3, in <module>\n    step(x)\n{error}\n'
    )


@pytest.mark.parametrize("entry", messages(), ids=lambda entry: entry.id)
def test_a_known_message_below_a_line_of_the_user(entry):
    error = f"{entry.types[0]}: {entry.example}" if "".join(entry.types[:1]) else entry.example
    text = below_a_line_of_the_user(error)
    assert not guessed(text, explain(text, read=lambda _: None))


# All of these are there in what the answer takes to have run.
THERE = (
    *("tensorflow.keras", "tensorflow.keras.layers", "tensorflow.keras.layers.Dense"),
    *("keras.layers", "keras.layers.Dense", "keras.models", "keras.Sequential", "keras.ops"),
    *("tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras", "tf_keras.layers"),
    "tensorflow.compat.v1.keras.backend",
)


@pytest.mark.parametrize("name", THERE)
def test_a_name_that_the_release_has_is_missed(name):
    owner, _, leaf = name.rpartition(".")
    for error in (
        f"ModuleNotFoundError: No module named '{name}'",
        f"ImportError: cannot import name '{leaf}' from '{owner}' (unknown location)",
        f"AttributeError: module '{owner}' has no attribute '{leaf}'",
    ):
        for text in (error, below_a_line_of_the_user(error)):
            found = explain(text, read=lambda _: None)
            assert not guessed(text, found)
            assert found.steps, text


@pytest.mark.parametrize("root", ["tensorflow.compat.v1", "tensorflow.compat.v2"])
def test_a_module_that_only_looks_like_one_gets_what_its_rule_says(root):
    error = f"ModuleNotFoundError: No module named '{root}.keras'"
    found = explain(error)
    assert (found.rule, found.fault.value) == ("KD103", "your code")
    assert "tensorflow.keras" in found.steps[0].text
    line = f"from {root}.keras import backend as K"
    text = below_a_line_of_the_user(error).replace("step(x)", line)
    shown = explain(text, read=lambda _: None)
    assert shown.rule == "KD103"
    assert "+from tensorflow.keras import backend as K" in shown.steps[0].text.replace("+ ", "+")


def test_a_message_in_a_traceback_of_the_user_alone_is_looked_at_and_not_reinstalled():
    found = explain("AttributeError: module 'keras.backend' has no attribute 'unique_object_name'")
    assert found.only_if
    assert found.steps[0].text.startswith("kdoctor env")


MIXED = """\
Traceback (most recent call last):
  File "/home/me/a.py", line 1, in <module>
    import keras
  File "/v/lib/python3.10/site-packages/keras/engine/base.py", line 3, in <module>
    from keras.utils.layer_utils import cached_per_instance
ImportError: cannot import name 'cached_per_instance' from 'keras.utils.layer_utils' (PLACE)
"""


@pytest.mark.parametrize(
    ("place", "is_sure"),
    [
        ("/v/lib/python3.10/site-packages/keras/utils/layer_utils.py", True),
        ("/home/me/.local/lib/python3.10/site-packages/keras/utils/layer_utils.py", False),
        ("unknown location", False),
    ],
)
def test_files_of_two_releases_are_sure_where_both_lie_in_one_folder(place, is_sure):
    found = explain(MIXED.replace("PLACE", place), read=lambda _: None)
    assert found.fault.value == "the installation"
    assert bool(removing(found)) is is_sure
    assert any(step.text.startswith("kdoctor env") for step in found.steps)


@pytest.mark.parametrize("entry", messages(), ids=lambda entry: entry.id)
def test_a_cure_that_takes_something_away_names_its_proof(entry):
    steps = [cure.step({}) for cure in entry.fix]
    if any(takes_away(step) for step in steps):
        assert entry.proof
        assert entry.id in PROVEN
        assert entry.proof == "message" or entry.raised_in


@pytest.mark.parametrize(
    ("kind", "text", "is_removal"),
    [
        (StepKind.COMMAND, "pip uninstall -y keras", True),
        (StepKind.COMMAND, "pip install --force-reinstall keras", True),
        (StepKind.COMMAND, 'pip install "numpy<2"', True),
        (StepKind.COMMAND, "pip install keras==2.4.3", True),
        (StepKind.ADVICE, "Delete the folder that it prints.", True),
        (StepKind.ADVICE, "Delete the import: nothing uses it.", False),
        (StepKind.COMMAND, "pip install --upgrade 'keras>=3'", False),
        (StepKind.COMMAND, "pip install tf_keras", False),
    ],
)
def test_what_counts_as_taking_away(kind, text, is_removal):
    assert takes_away(Step(kind, text)) is is_removal
