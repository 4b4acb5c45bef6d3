"""A mean of what would have raised for integers is the same on Keras 3: the fix is safe."""

import pytest

from kdoctor.engine import fix
from kdoctor.rules.names._backend.float_by_use import RAISE_FOR_INTEGERS

HEAD = "from keras import backend as K\nfrom keras.layers import Layer\n\n\n"
LAYER = (
    "class Norm(Layer):\n"
    "    def build(self, shape):\n"
    "        self.gamma = self.add_weight(name='gamma', shape=(1,))\n"
    "        self.count = self.add_weight(name='count', shape=(1,), dtype='int32')\n\n"
    "    def call(self, x):\n        {}\n"
)


def is_safe(source: str) -> bool:
    result = fix(["-"], stdin=(HEAD + source).encode(), select=["KD101"])
    return bool(result.files) and "K.mean" not in result.files[0].after.decode()


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    m = K.mean(x)\n    s = K.std(x)\n    return m, s\n",
        "def f(x):\n    v = K.mean(x, axis=-1)\n    return K.sqrt(v + K.epsilon())\n",
        (
            "def f(x):\n    m = K.mean(x)\n    v = K.mean(K.square(x - m))\n"
            "    return (x - m) / K.sqrt(v + 1)\n"
        ),
        "def f(x):\n    y = x[0]\n    K.exp(-x * 2)\n    return K.mean(x)\n",
        "def f(x):\n    if K.ndim(x) == 2:\n        m = K.mean(x)\n        K.exp(x)\n    return x\n",
        "def f(x):\n    return K.mean(x * 0.5)\n",
        "def f(x):\n    m = K.mean(x)\n    return 0.5 * m\n",
        LAYER.format("return K.mean(x * self.gamma)"),
        LAYER.format("m = K.mean(x)\n        return (x - m) * self.gamma"),
    ],
)
def test_it_is_no_integer_where_that_would_have_raised(source):
    assert is_safe(source)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return K.mean(x)\n",
        "def f(x):\n    m = K.mean(x)\n    return (x - m) / 2\n",
        # Only sometimes.
        "def f(x, c):\n    m = K.mean(x)\n    if c:\n        return K.exp(x)\n    return m\n",
        "def f(x, c):\n    m = K.mean(x)\n    if c:\n        return m\n    return K.exp(x)\n",
        "def f(x):\n    m = K.mean(x)\n    return m, lambda: K.exp(x)\n",
        (
            "def f(x):\n    m = K.mean(x)\n    try:\n        K.exp(x)\n    except TypeError:\n"
            "        pass\n    return m\n"
        ),
        # Another `x`, and another type.
        "def f(x):\n    m = K.mean(x)\n    x = K.cast(x, 'float32')\n    return m, K.exp(x)\n",
        "def f(x):\n    m = K.mean(x)\n    return m, K.exp(K.cast(x, 'float32'))\n",
        "def f(x):\n    m = K.mean(x)\n    return m, K.exp(x / 2)\n",
        "def f(x):\n    m = K.mean(x)\n    return m, exp(x)\n",
        LAYER.format("return K.mean(x + self.count)"),
    ],
)
def test_it_may_be_an_integer_otherwise(source):
    assert not is_safe(source)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(RAISE_FOR_INTEGERS))
def test_keras_2_took_no_integers(name):
    import tensorflow as tf  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    function = (
        getattr(tf_keras.backend, name, None)
        or getattr(tf.math, name, None)
        or getattr(tf.math, f"reduce_{name}")
    )
    function(tf.constant([[1.0, 2.0]]))
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        function(tf.constant([[1, 2]]))


@pytest.mark.frameworks
@pytest.mark.parametrize("name", ["add", "maximum", "pow", "squared_difference", "tensordot"])
def test_tensorflow_took_no_integer_beside_a_float(name):
    import tensorflow as tf  # noqa: PLC0415

    function = getattr(tf, name, None) or getattr(tf.math, name)
    more = (1,) if name == "tensordot" else ()
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        function(tf.constant([[1, 2]]), tf.constant([[1.0], [2.0]]), *more)


TF = "import keras\nimport tensorflow as tf\n\n\nclass Norm(keras.layers.Layer):\n    def call(self, x):\n"


@pytest.mark.parametrize(
    ("body", "safe"),
    [
        ("m = tf.reduce_mean(x)\n        return tf.math.rsqrt(tf.pow(x - m, 2))\n", True),
        ("m = tf.reduce_mean(x)\n        return tf.sqrt(tf.maximum(m, 1))\n", True),
        # These make floats of integers.
        ("m = tf.reduce_mean(x)\n        return keras.ops.sqrt(m)\n", False),
        ("m = tf.reduce_mean(x)\n        return tf.sqrt(keras.ops.mean(m))\n", False),
        ("m = tf.reduce_mean(x)\n        return tf.sqrt(keras.ops.maximum(m, 0.5))\n", False),
    ],
)
def test_what_tensorflow_takes_tells_more_than_what_keras_3_takes(body, safe):
    result = fix(["-"], stdin=(TF + f"        {body}").encode(), select=["KD801"], backend="all")
    assert (
        ("reduce_mean" not in result.files[0].after.decode()) is safe if result.files else not safe
    )


TRAINED = (
    "import keras\nimport tensorflow as tf\n\nmodel = keras.Sequential()\n"
    "with tf.GradientTape() as tape:\n    given = model({})\n"
    "    loss = K.mean(keras.losses.mse(y, given))\n"
    "grads = tape.gradient(loss, {})\n"
)


@pytest.mark.parametrize(
    ("given", "weights", "safe"),
    [
        ("x", "model.trainable_variables", True),
        ("x, training=True", "model.trainable_weights", True),
        ("x", "other.trainable_variables", False),
        ("x", "x", False),
    ],
)
def test_what_a_trained_model_gives_is_no_integer(given, weights, safe):
    """Of integers Keras 2 had no gradients, and then trained nothing."""
    assert is_safe(TRAINED.format(given, weights)) is safe


def test_a_model_of_that_name_elsewhere_says_nothing():
    source = (
        "import keras\nimport tensorflow as tf\n\n\ndef train(x, tape, loss):\n"
        "    model = keras.Sequential()\n    return tape.gradient(loss, model.trainable_weights)\n\n\n"
        "def score(x, y):\n    model = keras.Sequential()\n    given = model(x)\n"
        "    return K.mean(keras.losses.mse(y, given))\n"
    )
    assert not is_safe(source)
