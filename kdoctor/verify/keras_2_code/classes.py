"""Checks of base classes by subclasses, and of functions that change what they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras.src.layers.convolutional import base_conv
from tf_keras.src.layers.merging import base_merge
from tf_keras.src.layers.pooling import (
    base_global_pooling1d,
    base_global_pooling2d,
    base_global_pooling3d,
    base_pooling1d,
    base_pooling2d,
    base_pooling3d,
)
from tf_keras.src.utils import control_flow_util, generic_utils, layer_utils

from kdoctor.verify.keras_2_code.comparing import assert_same, result
from kdoctor.verify.keras_2_code.functions import one_of

_CASES = 40
_MODELS = 8  # every so many cases: a model takes long to make


def _arrays(random: np.random.Generator, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    return [random.normal(size=each).astype("float32") for each in shapes]


def _as_tuple(shape: Any) -> Any:
    return tuple(shape) if isinstance(shape, (list, tuple, tf.TensorShape)) else shape


def _mergers(base: Any) -> dict[str, Any]:
    """Return subclasses as people write them."""

    class Product(base):  # type: ignore[misc]
        def _merge_function(self, inputs: Any) -> Any:
            output = inputs[0]
            for each in inputs[1:]:
                output *= each
            return output

    class Joined(base):  # type: ignore[misc]
        """Merges not by elements, and says nothing about its shape."""

        def _merge_function(self, inputs: Any) -> Any:
            return tf.concat(inputs, -1)

    class Weighted(base):  # type: ignore[misc]
        def build(self, input_shape: Any) -> None:
            super().build(input_shape)
            self.scale = self.add_weight(name="scale", shape=(1,), initializer="ones")

        def _merge_function(self, inputs: Any) -> Any:
            return self.scale * inputs[0] - inputs[-1]

        def compute_output_shape(self, input_shape: Any) -> Any:
            return super().compute_output_shape(input_shape)

    return {each.__name__: each for each in (Product, Joined, Weighted)}


_SHAPES = (
    [(3, 4), (3, 4)], [(3, 4), (3, 1), (3, 4)], [(3, 5, 4), (3, 4)],
    [(3, 2, 1, 4), (3, 4), (3, 5, 4)],
    [(3,), (3, 4)], [(3, 4), (2, 4)], [(3, 4), (3, 5)], [(3, 1, 4), (3, 6, 4)],
)  # fmt: skip


def _merge(new: Any) -> None:
    random = np.random.default_rng(46)
    olds, news = _mergers(base_merge._Merge), _mergers(new)
    for number in range(_CASES):
        shapes, name = one_of(random, _SHAPES), one_of(random, sorted(olds))
        values = _arrays(random, shapes)
        about = f"{name} of {shapes}"
        tensors = [tf.constant(each) for each in values]
        both = [result(made[name](), tensors) for made in (olds, news)]
        assert_same(both, about)
        if number % _MODELS == 0:
            models = [
                result(_model_of, root, made[name], shapes, values)
                for root, made in ((tf_keras, olds), (keras, news))
            ]
            assert_same(models, f"{about} in a model")
        if name != "Joined":
            told = [
                _as_tuple(result(made[name]().compute_output_shape, list(shapes)))
                for made in (olds, news)
            ]
            assert_same(told, f"the shape of {about}")
    products = olds["Product"], news["Product"]
    for value in (tf.ones((2, 3)), [tf.ones((2, 3))]):
        assert_same([result(made(), value) for made in products], "one input")
    _merged_masks(*products)
    for one, two in [
        ((2, 3), (2, 1)),
        ((3,), (2, 3)),
        ((None, 2), (4, 2)),
        ((2, 3), (4, 3)),
        (None, (2,)),
        ((2,), ()),
    ]:
        methods = [made()._compute_elemwise_op_output_shape for made in products]
        assert_same([result(each, one, two) for each in methods], f"{one} and {two}")


def _model_of(root: Any, made: Any, shapes: Any, values: Any) -> Any:
    inputs = [root.Input(each[1:]) for each in shapes]
    model = root.Model(inputs, made()(inputs))
    found = model.predict(values, verbose=0)
    return [found, _as_tuple(model.output_shape)]


def _merged_masks(old: Any, new: Any) -> None:
    tokens = [np.array([[1, 2, 0], [3, 0, 0]]), np.array([[4, 0, 0], [5, 6, 0]])]
    found = []
    for root, made in ((tf_keras, old), (keras, new)):
        inputs = [root.Input((3,)) for _ in range(2)]
        embed = root.layers.Embedding(9, 2, mask_zero=True, embeddings_initializer="ones")
        merged = made()([embed(each) for each in inputs])
        averaged = root.layers.GlobalAveragePooling1D()(merged)
        found.append(root.Model(inputs, averaged).predict(tokens, verbose=0))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    masks = [tf.constant([True, False]), None, tf.constant([True, True])]
    tensors = [tf.ones((2,))] * 3
    for given in (None, masks, [None] * 3, masks[:2], masks[0]):
        methods = old().compute_mask, new().compute_mask
        assert_same([result(each, tensors, given) for each in methods], f"{given}")


def _pooled(base: Any, rank: int) -> dict[str, Any]:
    def axes(layer: Any) -> list[int]:
        first = 2 if layer.data_format == "channels_first" else 1
        return list(range(first, first + rank))

    class Spread(base):  # type: ignore[misc]
        """Says nothing of its shape."""

        def call(self, inputs: Any) -> Any:
            return tf.math.reduce_std(inputs, axes(self), keepdims=self.keepdims)

    class MeanAndMax(base):  # type: ignore[misc]
        """Gives twice as many channels as the shape of its base tells."""

        def __init__(self, factor: float = 1.0, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, inputs: Any) -> Any:
            parts = [f(inputs, axes(self)) for f in (tf.reduce_mean, tf.reduce_max)]
            return self.factor * tf.concat(parts, -1)

        def get_config(self) -> Any:
            return {**super().get_config(), "factor": self.factor}

    return {each.__name__: each for each in (Spread, MeanAndMax)}


def _pooling(old_base: Any, rank: int) -> Callable[[Any], None]:
    def check(new: Any) -> None:
        random = np.random.default_rng(rank)
        olds, news = _pooled(old_base, rank), _pooled(new, rank)
        for number in range(_CASES):
            name = one_of(random, sorted(olds))
            given: dict[str, Any] = {}
            if random.integers(2):
                given["data_format"] = one_of(
                    random, ["channels_first", "channels_last", None, "Channels_First"]
                )
            if name == "Spread" and random.integers(2):
                given["keepdims"] = True
            shape = tuple(int(each) for each in random.integers(2, 5, rank + 2))
            (x,) = _arrays(random, [shape])
            both = [result(made[name](**given), tf.constant(x)) for made in (olds, news)]
            assert_same(both, f"{name} {given} of {shape}")
            if number % _MODELS == 0:
                models = [
                    result(_pooled_in_a_model, root, made[name](**given), x)
                    for root, made in ((tf_keras, olds), (keras, news))
                ]
                assert_same(models, f"{name} {given} of {shape} in a model")
            told = [
                _as_tuple(made[name](**given).compute_output_shape((None, *shape[1:])))
                for made in (olds, news)
            ]
            assert_same(told, f"the shape of {name} {given} of {shape}")
            configs = [made[name](name="it", **given).get_config() for made in (olds, news)]
            own = [
                {k: each.get(k) for k in ("data_format", "keepdims", "factor", "name")}
                for each in configs
            ]
            assert_same(own, f"the config of {name} {given}")
            again = news[name].from_config(configs[1])
            assert_same([both[1], again(tf.constant(x))], "made again from its config")
        wrong, right = tf.ones((2,) * (rank + 1)), tf.ones((2,) * (rank + 2))
        assert_same([result(made["Spread"](), wrong) for made in (olds, news)], "another rank")
        assert_same([result(made(), right) for made in (old_base, new)], "without `call`")

    return check


def _pooled_in_a_model(root: Any, layer: Any, x: Any) -> Any:
    inputs = root.Input(x.shape[1:])
    model = root.Model(inputs, layer(inputs))
    return [model.predict(x, verbose=0), _as_tuple(model.output_shape)]


def _default(new: Any) -> None:
    for mark in (generic_utils.default, new):

        def method() -> None:
            """Do nothing."""

        assert mark(method) is method
        assert vars(method) == {"_is_default": True}


def _dense(new: Any) -> None:
    random = np.random.default_rng(46)
    for _ in range(_CASES):
        shape = tuple(int(each) for each in random.integers(1, 5, 3))
        units = int(random.integers(1, 4))
        given = one_of(
            random, [{}, {"target_data_format": "channels_last"}, {"target_data_format": "x"}]
        )
        weights = _arrays(random, [(int(np.prod(shape)), units), (units,)])
        after = []
        for root, function in (
            (tf_keras, layer_utils.convert_dense_weights_data_format),
            (keras, new),
        ):
            layer = root.layers.Dense(units)
            layer.build((None, int(np.prod(shape))))
            layer.set_weights(weights)
            after.append([result(function, layer, shape, **given), layer.get_weights()])
        assert_same(after, f"{shape} {given}")


def _condition_in_a_graph(new: Any) -> None:
    for value in (True, False):
        found = [
            tf.function(partial(_chosen, function))(tf.constant(value), tf.constant([2.0, 5.0]))
            for function in (control_flow_util.smart_cond, new)
        ]
        assert_same(found, f"in a graph, {value}")


def _chosen(function: Any, pred: Any, x: Any) -> Any:
    return function(pred, lambda: x + 1, lambda: x * 3)


def family_of(base: Any) -> Callable[[Any], None]:
    """Return the check that the same layers, by their names, are and are not of a family."""

    def check(new: Any) -> None:
        asked = 0
        for name in sorted(set(dir(tf_keras.layers)) & set(dir(keras.layers))):
            old_class, new_class = getattr(tf_keras.layers, name), getattr(keras.layers, name)
            if isinstance(old_class, type) and isinstance(new_class, type):
                asked += issubclass(old_class, base)
                assert issubclass(old_class, base) == issubclass(new_class, new), name
        assert asked > 1

    return check


CHECKS: dict[str, Callable[[Any], None]] = {
    "Merge": _merge,
    "GlobalPooling1D": _pooling(base_global_pooling1d.GlobalPooling1D, 1),
    "GlobalPooling2D": _pooling(base_global_pooling2d.GlobalPooling2D, 2),
    "GlobalPooling3D": _pooling(base_global_pooling3d.GlobalPooling3D, 3),
    "MERGING": family_of(base_merge._Merge),
    "CONVOLUTIONS": family_of(base_conv.Conv),
    "POOLING_1D": family_of(base_pooling1d.Pooling1D),
    "POOLING_2D": family_of(base_pooling2d.Pooling2D),
    "POOLING_3D": family_of(base_pooling3d.Pooling3D),
    "GLOBAL_POOLING_1D": family_of(base_global_pooling1d.GlobalPooling1D),
    "GLOBAL_POOLING_2D": family_of(base_global_pooling2d.GlobalPooling2D),
    "GLOBAL_POOLING_3D": family_of(base_global_pooling3d.GlobalPooling3D),
    "convert_dense_weights_data_format": _dense,
    "default": _default,
    "smart_cond": _condition_in_a_graph,
}
