"""`Keras2Config` is held against what tf_keras writes of the same model, built the same way."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kdoctor.reference.keras_2.configs import Keras2Config

keras = pytest.importorskip("keras")
tf_keras = pytest.importorskip("tf_keras")

# What only Keras 2 writes; the page of the rule names what code may ask for of it.
UNTOLD = frozenset({
    *("backend", "batch_input_shape", "build_config", "keras_version", "kernel_initializer"),
    *("key_shape", "noise_shape", "query_shape", "softmax_robust_masking", "trainable"),
    "value_shape",
})  # fmt: skip


def written(model: Any) -> tuple[Any, Any]:
    """Return what `to_json` and `get_config` of a model give, as JSON has it."""
    return json.loads(model.to_json()), json.loads(json.dumps(model.get_config()))


def assert_has_all(new: Any, old: Any, path: str = "") -> None:
    """Assert that a config has all that one of Keras 2 has; it may have more."""
    if isinstance(old, dict):
        assert isinstance(new, dict), path
        for name, value in old.items():
            if name not in UNTOLD or name in new:
                assert name in new, f"{path}.{name}"
                if name not in {"build_config", "module"}:
                    assert_has_all(new[name], value, f"{path}.{name}")
    elif isinstance(old, list):
        assert isinstance(new, list), path
        assert len(new) == len(old), (path, new, old)
        for place, (one, other) in enumerate(zip(new, old, strict=True)):
            assert_has_all(one, other, f"{path}.{place}")
    elif isinstance(old, float):
        assert math.isclose(new, old, rel_tol=1e-6), path
    else:
        assert new == old, (path, new, old)


def assert_as_keras_2(build: Any) -> None:
    old, new = written(build(tf_keras)), written(build(keras))
    for one, other in zip(new, old, strict=True):
        found = Keras2Config.of(one)
        assert_has_all(found, other)
        assert Keras2Config.of(found) == found
        assert Keras2Config.of(other) == other


class Drawn:
    """A functional model of the same layers, names and calls in both, by a seed."""

    def __init__(self, framework: Any, seed: int) -> None:
        self.keras = framework
        self.random = random.Random(seed)  # noqa: S311 - a test case
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def layer(self, depth: int) -> Any:
        layers, name = self.keras.layers, self.name()
        kinds = [
            lambda: layers.Dense(4, name=name, activation=self.random.choice(["relu", None])),
            lambda: layers.Dense(4, name=name, dtype=self.random.choice(["float16", "float32"])),
            lambda: layers.BatchNormalization(name=name),
            lambda: layers.LayerNormalization(name=name),
            lambda: layers.Dropout(0.5, name=name),
            lambda: layers.LeakyReLU(name=name),
            lambda: layers.Activation("tanh", name=name),
            lambda: self.sequential(name),
            lambda: self.model(name, depth + 1, inputs=1),
        ]
        return self.random.choice(kinds[: None if depth < 2 else -2])()

    def sequential(self, name: str) -> Any:
        layers = [self.keras.layers.Dense(4, name=self.name()) for _ in range(2)]
        first = [self.keras.layers.InputLayer((4,), name=self.name())]
        return self.keras.Sequential([*first, *layers], name=name)

    def model(self, name: str, depth: int = 0, inputs: int = 0) -> Any:
        count = inputs or self.random.randint(1, 3)
        given = [self.keras.Input((4,), name=self.name()) for _ in range(count)]
        known, used = [*given], []
        for _ in range(self.random.randint(1, 6)):
            if len(known) > 1 and self.random.random() < 0.4:
                merge = self.random.choice(["Add", "Multiply", "Maximum"])
                two = self.random.sample(known, 2)
                known.append(getattr(self.keras.layers, merge)(name=self.name())(two))
                continue
            again = used and self.random.random() < 0.3
            layer = self.random.choice(used) if again else self.layer(depth)
            used.append(layer)
            known.append(layer(self.random.choice(known)))
        outputs = known[-1] if inputs else self.random.sample(known, min(len(known), 2))
        if not inputs and self.random.random() < 0.2:
            outputs = {f"out{place}": each for place, each in enumerate(outputs)}
        elif len(given) == 1 and self.random.random() < 0.5:
            given = given[0]
        return self.keras.Model(given, outputs, name=name)


@given(st.integers(0, 10**6))
@settings(max_examples=8, deadline=None)
def test_of_a_drawn_functional_model(seed: int) -> None:
    assert_as_keras_2(lambda framework: Drawn(framework, seed).model("m"))


def recurrent(keras: Any) -> Any:
    layers = keras.layers
    sequence, h, c = (
        keras.Input((4, 3), name="s"),
        keras.Input((2,), name="h"),
        keras.Input((2,), name="c"),
    )
    first = layers.LSTM(2, name="a", return_sequences=True, return_state=True)
    out, *_ = first(sequence, initial_state=[h, c])
    both = layers.GRU(2, name="b")(layers.TimeDistributed(layers.Dense(3, name="d"), name="t")(out))
    return keras.Model([sequence, h, c], [both, layers.SimpleRNN(2, name="r")(out)], name="m")


def masked(keras: Any) -> Any:
    layers = keras.layers
    left, right = (keras.Input((5,), name=name, dtype="int32") for name in "lr")
    embedding = layers.Embedding(9, 3, mask_zero=True, name="e")
    joined = layers.Concatenate(name="j")([embedding(left), embedding(right)])
    tail = layers.LSTM(2, name="t")(layers.Masking(name="k")(joined))
    return keras.Model([left, right], tail, name="m")


def attending(keras: Any) -> Any:
    q, v = keras.Input((4, 3), name="q"), keras.Input((5, 3), name="v")
    attention = keras.layers.MultiHeadAttention(2, 2, name="a")
    mixed = keras.layers.Attention(name="t")([q, v])
    return keras.Model([q, v], [attention(q, v), attention(query=mixed, value=v, key=v)], name="m")


def explicit_mask(keras: Any) -> Any:
    s, mask = keras.Input((4, 3), name="s"), keras.Input((4,), name="k", dtype="bool")
    return keras.Model([s, mask], keras.layers.LSTM(2, name="l")(s, mask=mask), name="m")


def frozen(keras: Any) -> Any:
    inner = keras.Input((4,), name="i")
    base = keras.Model(inner, keras.layers.BatchNormalization(name="b")(inner), name="base")
    x = keras.Input((4,), name="x")
    y = base(x, training=False)
    z = keras.layers.Dropout(0.5, name="d")(y, training=True)
    return keras.Model(x, keras.layers.BatchNormalization(name="n")(z, training=False), name="m")


def images(keras: Any) -> Any:
    layers = keras.layers
    x = keras.Input((8, 8, 3), batch_size=2, name="x")
    y = x
    for layer in (
        layers.Conv2D(2, 3, name="a", kernel_regularizer=keras.regularizers.L2(0.5)),
        layers.BatchNormalization(name="b"),
        layers.LeakyReLU(name="c"),
        layers.DepthwiseConv2D(3, name="d"),
        layers.SeparableConv2D(2, 3, padding="same", name="e"),
        layers.Conv2DTranspose(2, 3, name="f"),
        layers.MaxPooling2D(2, name="g"),
        layers.PReLU(name="h"),
        layers.SpatialDropout2D(0.5, name="s"),
        layers.Flatten(name="k"),
        layers.Dense(2, name="l"),
    ):
        y = layer(y)
    return keras.Model(x, y, name="m")


def own(keras: Any) -> Any:
    class Mine(keras.layers.Layer):
        def call(self, a, b=None):
            return a if b is None else a + b

    class Named(keras.layers.Layer):
        def call(self, given):
            return given["a"] + given["b"]

        def compute_output_shape(self, given):
            return given["a"]

    x, y = keras.Input((4,), name="x"), keras.Input((4,), name="y")
    both = Mine(name="one")(x, b=y)
    named = Named(name="two", dtype="float32")({"a": both, "b": y})
    return keras.Model({"x": x, "y": y}, named, name="m")


def policy(keras: Any) -> Any:
    x = keras.Input((4,), name="x")
    return keras.Model(x, keras.layers.Dense(2, name="a", dtype="mixed_float16")(x), name="m")


def sequential(keras: Any) -> Any:
    x = keras.Input((4,), name="i")
    base = keras.Model(x, keras.layers.Dense(4, name="d")(x), name="base")
    first = keras.layers.InputLayer((4,), name="x")
    return keras.Sequential([first, base, keras.layers.Dense(2, name="e")], name="m")


def unbuilt(keras: Any) -> Any:
    return keras.Sequential([keras.layers.Dense(2, name="e")], name="m")


def identity(keras: Any) -> Any:
    x = keras.Input((4,), name="x")
    return keras.Model(x, x, name="m")


@pytest.mark.parametrize(
    "build",
    [recurrent, masked, attending, explicit_mask, frozen, images, own, policy, sequential, unbuilt, identity],
)  # fmt: skip
def test_of_a_model(build: Any) -> None:
    assert_as_keras_2(build)


def test_of_the_config_of_an_input_layer() -> None:
    layer = keras.layers.InputLayer((4,), name="x")
    old = tf_keras.layers.InputLayer((4,), name="x").get_config()
    assert Keras2Config.of(layer.get_config()).items() >= old.items()


def test_an_operation_on_constants_has_them_as_keras_2_wrote_them() -> None:
    x = keras.Input((4,), name="x")
    config = Keras2Config.of(keras.Model(x, 1.0 - x, name="m").get_config())
    assert config["layers"][1]["inbound_nodes"] == [
        [["_CONSTANT_VALUE", -1, 1.0, {"args_1": ["x", 0, 0]}]]
    ]


def test_what_is_no_config_stays_as_it_is() -> None:
    other = {"layers": [64, 32], "dtype": "float32", "batch_shape": [1], "class_name": "A"}
    assert Keras2Config.of(other) == other
