"""`K.mean` of what is surely no integer: by what reaches the name, and by who made it."""

import contextlib

import pytest

from kdoctor.engine import scan
from kdoctor.rules.names._backend.result_types import TYPE_OF_PREDICTION
from tests.frameworks import tf_keras

HEAD = "import keras\nfrom keras import backend as K\n"
LOSS = "def loss(y_true, y_pred):\n    {}\n    return K.mean(y_pred)\nmodel.compile('sgd', loss)\n"


def applicability(source: str) -> str:
    found = scan(["-"], stdin=source.encode(), select=["KD101"], target="keras==3.15.1").findings
    (mean,) = [each for each in found if each.symbol == "keras.backend.mean"]
    return str(mean.fix.applicability)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y_pred = K.log(y_true)", "safe"),
        ("y_pred = K.reshape(y_pred, (-1, 3))", "safe"),
        ("y_pred = K.round(y_true)", "unsafe"),
        ("if y_true: y_pred = K.round(y_true)", "unsafe"),
        ("for _ in y_true: y_pred = y_pred + y_true", "unsafe"),
        ("y_pred += y_true", "unsafe"),
        ("del y_pred", "unsafe"),
    ],
)
def test_what_reaches_a_name_counts(body, expected):
    assert applicability(HEAD + LOSS.format(body)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("keras.metrics.binary_crossentropy(a, b)", "safe"),
        ("keras.metrics.binary_accuracy(a, b)", "safe"),
        ("keras.losses.mse(a, K.sigmoid(b))", "safe"),
        ("keras.losses.mse(y_pred=K.sigmoid(b), y_true=a)", "safe"),
        ("keras.losses.mse(K.sigmoid(a), b)", "unsafe"),
        ("keras.metrics.mean_absolute_error(a, b)", "unsafe"),
        ("keras.metrics.Accuracy()(a, b)", "unsafe"),
        ("K.one_hot(a, 3)", "safe"),
        ("keras.ops.one_hot(a, 3, dtype='int32')", "unsafe"),
    ],
)
def test_losses_metrics_and_one_hot_are_floats(value, expected):
    assert applicability(f"{HEAD}def f(a, b):\n    return K.mean({value})\n") == expected


@pytest.mark.frameworks
def test_of_integers_only_these_functions_give_integers():
    numbers = tf_keras.backend.constant([[1, 0, 2]], dtype="int32")
    integers = set()
    for name in dir(tf_keras.metrics):
        function = getattr(tf_keras.metrics, name)
        if (
            name.islower()
            and callable(function)
            and name not in ("deserialize", "get", "serialize")
        ):
            with contextlib.suppress(Exception):  # most take no integers
                if not function(numbers, numbers).dtype.is_floating:
                    integers.add(name)
    assert integers == TYPE_OF_PREDICTION
