"""KD487 beyond its examples: of which values it speaks, and of which it does not."""

import pytest

from kdoctor.engine import scan

HEAD = (
    "import keras\nimport numpy as np\nimport tensorflow as tf\nfrom keras import optimizers\n\n"
    "model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse')\nlayer = keras.layers.Dense(1)\nx = keras.Input((2,))\n"
)


def reported(code: str) -> list[str]:
    found = scan(["-"], stdin=f"{HEAD}{code}\n".encode(), select=["KD487"]).findings
    return [each.message for each in found]


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(model.weights[0], tf.Variable)",
        "[w for w in model.trainable_variables if isinstance(w, tf.Variable)]",
        (
            "for each in model.layers:\n    for w in each.weights:\n"
            "        assert not isinstance(w, (tf.Tensor, (tf.Variable, np.ndarray)))"
        ),
        "isinstance(layer.kernel, tf.compat.v2.Variable)",
        "isinstance(optimizers.Adam().iterations, tf.Variable)",
        "opt = optimizers.SGD(learning_rate=0.5)\nisinstance(opt.learning_rate, tf.Variable)",
        "tf.is_tensor(x)",
        "tf.is_tensor(layer(x))",
        "z = 1 if tf.compat.v1.is_tensor(model.inputs[0]) else 2",
        (
            "class Mine(keras.layers.Layer):\n    def build(self, shape):\n"
            "        self.w = self.add_weight(shape=(1,))\n\n    def call(self, inputs):\n"
            "        return self.w if isinstance(self.w, tf.Variable) else inputs"
        ),
    ],
)
def test_a_question_about_what_is_known_is_reported(code: str) -> None:
    (message,) = reported(code)
    assert message.endswith("this is False on Keras 3")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("isinstance(tf.Variable(1.0), tf.Variable)", id="TensorFlow made it"),
        pytest.param(
            "class Mine(keras.layers.Layer):\n    def build(self, shape):\n"
            "        self.w = tf.Variable(1.0)\n\n    def call(self, inputs):\n"
            "        return self.w if isinstance(self.w, tf.Variable) else inputs",
            id="an attribute that TensorFlow made",
        ),
        pytest.param("isinstance(model.weights, tf.Variable)", id="a list of weights"),
        pytest.param("isinstance(np.ones(2), tf.Variable)", id="an array"),
        pytest.param("isinstance(x, (tf.Tensor, tf.Variable))", id="no on both"),
        pytest.param("type(layer.kernel) is tf.Variable", id="never true"),
        pytest.param("isinstance(model.optimizer.learning_rate, tf.Variable)", id="any rate"),
        pytest.param(
            "rate = optimizers.schedules.ExponentialDecay(0.1, 1, 0.9)\n"
            "opt = optimizers.SGD(rate)\nisinstance(opt.learning_rate, tf.Variable)",
            id="a schedule gives a tensor",
        ),
        pytest.param("tf.is_tensor(model.predict(np.ones((1, 2))))", id="an array is made"),
        pytest.param("tf.is_tensor(model(tf.ones((1, 2))))", id="called on values"),
        pytest.param("tf.is_tensor(x.shape)", id="a shape"),
        pytest.param(
            "def f(w):\n    return isinstance(w, tf.Variable) or tf.is_tensor(w)", id="a parameter"
        ),
        pytest.param(
            "def f():\n    for w in model.weights:\n        if isinstance(w, keras.Variable):\n"
            "            return 1\n        if isinstance(w, tf.Variable):\n            return 2",
            id="both are asked for",
        ),
        pytest.param(
            "def f():\n    return keras.utils.is_keras_tensor(x) or tf.is_tensor(x)",
            id="both kinds of tensors",
        ),
        pytest.param(
            "def isinstance(a, b):\n    return a is b\n\n\nisinstance(layer.kernel, tf.Variable)",
            id="another isinstance",
        ),
        pytest.param(
            "KINDS = (tf.Variable,)\nisinstance(layer.kernel, (tf.Variable, KINDS))",
            id="a name among the classes",
        ),
        pytest.param(
            "if keras.__version__ < '3':\n    isinstance(layer.kernel, tf.Variable)",
            id="a version check",
        ),
    ],
)
def test_what_is_another_thing_or_asked_about_both_is_not_reported(code: str) -> None:
    assert not reported(code)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "def f(w):\n    return w.numpy() if isinstance(w, tf.Variable) else w\n\n\n"
            "f(3)\nf(layer.kernel)",
            id="one call of several passes a weight",
        ),
        pytest.param(
            "def f(t):\n    return t if tf.is_tensor(t) else 3\n\n\nf(x)\nf([1])",
            id="one call of several passes a symbolic tensor",
        ),
        pytest.param(
            "class Mine(keras.layers.Layer):\n    def __init__(self, bits):\n"
            "        super().__init__()\n        self.bits = bits\n\n"
            "    def build(self, shape):\n"
            "        self.bits = self.add_weight(shape=())\n\n    def get_config(self):\n"
            "        return {'bits': self.bits if isinstance(self.bits, tf.Variable) else 1}",
            id="one of two assignments",
        ),
    ],
)
def test_what_may_be_one_is_reported_as_such(code: str) -> None:
    (message,) = reported(code)
    assert "may be a" in message


def test_asking_another_value_for_the_new_class_provides_for_nothing() -> None:
    assert reported(
        "y = layer(x)\n\n\ndef f():\n    return keras.utils.is_keras_tensor(y) and tf.is_tensor(x)"
    )


def test_a_parameter_that_another_one_may_have_replaced_is_asked_about():
    code = (
        "def check(t, same=None, like=None):\n    if same is not None:\n        like = same\n"
        "    if like is not None:\n        assert tf.is_tensor(like)\n"
        "        return keras.ops.shape(like)"
    )
    assert reported(code) == [
        "a `KerasTensor` is none for TensorFlow: of one this is False on Keras 3"
    ]
