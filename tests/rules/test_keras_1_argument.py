"""KD310 beyond its examples, and its table against the converters of Keras 2.2.5.

``data/keras_2_2_5_converters.json`` is what the generator of the table reads of the wheel of Keras
2.2.5 on PyPI: the converters, and the classes and functions that they stand over, without the rest.
"""

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kdoctor.engine import fix, scan
from kdoctor.rules.arguments import _keras_1
from tools import keras_1_arguments as generator
from tools.api_data.wheels import Wheel

CONVERTERS = Path(__file__).with_name("data") / "keras_2_2_5_converters.json"


def findings(source: str, target: str | None = None):
    return scan(["-"], stdin=source.encode(), select=["KD310"], target=target).findings


def mended(source: str) -> str:
    result = fix(["-"], stdin=source.encode(), select=["KD310"], unsafe=True)
    return result.files[0].after.decode() if result.files else source


def test_the_table_is_what_keras_2_2_renamed() -> None:
    files = {path: "\n".join(lines) for path, lines in json.loads(CONVERTERS.read_text()).items()}
    fresh: dict[str, object] = {}
    for node in ast.parse(generator.generated(Wheel("keras", generator.RELEASE, files))).body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            fresh[ast.unparse(node.target)] = ast.literal_eval(node.value)
    assert fresh == {"RENAMED": _keras_1.RENAMED, "VALUES": _keras_1.VALUES}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Conv2D(8, 3, nb_col=5)", "Conv2D(8, (3, 5))"),
        ("Conv2D(8, n, m, init='zero')", "Conv2D(8, (n, m), kernel_initializer='zero')"),
        ("Conv3D(8, 3, 3, 3, border_mode='same')", "Conv3D(8, (3, 3, 3), padding='same')"),
        ("Conv2D(8, (3, 3), bias=False)", "Conv2D(8, (3, 3), use_bias=False)"),
        ("MaxPooling1D(pool_length=2, stride=1)", "MaxPooling1D(pool_size=2, strides=1)"),
        (
            "SeparableConv2D(8, 3, init='zero')",
            "SeparableConv2D(8, 3, depthwise_initializer='zero', pointwise_initializer='zero')",
        ),
        ("UpSampling2D(dim_ordering='default')", "UpSampling2D(data_format=None)"),
        ("Convolution2D(8, sizes[0], sizes[1])", "Convolution2D(8, (sizes[0], sizes[1]))"),
        (
            "Convolution2D(8, 2 * n + 1, -m, bias=True)",
            "Convolution2D(8, (2 * n + 1, -m), use_bias=True)",
        ),
        ("Convolution2D(8, n, n)", "Convolution2D(8, (n, n))"),
    ],
)
def test_a_call_of_keras_1_is_written_as_of_today(before: str, after: str) -> None:
    head = "from keras.layers import *\nfrom keras import layers\nn = m = 3\nx = layers."
    assert mended(head + before + "\n") == head + after + "\n"


@pytest.mark.parametrize(
    "call",
    [
        "layers.Conv2D(8, 3, 3, dim_ordering=order)",
        "layers.Conv2D(8, 3, nb_row=3)",
        "layers.Conv2D(8, size(), size(), border_mode='same')",
        "layers.Dense(3, init='zero', kernel_initializer='one')",
        "layers.Dense(units=3, output_dim=3)",
        "layers.BatchNormalization(mode=2)",
        "layers.LSTM(3, consume_less='gpu', forget_bias_init='zero')",
    ],
)
def test_what_keras_itself_could_not_rename_is_left_to_people(call: str) -> None:
    (found,) = findings(f"from keras import layers\n{call}")
    assert found.no_fix_because


def test_the_members_of_a_generator_call_are_named() -> None:
    source = (
        "import keras\nmodel = keras.Sequential()\n"
        "model.fit(flow, samples_per_epoch=100, nb_epoch=3, nb_worker=2)"
    )
    (found,) = findings(source)
    assert "`samples_per_epoch=`, `nb_epoch=`, `nb_worker=`" in found.message
    assert "batch_size" in found.help


