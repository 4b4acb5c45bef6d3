"""What is said of `tf.keras` is said of `tf.compat.v1.keras`, too: with Keras 3 they are one."""

import operator
import re

import pytest

from kdoctor.analysis.facts import FACADES, TargetFacts
from kdoctor.engine import fix, scan
from kdoctor.keras_api import newest_target
from kdoctor.rules import all_rules
from kdoctor.target import Target

IMPORT = "from tensorflow import keras"
WAY = "tensorflow.compat.v1"
_WRITTEN = re.compile(r"^(import keras|from tensorflow import keras)$", re.MULTILINE)
# What replaces a name that is not read by that way does not take it: it may be another Keras.
OF_ANOTHER_PACKAGE = {"KD106"}
EXAMPLES = [
    pytest.param(rule.code, example, id=f"{rule.code}-{number}")
    for rule in all_rules()
    if rule.code not in OF_ANOTHER_PACKAGE
    for number, example in enumerate(rule.invalid)
    if _WRITTEN.search(example.before) and WAY not in example.before and not example.namespace
]
TENSORFLOW = "import tensorflow as tf\n"
OF_TENSORFLOW = [
    pytest.param(rule.code, example, id=f"{rule.code}-{number}")
    for rule in all_rules()
    for number, example in enumerate(rule.invalid)
    if TENSORFLOW in example.before and not example.namespace
]


def found(code, source, target):
    result = scan(["-"], stdin=source.encode(), select=[code], target=target, backend="all")
    return [(each.place.line, each.fix is None) for each in result.findings]


def mended(code, source, target):
    result = fix(
        ["-"], stdin=source.encode(), select=[code], target=target, backend="all", unsafe=True
    )
    return result.files[0].after.decode() if result.files else source


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_an_example_is_found_and_mended_by_another_way_to_keras(code, example):
    plain = _WRITTEN.sub(IMPORT, example.before)
    other = plain.replace(IMPORT, f"from {WAY} import keras")

    assert found(code, other, example.on) == found(code, plain, example.on)
    wanted = mended(code, plain, example.on)
    assert mended(code, other, example.on).replace(WAY, "tensorflow") == wanted


@pytest.mark.parametrize(("code", "example"), OF_TENSORFLOW)
def test_tensorflow_2_is_known_by_its_longer_way(code, example):
    other = example.before.replace(TENSORFLOW, "import tensorflow.compat.v2 as tf\n")

    wanted = [line for line, _ in found(code, example.before, example.on)]
    assert [line for line, _ in found(code, other, example.on)] == wanted


@pytest.mark.parametrize(
    "imports",
    ["import tensorflow.compat.v2 as tf", "from tensorflow.compat import v1 as tf"],
)
def test_what_a_whole_file_uses_is_found_and_mended_through_its_own_import(imports):
    def written(code):
        return f"{imports}\n\n{code}".encode()

    source = written(
        "x = tf.keras.Input((4,))\ny = tf.keras.backend.sum(x, axis=-1)\nz = tf.square(x)\n"
        "rate = tf.keras.optimizers.SGD(0.1, decay=1e-6)\n"
    )
    result = fix(["-"], stdin=source, unsafe=True)

    assert result.files[0].after == written(
        "x = tf.keras.Input((4,))\ny = tf.keras.ops.sum(x, axis=-1)\nz = tf.keras.ops.square(x)\n"
        "rate = tf.keras.optimizers.SGD("
        "tf.keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 1e-6))\n"
    )


@pytest.mark.parametrize("root", FACADES)
def test_a_way_through_tensorflow_leads_to_keras_3_where_it_has_that(root):
    assert TargetFacts(newest_target()).runs_keras_3(root)
    assert not TargetFacts(Target("tensorflow", "2.15", "test", "2.15.0", "2.15.0")).runs_keras_3(
        root
    )


@pytest.mark.frameworks
def test_tensorflow_hands_on_one_keras_by_every_way():
    import tensorflow as tf  # noqa: PLC0415

    # Members, for of two ways to a module one may be what the other is made from: `keras.optimizers`
    # and `keras._tf_keras.keras.optimizers`, after which of them is imported first.
    for way in (tf.compat.v1.keras, tf.compat.v2.keras):
        for name in (
            *("layers.Dense", "optimizers.Adam", "callbacks.EarlyStopping", "losses.Huber"),
            *("ops.matmul", "backend.floatx", "utils.to_categorical"),
        ):
            member = operator.attrgetter(name)
            assert member(way) is member(tf.keras)
