"""What KD121 says of each function is what Keras 3's `tf.keras.backend` does."""

import json
import subprocess
import sys

import numpy as np
import pytest

from kdoctor.rules.names.legacy_backend import ON_SYMBOLIC, ON_VARIABLE

PROGRAM = """
import json, sys
import keras, tensorflow as tf

K = tf.keras.backend
SETS = [lambda x: (x,), lambda x: (x, 1), lambda x: (x, x), lambda x: (x, 1, 2),
        lambda x: (x, x, x), lambda x: ([x, x],), lambda x: (x, (0, 2, 1)),
        lambda x: (x, "float32"), lambda x: (x, 2, 1)]

def errors(name, make):
    found = []
    for arguments in SETS:
        try:
            getattr(K, name)(*arguments(make()))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found

wanted = json.load(sys.stdin)
shapes = [(4, 4), (4, 4, 3), (4, 4, 4, 3)]
print(json.dumps({
    "symbolic": {n: [e for s in shapes for e in errors(n, lambda: keras.Input(s))]
                 for n in wanted["symbolic"]},
    "variable": {n: errors(n, lambda: keras.Variable([1.0, 2.0])) for n in wanted["variable"]},
}))
"""
pytestmark = pytest.mark.frameworks


@pytest.fixture(scope="module")
def raised():
    wanted = {"symbolic": list(ON_SYMBOLIC), "variable": list(ON_VARIABLE)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(wanted), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("name", "error"), ON_SYMBOLIC.items())
def test_a_symbolic_tensor_raises_what_is_said(raised, name, error):
    assert any(each.startswith(error) for each in raised["symbolic"][name]), raised["symbolic"][
        name
    ]


@pytest.mark.parametrize(("name", "error"), ON_VARIABLE.items())
def test_a_variable_raises_what_is_said(raised, name, error):
    assert any(each.startswith(error) for each in raised["variable"][name])


def _written(tf, backend):
    rows = tf.constant([[0.2, 0.8], [0.6, 0.4]])
    image = tf.reshape(tf.range(32.0), (1, 4, 4, 2))
    volume = tf.reshape(tf.range(128.0), (1, 4, 4, 4, 2))
    scores = tf.nn.softmax(tf.reshape(tf.range(24.0) % 5, (2, 4, 3)))
    lengths = tf.constant([[4], [3]])
    return {
        "resize_images": [
            backend.resize_images(image, 2, 3, "channels_last", interpolation=each)
            for each in ("nearest", "bilinear")
        ],
        "constant": [backend.constant([1, 2]), backend.constant(3.0, shape=(2, 2))],
        "sparse_categorical_crossentropy": [
            backend.sparse_categorical_crossentropy(tf.constant([1, 0]), rows, ignore_class=each)
            for each in (None, 0)
        ],
        "pool2d": [
            backend.pool2d(image, (2, 2), (1, 2), padding, "channels_last", mode)
            for padding in ("same", "valid")
            for mode in ("avg", "max")
        ],
        "pool3d": [
            backend.pool3d(volume, (2, 2, 1), (1, 2, 1), "same", "channels_last", mode)
            for mode in ("avg", "max")
        ],
        "batch_normalization": [
            backend.batch_normalization(rows, rows[0], rows[1], rows[0], rows[1], axis=-1)
        ],
        "ctc_batch_cost": [
            backend.ctc_batch_cost(tf.constant([[0], [1]]), scores, lengths, lengths // lengths)
        ],
        "random_bernoulli": [backend.random_bernoulli((3, 4), 0.5, seed=7)],
    }


UNDRAWN = (
    *("resize_images", "constant", "sparse_categorical_crossentropy", "pool2d", "pool3d"),
    *("batch_normalization", "ctc_batch_cost", "random_bernoulli"),
)


@pytest.fixture(scope="module")
def written():
    tf, tf_keras = pytest.importorskip("tensorflow"), pytest.importorskip("tf_keras")
    assert tf.keras.__version__.startswith("3.")
    found = []
    for framework in (tf_keras, tf.keras):
        tf.random.set_seed(1)
        found.append(_written(tf, framework.backend))
    return found


@pytest.mark.parametrize("name", UNDRAWN)
def test_what_cannot_be_drawn_gives_what_keras_2_gave(written, name):
    old, new = (each[name] for each in written)
    for one, other in zip(old, new, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)
