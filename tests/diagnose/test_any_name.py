"""Any missing name of any root, in the very words of Python, on any release that lacks it."""

from __future__ import annotations

import random

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault
from kdoctor.keras_api import Presence, error_text, error_type, known_releases, lookup, tables
from kdoctor.keras_api.targets import resolve_target

ROOTS = {"keras": "keras", "tf.keras": "tensorflow.keras", "tf_keras": "tf_keras"}
TARGETS = [
    *(
        f"keras=={each}"
        for each in ("2.3.1", "2.10.0", "2.15.0", "3.0.5", known_releases("keras")[-1])
    ),
    *("tensorflow==2.3", "tensorflow==2.12", "tensorflow==2.21"),
]


def missing_names():
    draw = random.Random(7)  # noqa: S311 - the same names each time
    for root, spelling in ROOTS.items():
        names = sorted(name for name in tables.names_table(root).names if name)
        for name in draw.sample(names, 150):
            target = resolve_target(draw.choice(TARGETS), "here")
            qualified = f"{spelling}.{name}"
            if lookup(qualified, target).presence is Presence.MISSING:
                yield qualified, target, draw.choice(["attribute", "from-import", "import"])


CASES = list(missing_names())


def test_there_are_enough_of_them():
    assert len(CASES) > 100


@pytest.mark.parametrize(("qualified", "target", "form"), CASES)
def test_python_s_message_for_a_missing_name_is_explained(qualified, target, form):
    message = error_text(qualified, target, form)
    type_ = error_type(qualified, target, form)
    found = explain(f"{type_}: {message}", target=target)
    assert found.fault is Fault.YOUR_CODE, message
    assert found.steps or found.evidence
    missing = lookup(qualified, target).missing_prefix
    assert missing.rpartition(".")[2] in found.meaning


@pytest.mark.parametrize("never", ["backend.no_such_thing", "layers.Dnse", "nonsense"])
@pytest.mark.parametrize("root", ["keras", "tensorflow.keras", "tf_keras"])
def test_what_never_was_is_said_to_have_never_been(root, never):
    owner, _, name = f"{root}.{never}".rpartition(".")
    found = explain(f"AttributeError: module '{owner}' has no attribute '{name}'")
    assert "no known release ever had it" in found.meaning


def test_what_the_release_has_cannot_be_missing_there():
    text = "AttributeError: module 'keras.layers' has no attribute 'Dense'"
    found = explain(text, versions={"keras": "3.15.1"})
    assert found.fault is Fault.INSTALLATION
    assert "does have `keras.layers.Dense`" in found.meaning


def test_a_name_that_came_later_asks_for_a_newer_release():
    found = explain("ModuleNotFoundError: No module named 'keras.saving'", target="keras==2.3.1")
    assert "it came with keras 2.6.0" in found.meaning
    assert any("--upgrade" in step.text for step in found.steps)


def test_a_file_of_the_user_in_the_place_of_keras():
    text = (
        'Traceback (most recent call last):\n  File "/home/me/keras.py", line 1, in <module>\n'
        "    from keras.layers import Dense\n"
        "ModuleNotFoundError: No module named 'keras.layers'; 'keras' is not a package\n"
    )
    found = explain(text)
    assert found.fault is Fault.INSTALLATION
    assert "/home/me/keras.py" in found.meaning


def test_keras_own_line_that_misses_a_name_is_the_installation_s_fault():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n'
        "    import keras\n"
        '  File "/v/lib/python3.10/site-packages/keras/engine/base.py", line 9, in <module>\n'
        "    backend.no_such_thing()\n"
        "AttributeError: module 'keras.backend' has no attribute 'no_such_thing'\n"
    )
    found = explain(text)
    assert found.fault is Fault.INSTALLATION
    assert "your code: the line that fails is not yours" in found.ruled_out


def test_a_package_that_asks_for_a_lost_name_is_at_fault_itself():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n'
        "    import keras_vggface\n"
        '  File "/v/lib/python3.11/site-packages/keras_vggface/models.py", line 20, in <module>\n'
        "    from keras.engine.topology import get_source_inputs\n"
        "ModuleNotFoundError: No module named 'keras.engine'\n"
    )
    found = explain(text, versions={"keras": "3.15.1"})
    assert (found.fault, found.package) == (Fault.PACKAGE, "keras_vggface")
    assert any("keras==2.12" in step.text for step in found.steps)
