"""Questions about a class (`isinstance`, `type(o) is`, `except`): a fix tells where they change."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from tests.frameworks import keras, tf_keras

HEAD = "import keras\nimport tensorflow as tf\n\n"
QUESTIONS = [
    "isinstance(o, {})",
    "issubclass(o, {})",
    "isinstance(o, (int, {}))",
    "isinstance(o, int | {})",
    "type(o) is {}",
    "{} == type(o)",
    "o.__class__ in (int, {})",
    "o.__class__ != {}",
]
STATEMENTS = [
    "try:\n    f()\nexcept {}:\n    pass",
    "try:\n    f()\nexcept (ValueError, {}):\n    pass",
    "match o:\n    case {}():\n        pass",
]
NO_QUESTIONS = [
    "made = {}()",
    "class Mine({}):\n    pass",
    "f(o, {})",
    "isinstance({}, type)",
    "def isinstance(a, b):\n    return a\n\n\nisinstance(o, {})",
    "o is {}",
]
EXPERIMENTAL = "keras.optimizers.experimental.{}"


def fix_of(source, code="KD102"):
    [finding] = scan(["-"], stdin=source.encode(), select=[code]).findings
    return finding.fix


@pytest.mark.parametrize("written", [*QUESTIONS, *STATEMENTS])
@pytest.mark.parametrize("name", ["Optimizer", "SGD"])
def test_a_question_that_every_optimizer_answers_now_is_unsafe(written, name):
    told = fix_of(HEAD + written.format(EXPERIMENTAL.format(name)))
    assert told.applicability == "unsafe"
    assert f"is true for every {'optimizer' if name == 'Optimizer' else '`SGD`'}" in (
        told.unsafe_because
    )


@pytest.mark.parametrize("written", NO_QUESTIONS)
def test_what_asks_nothing_stays_what_it_was(written):
    told = fix_of(HEAD + written.format(EXPERIMENTAL.format("SGD")))
    assert "is true for every" not in told.unsafe_because


def test_an_import_is_judged_by_its_uses():
    line = "from tensorflow.keras.optimizers import experimental as new\n\n"
    assert fix_of(line + "made = new.SGD(0.1)").applicability == "safe"
    told = fix_of(line + "made = new.SGD(0.1)\nisinstance(o, new.Optimizer)")
    assert told.applicability == "unsafe"
    assert "every optimizer" in told.unsafe_because


@pytest.mark.frameworks
def test_keras_2_told_new_optimizers_from_old_ones_and_keras_3_has_new_ones_alone():
    old = tf_keras.optimizers
    made = [old.SGD(), old.legacy.SGD()]
    assert [isinstance(each, old.experimental.Optimizer) for each in made] == [True, False]
    assert [isinstance(each, old.experimental.SGD) for each in made] == [True, False]
    assert [isinstance(each, old.legacy.SGD) for each in made] == [False, True]
    assert [isinstance(each, old.legacy.Optimizer) for each in made] == [False, True]
    assert isinstance(keras.optimizers.SGD(), keras.optimizers.Optimizer)
    assert not isinstance(keras.optimizers.SGD(), keras.optimizers.legacy.Optimizer)


def test_two_classes_that_are_one_now_are_told():
    told = fix_of("import keras\n\nisinstance(o, keras.layers.CuDNNLSTM)")
    assert "`layers.CuDNNLSTM` and `layers.LSTM` were two classes" in told.unsafe_because
    told = fix_of("from keras.layers import CuDNNLSTM as C\n\nisinstance(o, C)")
    assert "were two classes" in told.unsafe_because
    told = fix_of("from keras.layers import CuDNNLSTM as C\n\nC(3)")
    assert "were two classes" not in told.unsafe_because


@pytest.mark.parametrize(
    "name", ["engine.topology.Layer", "layers.core.Dense", "callbacks.callbacks.Callback"]
)
def test_a_class_that_only_moved_answers_as_it_did(name):
    path, leaf = f"keras.{name}".rsplit(".", 1)
    assert fix_of(f"from {path} import {leaf}\n\nisinstance(o, {leaf})").applicability == "safe"


@pytest.mark.frameworks
def test_a_gone_class_that_others_derived_from_is_no_longer_asked_for_safely():
    loss = tf_keras.losses
    wrapper = type(loss.MeanSquaredError()).__mro__[1]
    assert wrapper.__name__ == "LossFunctionWrapper"  # what was public up to 2.12
    told = fix_of("import keras\n\nisinstance(o, keras.losses.LossFunctionWrapper)")
    assert told.applicability == "unsafe"
    assert "other Keras classes were derived from `LossFunctionWrapper`" in told.unsafe_because
    assert fix_of("import keras\n\nisinstance(o, keras.layers.DenseFeatures)").applicability == (
        "safe"
    )


def stubs(source):
    found = scan(["-"], stdin=source.encode(), select=["KD105"]).findings
    return [(each.severity.value, each.fix and each.fix.applicability.value) for each in found]


LEGACY = "keras.optimizers.legacy.{}"


@pytest.mark.parametrize("written", ["isinstance(o, {})", "type(o) is {}", "not issubclass(o, {})"])
def test_a_question_that_nothing_answers_any_more_is_told(written):
    source = HEAD + f"answer = {written.format(LEGACY.format('SGD'))}"
    assert stubs(source) == [("change", None)]
    [finding] = scan(["-"], stdin=source.encode(), select=["KD105"]).findings
    assert "is never true" in finding.message


@pytest.mark.parametrize("made", ["SGD", "Adam"])
@pytest.mark.parametrize("asked", ["Optimizer", "SGD"])
def test_an_optimizer_is_made_safely_where_nothing_asks_whether_it_is_old(made, asked):
    make = f"optimizer = {LEGACY.format(made)}(0.1)\n"
    ask = f"isinstance(optimizer, {LEGACY.format(asked)})\n"
    assert stubs(HEAD + make) == [("error", "safe")]
    is_answered = asked in (made, "Optimizer")
    assert stubs(HEAD + make + ask) == [
        ("error", "unsafe" if is_answered else "safe"),
        ("change", "unsafe" if is_answered else None),
    ]


@pytest.mark.parametrize(
    "written",
    [
        "isinstance(o, (keras.optimizers.Optimizer, {}))",
        "isinstance(o, int) or isinstance(o, {})",
        "assert not isinstance(o, {})",
    ],
)
def test_a_question_with_other_answers_is_fine(written):
    assert stubs(HEAD + written.format(LEGACY.format("Optimizer"))) == []
