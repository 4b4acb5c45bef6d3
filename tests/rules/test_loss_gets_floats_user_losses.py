"""KD458: which functions are losses that Keras calls, and what in them are the targets."""

import pytest

from kdoctor.engine import scan

HEAD = "import keras\nimport tensorflow as tf\n\n\n"
LOSS = HEAD + "def loss(y_true, y_pred):\n    return tf.one_hot(y_true, 3) * y_pred\n\n\n"
METHOD = (
    HEAD + "class Trainer:\n    def loss(self, y_true, y_pred):\n"
    "        return tf.one_hot(y_true, 3) * y_pred\n\n"
)


def found(source: str) -> int:
    result = scan(["-"], stdin=source.encode(), select=["KD458"], target="keras==3.15.1")
    gateless = scan(
        ["-"], stdin=source.encode(), select=["KD458"], target="keras==3.15.1", gate=False
    )
    assert result.findings == gateless.findings
    return len(result.findings)


@pytest.mark.parametrize(
    "source",
    [
        LOSS + "keras.Sequential().compile('sgd', loss)",
        LOSS + "keras.Sequential().compile(loss=loss)",
        LOSS + "make_model().compile('sgd', [None, loss])",
        LOSS + "losses = {'a': 'mse', 'b': loss}\nmodel.compile('sgd', losses)",
        LOSS + "model.compile('sgd', loss=loss if sparse else 'mse')",
        LOSS + "def build(loss):\n    model.compile('sgd', loss)\n\n\nbuild(loss)",
        LOSS + "class Mine(keras.Model):\n    def call(self, x):\n        return x\n\n\n"
        "Mine().compile(loss=loss)",
        HEAD + "model.compile('sgd', loss=lambda t, p: tf.one_hot(t, 3) * p)",
        HEAD + "@keras.saving.register_keras_serializable()\n@tf.function\n"
        + LOSS.removeprefix(HEAD) + "model.compile(loss=loss)",
        METHOD + "    def build(self):\n        self.model.compile(loss=self.loss)",
        METHOD.replace("    def loss(self, ", "    @staticmethod\n    def loss(")
        + "    def build(self):\n        self.model.compile(loss=self.loss)",
        METHOD + "    def build(self):\n        self.chosen = self.loss\n"
        "        self.model.compile(loss=self.chosen)",
        METHOD.replace("class Trainer:", "class Mine(keras.losses.Loss):").replace("loss(", "call("),
        METHOD.replace("class Trainer:", "class Mine(keras.losses.MeanSquaredError):").replace(
            "loss(", "call("
        ),
        METHOD.replace("class Trainer:", "class Base(tf.keras.losses.Loss):\n    pass\n\n\n"
        "class Mine(Base):").replace("loss(", "call("),
    ],
)  # fmt: skip
def test_a_loss_is_one_however_it_gets_to_compile(source: str) -> None:
    assert found(source) == 1


@pytest.mark.parametrize(
    "source",
    [
        LOSS + "keras.Sequential().compile('sgd', metrics=[loss])",
        LOSS + "make_model(loss=loss)",
        LOSS + "re.compile('sgd', flags)",
        LOSS + "losses = {'b': loss}\nlosses['b'] = 'mse'\nmodel.fit(losses)",
        LOSS + "class Mine(keras.Model):\n    def compile(self, optimizer, loss):\n"
        "        super().compile(optimizer)\n        self.own = loss\n\n\nMine().compile('sgd', loss)",
        # One of another class that trains by itself, be it.
        LOSS + "class Mine(keras.Model):\n    def train_step(self, data):\n"
        "        return {'loss': self.loss(*data)}\n\n\nmake_model().compile('sgd', loss)",
        LOSS.replace("import keras", "import mine") + "model.compile('sgd', loss)",
        METHOD.replace("class Trainer:", "class Mine(Other, keras.losses.Loss):").replace(
            "loss(", "call("
        ),
        METHOD.replace("class Trainer:", "class Mine(keras.layers.Layer):").replace(
            "loss(", "call("
        ),
    ],
)
def test_what_keras_does_not_call_as_a_loss_is_none(source: str) -> None:
    assert found(source) == 0


def test_a_model_of_keras_is_one_whatever_else_the_file_has() -> None:
    own = "class Mine(keras.Model):\n    def train_step(self, data):\n        return {}\n\n\n"
    assert found(f"{LOSS}{own}keras.Sequential().compile('sgd', loss)") == 1


@pytest.mark.parametrize(
    "targets",
    [
        "y_true[..., 0]",
        "tf.squeeze(y_true, -1)",
        "tf.maximum(y_true - 1, 0)",
        "1 + y_true",
        "keras.ops.reshape(y_true, (-1,))",
        "tf.compat.v2.reshape(tf.stop_gradient(y_true), [-1])",
    ],
)
def test_the_type_is_kept(targets: str) -> None:
    source = LOSS.replace("one_hot(y_true", f"one_hot({targets}")
    assert found(f"{source}model.compile('sgd', loss)") == 1


@pytest.mark.parametrize(
    "targets",
    [
        "tf.cast(y_true, 'int32')",
        "keras.ops.cast(y_true, 'int32')",
        "y_true.astype('int32')",
        "tf.cast(y_true, tf.int32)[..., 0]",
        "tf.argmax(y_true, -1)",
        "y_true > 0",
        "y_true + y_pred",
        "known(y_true)",
        "tf.reshape(tensor=y_true, shape=[-1])",
        "y_pred",
    ],
)
def test_the_type_may_be_another(targets: str) -> None:
    source = LOSS.replace("one_hot(y_true", f"one_hot({targets}")
    assert found(f"{source}model.compile('sgd', loss)") == 0


def test_a_function_is_followed_that_gets_the_targets() -> None:
    parts = (
        "def outer(y, p, depth):\n    return inner(p, labels=tf.squeeze(y, -1), depth=depth)\n\n\n"
        "def inner(scores, labels, depth):\n    return tf.one_hot(labels, depth) * scores\n\n\n"
        "def loss(y_true, y_pred):\n    return outer(y_true, y_pred, depth=3)\n\n\n"
    )
    assert found(f"{HEAD}{parts}model.compile('sgd', loss)") == 1
    assert found(f"{HEAD}{parts}model.compile('sgd', metrics=[loss])") == 0
    cast = parts.replace("squeeze(y, -1)", "cast(y, 'int32')")
    assert found(f"{HEAD}{cast}model.compile('sgd', loss)") == 0


@pytest.mark.parametrize("function", ["take(weights,", "segment_sum(y_pred,"])
def test_what_keras_has_for_all_backends_refuses_floats_on_tensorflow_alone(function: str) -> None:
    source = LOSS.replace("tf.one_hot(y_true,", f"keras.ops.{function} y_true,")
    source += "model.compile('sgd', loss)"
    assert found(source) == 1
    assert found(source.replace("import tensorflow as tf\n", "")) == 0
    assert found(f"import os\nos.environ['KERAS_BACKEND'] = 'torch'\n{source}") == 0