def test_samples_are_divided_by_the_batch_size_that_the_data_says() -> None:
    head = "import keras\nmodel = keras.Sequential()\n"
    before = "model.fit_generator(flow(x, batch_size=8), samples_per_epoch=len(x) + 1, nb_epoch=2)"
    after = (
        "model.fit_generator(flow(x, batch_size=8), steps_per_epoch=(len(x) + 1) // 8, epochs=2)"
    )
    assert mended(head + before) == head + after
    (found,) = findings(head + before)
    assert found.fix is not None
    assert found.fix.applicability == "unsafe"


def test_a_generator_call_of_keras_1_becomes_a_fit_of_today() -> None:
    head = "import keras\nmodel = keras.Sequential()\n"
    before = "model.fit_generator(flow, steps_per_epoch=9, nb_epoch=2, max_q_size=4)"
    result = fix(["-"], stdin=(head + before).encode(), select=["KD205", "KD310"], unsafe=True)
    assert result.files[0].after.decode() == head + "model.fit(flow, steps_per_epoch=9, epochs=2)"


def test_a_comment_beside_an_argument_stays() -> None:
    source = "import keras\nkeras.layers.Dense(\n    3,\n    init='zero',  # start at nothing\n)\n"
    assert mended(source) == source.replace("init=", "kernel_initializer=")


def test_keras_2_2_still_renames_by_itself() -> None:
    assert not findings("import keras\nkeras.layers.Dense(3, init='zero')", "keras==2.2")


def test_strides_that_are_strides_are_no_kernel() -> None:
    assert not findings("from tensorflow.keras.layers import Convolution2D\nConvolution2D(8, 3, 2)")
    assert not findings("from keras.layers import Convolution2D\nConvolution2D(8, 3, strides=2)")


@pytest.mark.parametrize(
    "call", ["Conv2D(8, 3, 3)", "Conv2D(8, n, n)", "Conv2D(8, size[0], size[1], activation='relu')"]
)
def test_numbers_are_sides_by_any_name_where_the_file_speaks_keras_1(call: str) -> None:
    head = "from keras.layers import *\nfrom keras.layers import Conv2D, Dense\nn = 3\n"
    assert not findings(head + call)
    assert [each.severity for each in findings(head + "Dense(3, init='one')\n" + call)] == [
        "error",
        "change",
    ]
    # It may be there for both.
    asked = (
        "import keras\nif keras.__version__.startswith('1.'):\n    x = Dense(3, init='one')\n"
        "else:\n    x = Dense(3)\n"
    )
    assert not findings(head + asked + call)


@pytest.mark.parametrize(
    "call",
    [
        "Convolution2D(8, kernel, strides)",
        "Convolution2D(8, sizes[0], sizes[2])",
        "Convolution2D(8, sizes[0], steps[1])",
        "Convolution2D(8, pair, pair)",
        "Convolution2D(8, (3, 3), (2, 2))",
        "Convolution2D(8, size(), size())",
        "Convolution2D(8, 3, 3, strides=2)",
    ],
)
def test_what_may_be_a_stride_is_left_alone(call: str) -> None:
    head = "from keras.layers import Convolution2D, Dense\npair = (3, 3)\n"
    assert not findings(head + call)
    (found,) = findings(head + "Dense(3, init='one')\n" + call)
    assert found.severity == "error"


