"""The text of an error shows what the release that ran must have had, and the answer keeps to it."""

from __future__ import annotations

import pytest

from kdoctor import explain

NO_FILE = {"read": lambda _: None}


def told(found):
    return "\n".join(step.text for step in found.steps)


def test_a_module_that_lacks_a_name_was_there_itself():
    # Keras 3 has no such module: it would say that `layers` has no `experimental`.
    module = "tensorflow.keras.layers.experimental.preprocessing"
    found = explain(f"AttributeError: module '{module}' has no attribute 'StringLookup'", **NO_FILE)
    assert "is not in the tf.keras of tensorflow 2.2" in found.meaning
    assert "it came with tf.keras 2.3" in found.meaning
    assert "pip install --upgrade tensorflow keras" in told(found)


@pytest.mark.parametrize("name", ["Adam", "SGD", "RMSprop"])
def test_what_keras_lacked_beside_tensorflow_2_5_to_2_8_is_told_where_it_was(name):
    found = explain(f"ImportError: cannot import name '{name}' from 'keras.optimizers'", **NO_FILE)
    assert found.steps[0].text == f"from tensorflow.keras.optimizers import {name}"
    assert "optimizer_v1" not in told(found)


def test_keras_is_never_upgraded_without_its_tensorflow():
    found = explain("ImportError: cannot import name 'Adam' from 'keras.optimizers'", **NO_FILE)
    (upgrade,) = [step.text for step in found.steps if "--upgrade" in step.text]
    assert upgrade == "pip install --upgrade tensorflow keras"


@pytest.mark.parametrize(
    ("cls", "member", "since"),
    [("Optimizer", "apply", "3.0.0"), ("Sequential", "_layers", "3.0.0")],
)
def test_a_member_that_the_newest_release_has_was_missing_in_another(cls, member, since):
    found = explain(f"AttributeError: '{cls}' object has no attribute '{member}'", **NO_FILE)
    assert f"has `{member}` from keras {since} on" in found.meaning
    assert found.fault.value == "the installation"


def test_a_member_is_not_missing_in_another_release_where_it_is_said_which_ran():
    text = "AttributeError: 'Optimizer' object has no attribute 'apply'"
    assert not explain(text, versions={"keras": "3.15.1"}, **NO_FILE).is_known


def test_tf_keras_is_not_told_without_the_tensorflow_that_it_asks_for():
    found = explain(
        "TypeError: Error when deserializing class 'DepthwiseConv2D' using config={}.\n\n"
        "Exception encountered: Unrecognized keyword arguments passed to DepthwiseConv2D: "
        "{'groups': 1}",
        **NO_FILE,
    )
    (step,) = [step for step in found.steps if step.text == "pip install tf_keras"]
    assert "minor version" in step.note
