"""Any member that a class of Keras has lost, and any argument that a callable no longer takes."""

from __future__ import annotations

import random

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault
from kdoctor.keras_api import (
    Presence,
    lookup,
    member_error,
    member_lookup,
    newest_target,
    resolve_target,
    signature,
)
from kdoctor.keras_api.members import classes_of

NEWEST = newest_target()
OLD = resolve_target("keras==2.15.0", "here")
CLASSES = [
    *("models.Sequential", "models.Model", "layers.Dense", "layers.LSTM", "layers.Conv2D"),
    *("optimizers.Adam", "optimizers.SGD", "metrics.Mean", "callbacks.ModelCheckpoint"),
    *("layers.BatchNormalization", "layers.Embedding", "losses.Huber", "callbacks.TensorBoard"),
]


def lost_members():
    draw = random.Random(11)  # noqa: S311 - the same names each time
    for name in CLASSES:
        cls = name.rpartition(".")[2]
        infos = classes_of("keras", "2.15.0").by_leaf(cls)
        known = sorted({member for info in infos for member in info.members})
        lost = [
            each
            for each in known
            if not each.startswith("_") and member_lookup(cls, each, NEWEST) is Presence.MISSING
        ]
        yield from ((cls, member) for member in draw.sample(lost, min(6, len(lost))))


def lost_arguments():
    for name in CLASSES:
        before, after = signature(f"keras.{name}", OLD), signature(f"keras.{name}", NEWEST)
        if before is None or after is None:
            continue
        for parameter in before.parameters:
            if after.parameter(parameter.name) is None and "args" not in parameter.name:
                yield name, parameter.name


@pytest.mark.parametrize(("cls", "member"), sorted(lost_members()))
def test_a_member_that_is_gone(cls, member):
    found = explain(f"AttributeError: {member_error(cls, member)}", target=NEWEST)
    assert found.fault is Fault.YOUR_CODE
    assert f"`{member}`" in found.meaning
    assert "(last in " in found.meaning
    assert found.only_if  # other libraries have classes of these names, too


@pytest.mark.parametrize(("name", "argument"), sorted(lost_arguments()))
def test_an_argument_that_is_gone(name, argument):
    cls = name.rpartition(".")[2]
    for message in (
        f"TypeError: {cls}.__init__() got an unexpected keyword argument '{argument}'",
        f"ValueError: Unrecognized keyword arguments passed to {cls}: {{'{argument}': 1}}",
    ):
        found = explain(message, target=NEWEST)
        assert found.fault is Fault.YOUR_CODE
        assert f"does not take `{argument}=`" in found.meaning or found.rule


def test_the_line_gives_the_callable_that_an_old_python_leaves_out():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 2, in <module>\n'
        "    x = Conv2D(8, 3, border_mode='same')(x)\n"
        '  File "/v/lib/python3.11/site-packages/keras/src/layers/layer.py", line 9, in __init__\n'
        "    raise ValueError(\n"
        "ValueError: Unrecognized keyword arguments passed to Conv2D: {'border_mode': 'same'}\n"
    )
    found = explain(text, target=NEWEST)
    assert found.rule == "KD310"
    assert "+x = Conv2D(8, 3, padding='same')(x)" in found.steps[0].text


def test_a_namesake_of_another_library_is_left_alone():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 2, in <module>\n'
        "    net.fit_generator(x)\n"
        '  File "/v/lib/python3.11/site-packages/torch/nn/modules/module.py", line 9, in __getattr__\n'
        "    raise AttributeError(\n"
        "AttributeError: 'Sequential' object has no attribute 'fit_generator'\n"
    )
    assert explain(text).fault is Fault.NOT_KERAS


def test_the_classes_that_are_asked_about_exist():
    for name in CLASSES:
        assert lookup(f"keras.{name}", NEWEST).presence is Presence.EXISTS