HEAD = (
    "import keras\nimport numpy as np\n"
    "from keras.preprocessing.image import ImageDataGenerator\n\n"
    "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])\n"
    "images = ImageDataGenerator()\n\n\n"
    "def batches(x, batch_size=4):\n    yield x\n\n\ndef endless():\n    yield 1\n\n\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("batches(x, 8), samples_per_epoch=20", "batches(x, 8), steps_per_epoch=20 // 8"),
        ("batches(x), samples_per_epoch=n", "batches(x), steps_per_epoch=n // 4"),
        (
            "generator=batches(x, batch_size=size), samples_per_epoch=20",
            "generator=batches(x, batch_size=size), steps_per_epoch=20 // size",
        ),
        # The default of `flow`, and its third argument.
        ("images.flow(x), samples_per_epoch=20", "images.flow(x), steps_per_epoch=20 // 32"),
        (
            "images.flow(x, y, 5), samples_per_epoch=9",
            "images.flow(x, y, 5), steps_per_epoch=9 // 5",
        ),
        # Nothing says it: what Keras 2 did.
        ("endless(), samples_per_epoch=20", "endless(), steps_per_epoch=20"),
        ("batches(x, size()), samples_per_epoch=20", "batches(x, size()), steps_per_epoch=20"),
        ("batches(*a), samples_per_epoch=20", "batches(*a), steps_per_epoch=20"),
        (
            "batches(x), 3, 1, validation_data=(x, y), nb_val_samples=20",
            "batches(x), 3, 1, validation_data=(x, y), validation_steps=20",
        ),
    ],
)
def test_samples_become_batches(before: str, after: str) -> None:
    head = f"{HEAD}size = 3\nmodel.fit_generator("
    assert mended(f"{head}{before})\n") == f"{head}{after})\n"


def test_a_generator_of_images_with_a_name_is_asked_for_its_batch_size() -> None:
    head = f"{HEAD}data = images.flow(x, batch_size=size())\nmodel.fit_generator(data, "
    after = f"{head}steps_per_epoch=20 // data.batch_size)\n"
    assert mended(f"{head}samples_per_epoch=20)\n") == after


@pytest.mark.parametrize(
    "call", ["fit_generator(endless(), 3, samples_per_epoch=2)", "fit(endless(), val_samples=2)"]
)
def test_a_number_of_samples_that_cannot_be_told_in_batches_is_left_alone(call: str) -> None:
    assert mended(f"{HEAD}model.{call}\n") == f"{HEAD}model.{call}\n"
    (found,) = findings(f"{HEAD}model.{call}\n")
    assert found.no_fix_because
    assert "batch_size" in found.help


@pytest.mark.frameworks
def test_after_both_fixes_the_epochs_have_so_many_batches() -> None:
    head = HEAD.replace("from keras.preprocessing.image import ImageDataGenerator\n", "")
    code = head.replace("images = ImageDataGenerator()\n", "").replace(
        "    yield x", "    while True:\n        yield x[:batch_size], np.ones((batch_size, 3))"
    )
    code += (
        "model.compile('sgd', 'mse')\nx = np.ones((16, 4))\n"
        "model.fit_generator(batches(x, 8), samples_per_epoch=16, nb_epoch=3, verbose=0)\n"
        "loss = model.evaluate_generator(batches(x), val_samples=len(x))\n"
    )
    fixed = fix(["-"], stdin=code.encode(), select=["KD205", "KD310"], unsafe=True).files[0]
    scope: dict[str, Any] = {}
    exec(fixed.after.decode(), scope)  # noqa: S102

    model, x = scope["model"], scope["x"]
    assert model.optimizer.iterations == 6
    assert scope["loss"] == pytest.approx(model.evaluate(x[:4], np.ones((4, 3)), verbose=0))


SIGN = "Convolution2D(8, 3, 3, border_mode='same')\n"
OF_KERAS = "import keras\nfrom keras.layers import Conv2D, Convolution2D, Dense\n"


def fixes(source: str, *codes: str):
    found = scan(["-"], stdin=source.encode(), select=list(codes or ["KD310"])).findings
    return [(each.fix.applicability, each.fix.unsafe_because) for each in found if each.fix]


@pytest.mark.parametrize(
    "call",
    [
        "Convolution2D(8, 3, 3)",
        "Conv2D(8, 3, 3, activation='relu')",
        "Convolution2D(8, size[0], size[1])",
        "layer(Convolution2D(8, 3, 3)(x))",
        "Convolution2D(8, 3,  # wide\n    3)",
    ],
)
@pytest.mark.parametrize("sign", [SIGN, "Dense(3, init='one')\n", "Dense(3, **{'init': 'one'})\n"])
def test_one_keyword_of_keras_1_decides_for_the_whole_file(sign: str, call: str) -> None:
    assert {each for each, _ in fixes(OF_KERAS + sign + call)} == {"safe"}
    assert {each for each, _ in fixes(OF_KERAS + call)} <= {"unsafe"}


@pytest.mark.parametrize(
    "call",
    [
        "Convolution2D(8, a, b)",
        "Convolution2D(8, size(), size())",
        "Convolution2D(8, *size)",
        # "For safety reasons, this is disallowed", said Keras 2.0 to 2.3.
        "Conv2D(8, 3, 3, padding='same')",
        "partial(Convolution2D, 8, 3, 3)",
        "class Mine(Conv2D):\n    def __init__(self):\n        super().__init__(8, 3, 3)",
    ],
)
def test_nothing_of_a_file_is_safe_where_it_can_be_read_in_two_ways(call: str) -> None:
    source = f"from functools import partial\n{OF_KERAS}{SIGN}Dense(3, **{{'init': 'one'}})\n{call}"
    told = fixes(source)
    assert {each for each, _ in told} == {"unsafe"}
    for _, because in told:
        assert "reads its last number as the stride" in because or "mean the stride" in because
    whole = fix(["-"], stdin=source.encode(), select=["KD310"])
    assert not whole.files


@pytest.mark.parametrize(
    "call",
    [
        "Conv2D(8, (3, 3), (2, 2))",
        "Conv2D(8, 3, strides=2)",
        "Conv2D(8, 3)",
        "Conv2D(8, kernel_size=3)",
        "Convolution2D(8, 3, 3, strides=2)",  # raises by itself
        "import tensorflow as tf\ntf.keras.layers.Conv2D(8, 3, 2)",
    ],
)
def test_what_is_surely_of_today_leaves_the_rest_safe(call: str) -> None:
    assert {each for each, _ in fixes(OF_KERAS + SIGN + call)} == {"safe"}


def test_each_root_is_judged_by_its_own_keywords() -> None:
    head = "from tensorflow.keras.layers import Convolution2D, Dense\n"
    told = fixes(head + SIGN + "Convolution2D(8, 3, 3)")
    assert [each for each, _ in told] == ["unsafe", "unsafe"]
    beside = "import tensorflow as tf\n" + OF_KERAS + SIGN + "tf.keras.layers.Conv2D(8, 3, 3)"
    assert [each for each, _ in fixes(beside)] == ["safe"]


MODEL = "model = keras.Sequential([Dense(3{})])\n"


@pytest.mark.parametrize(
    ("call", "is_safe"),
    [
        ("fit_generator(flow, 2000, 10)", False),
        ("evaluate_generator(flow, 20)", False),
        ("fit_generator(flow, steps_per_epoch=2000)", True),
        ("fit_generator(flow, epochs=10)", True),
    ],
)
def test_a_count_by_position_may_be_one_of_samples_in_a_file_of_keras_1(call, is_safe) -> None:
    code = f"model.{call}\n"
    [(was, because)] = fixes(OF_KERAS + MODEL.format(", init='one'") + code, "KD205")
    assert (was == "safe", "counted samples" in because) == (is_safe, not is_safe)
    [(was, _)] = fixes(OF_KERAS + MODEL.format("") + code, "KD205")
    assert was == "safe"


@pytest.mark.parametrize(
    ("call", "is_safe"),
    [
        ("K.categorical_crossentropy(y_pred, y_true)", False),
        ("K.categorical_crossentropy(target=y_true, output=y_pred)", True),
        ("K.mean(y_pred, 1)", True),
    ],
)
def test_the_order_of_a_crossentropy_is_another_in_a_file_of_keras_1(call, is_safe) -> None:
    code = f"from keras import backend as K\n\ndef loss(y_true, y_pred):\n    return {call}\n"
    [(was, because)] = fixes(OF_KERAS + MODEL.format(", init='one'") + code, "KD101")
    assert (was == "safe", "the targets last" in because) == (is_safe, not is_safe)
    [(was, _)] = fixes(OF_KERAS + MODEL.format("") + code, "KD101")
    assert was == "safe"
