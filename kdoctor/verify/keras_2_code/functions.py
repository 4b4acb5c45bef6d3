"""Inputs for the functions about sizes, structures and weights."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras.src.applications import imagenet_utils
from tf_keras.src.initializers import initializers
from tf_keras.src.layers.rnn import rnn_utils
from tf_keras.src.utils import (
    control_flow_util,
    conv_utils,
    generic_utils,
    layer_utils,
    tf_utils,
)

from kdoctor.verify.keras_2_code.comparing import Case, Draw

Random = np.random.Generator
_PADDINGS = ("same", "valid", "full", "causal", "SAME", "")
_FORMATS = ("channels_first", "channels_last", "Channels_Last", "NHWC")
_LENGTHS = (None, 0, 1, 2, 3, 7, 8, 32, 33)


def one_of(random: Random, values: Sequence[Any]) -> Any:
    """Return one of some values, which may be of any kind."""
    return values[int(random.integers(len(values)))]


def each_of(*choices: Sequence[Any]) -> Draw:
    """Draw each argument by itself."""
    return lambda random: Case(tuple(one_of(random, each) for each in choices))


def _passed(random: Random, choices: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Draw keywords, of which some are left out."""
    return {k: one_of(random, v) for k, v in choices.items() if random.integers(2)}


def _tuple(random: Random) -> Case:
    size = [-2, -1, 0, 1, 2, 3, 5, True, np.int64(3), 1.5, None, "a", "3", float("nan")]
    if random.integers(3) == 0:
        value: Any = one_of(random, [*size, np.array([2, 3]), range(1, 3), {1: 2}, "ab", b"23"])
    else:
        plain = size[:7] if random.integers(2) else size
        value = [one_of(random, plain) for _ in range(random.integers(4))]
        value = tuple(value) if random.integers(2) else value
    return Case(
        (value, int(random.integers(1, 4)), "size"), _passed(random, {"allow_zero": [True, False]})
    )


def _deconv(random: Random) -> Case:
    keywords: dict[str, Sequence[Any]] = {
        "output_padding": [None, 0, 1],
        "stride": [0, 1, 2, 3],
        "dilation": [1, 2, 3],
    }
    arguments = (one_of(random, _LENGTHS), int(random.integers(1, 6)), one_of(random, _PADDINGS))
    return Case(arguments, _passed(random, keywords))


def _conv(random: Random) -> Case:
    arguments = (
        *(one_of(random, _LENGTHS), int(random.integers(1, 6)), one_of(random, _PADDINGS)),
        int(random.integers(1, 4)),
    )
    return Case(arguments, _passed(random, {"dilation": [1, 2, 3]}))


def _image(random: Random) -> Case:
    size = [None, 1, 3, 4, 16, 32, 64, 224]
    shape = one_of(random, [None, (), *(3 * [0])])
    if shape == 0:
        shape = tuple(one_of(random, size) for _ in range(one_of(random, [2, 3, 3, 3, 3, 3, 4])))
    arguments = (
        *(shape, one_of(random, [32, 224]), one_of(random, [1, 16, 32])),
        *(one_of(random, _FORMATS[:2]), one_of(random, [True, False])),
    )
    return Case(arguments, _passed(random, {"weights": ["imagenet", None, "a path"]}))


def _pad(random: Random) -> Case:
    shape = [one_of(random, [None, 7, 8, 9, 224]) for _ in range(2)]
    size = one_of(random, [1, 2, 3, 4, 5, (3, 5), [1, 2]])
    if None in shape or random.integers(2):
        shape = [None, None] if None in shape else shape
        old, new = tf_keras.Input((*shape, 3)), keras.Input((*shape, 3))
        return Case((old, size), new=(new, size))
    return Case((tf.zeros((1, *shape, 3)), size))


def _fans(random: Random) -> Case:
    return Case((tuple(int(each) for each in random.integers(1, 9, random.integers(6))),))


def _plain(a, b=1, *, c=2):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    return a, b, c


def _open(a, *args, **kwargs):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN002, ANN003, ANN202
    return a, args, kwargs


class _Callable:
    def __init__(self, units: int = 1, **kwargs: int) -> None:
        self.units = units, kwargs

    def __call__(self, x: int, training: bool = False) -> tuple[int, bool]:  # noqa: FBT001, FBT002
        return x, training

    @classmethod
    def made(cls, config: int) -> int:
        return config

    @staticmethod
    def plain(x: int) -> int:
        return x


def _functions(random: Random) -> Case:
    functions = [
        *(_plain, _open, _Callable().__call__, _Callable.made, _Callable.plain, _Callable.__init__),
        *(lambda x, training=None: (x, training), functools.partial(_plain, 1)),
        *(functools.partial(_plain, c=3), functools.wraps(_plain)(_open), tf.function(_plain)),
    ]
    names = ["a", "b", "c", "x", "training", "self", "cls", "args", "kwargs", "units", "config"]
    return Case(
        (one_of(random, functions), one_of(random, names)),
        _passed(random, {"accept_all": [True, False]}),
    )


def _structure(random: Random) -> Case:
    leaf = [None, None, None, 0, "", np.zeros(2)]
    one, two = one_of(random, leaf), one_of(random, leaf)
    return Case((one_of(random, [one, [], (), {}, [one, two], {"a": one, "b": (two,)}]),))


def _rows(random: Random) -> Case:
    array = np.arange(12.0).reshape(6, 2)
    arrays = one_of(random, [None, array, [array], [array, None, array + 1], [], [array, 3]])
    start = one_of(random, [None, 0, 2, [0, 3], np.array([1, 2]), (1, 2), np.int64(2), "a"])
    return Case((arrays,), {"start": start, **_passed(random, {"stop": [None, 1, 4]})})


def _keys(random: Random) -> Case:
    known = {"a": 1, "b": 2, "c": 3}
    return Case(("losses", dict(list(known.items())[: random.integers(4)]), ["a", "b"]))


def _things(random: Random) -> Case:
    tensor, ragged = tf.constant([1.0]), tf.ragged.constant([[1], [2, 3]])
    alike = [
        *(tensor, tf.Variable([1.0]), ragged, tf.sparse.from_dense([1.0]), np.ones(2), 1.0, None),
        *("text", (), [1.0]),
    ]
    variables = tf_keras.layers.Dense(1), keras.layers.Dense(1)
    for each in variables:
        each.build((None, 1))
    pairs = [
        *((each, each) for each in alike),
        (variables[0].kernel, variables[1].kernel),
    ]
    old, new = one_of(random, pairs)
    return Case((old,), new=(new,))


def _lists_of_things(random: Random) -> Case:
    things = [tf.constant(1.0), np.ones(1), 1.0, None]
    one, two = one_of(random, things), one_of(random, things)
    return Case((one_of(random, [one, [one, two], (one,), {"a": one}, [], [[one], two]]),))


def _axes(random: Random) -> Case:
    axis = one_of(random, [-4, -3, -1, 0, 1, 2, 3, [0], [1, -1], (0, 2), [1, 1], [-1, 2], []])
    return Case((axis, one_of(random, [(), (2,), (None, 3), (None, 4, 5), [1, 2, 3]])))


def _condition(random: Random) -> Case:
    def first() -> Any:
        return tf.constant(1.0)

    def second() -> Any:
        return tf.constant(2.0)

    known = [True, False, 0, 1, tf.constant(True), tf.constant(False), tf.Variable(True)]
    return Case((one_of(random, [*known, np.bool_(True)]), first, second))


def _weights(random: Random) -> Case:
    units = int(random.integers(1, 5))
    old, new = tf_keras.layers.Dense(units), keras.layers.Dense(units)
    for each in (old, new):
        each.build((None, 3))
    twice = 1 + int(random.integers(2))
    return Case((old.weights * twice,), new=(new.weights * twice,))


def _states(random: Random) -> Case:
    inputs = one_of(random, ["x", ["x"], ["x", "h"], ["x", "h", "c", "k"], ("x",), ["x", "h", "k"]])
    given = [None, "h", ["h"], ("h", "c")]
    is_list = isinstance(inputs, list)
    return Case(
        (inputs, None if is_list else one_of(random, given), None, one_of(random, [None, 0, 1]))
    )


def _activation(random: Random) -> Case:
    both = [(each, each) for each in ("softmax", None, "linear", "relu", "sigmoid")]
    both.append((tf_keras.activations.softmax, keras.activations.softmax))
    both.append((tf_keras.activations.relu, keras.activations.relu))
    weights = one_of(random, [None, "imagenet", "a path"])
    old, new = one_of(random, both)
    return Case((old, weights), new=(new, weights))


def _methods(random: Random) -> Case:
    def method() -> None:
        """Do nothing."""

    if random.integers(2):
        vars(method)["_is_default"] = True
    return Case((one_of(random, [method, None, 3]),))


_NAMES = ["Dense", "_Private", "MyBatchNormV2", "LSTM", "a", "Conv2DTranspose", "already_snake"]
DRAWS: dict[str, tuple[Callable[..., Any], Draw]] = {
    "normalize_tuple": (conv_utils.normalize_tuple, _tuple),
    "normalize_data_format": (
        conv_utils.normalize_data_format,
        each_of([None, *_FORMATS, 3, "CHANNELS_FIRST"]),
    ),
    "normalize_padding": (
        conv_utils.normalize_padding,
        each_of([*_PADDINGS, (1, 2), [3], None, "Causal", 0]),
    ),
    "convert_data_format": (
        conv_utils.convert_data_format,
        each_of([*_FORMATS, None], range(1, 7)),
    ),
    "conv_output_length": (conv_utils.conv_output_length, _conv),
    "conv_input_length": (
        conv_utils.conv_input_length,
        each_of(_LENGTHS, range(1, 6), _PADDINGS, (1, 2, 3)),
    ),
    "deconv_output_length": (conv_utils.deconv_output_length, _deconv),
    "obtain_input_shape": (imagenet_utils.obtain_input_shape, _image),
    "correct_pad": (imagenet_utils.correct_pad, _pad),
    "validate_activation": (imagenet_utils.validate_activation, _activation),
    "_compute_fans": (initializers._compute_fans, _fans),
    "to_list": (generic_utils.to_list, each_of([1, [1], (1, 2), None, [], "ab", {1: 2}])),
    "has_arg": (generic_utils.has_arg, _functions),
    "is_all_none": (generic_utils.is_all_none, _structure),
    "check_for_unexpected_keys": (generic_utils.check_for_unexpected_keys, _keys),
    "validate_kwargs": (
        generic_utils.validate_kwargs,
        each_of([{}, {"a": 1}, {"b": 2}, ["a", "c"]], [{"a"}, ("a", "b"), []]),
    ),
    "to_snake_case": (generic_utils.to_snake_case, each_of(_NAMES)),
    "make_batches": (generic_utils.make_batches, each_of(range(12), range(1, 6))),
    "slice_arrays": (generic_utils.slice_arrays, _rows),
    "is_default": (generic_utils.is_default, _methods),
    "smart_cond": (control_flow_util.smart_cond, _condition),
    "is_tensor_or_variable": (tf_utils.is_tensor_or_variable, _things),
    "is_tensor_or_tensor_list": (tf_utils.is_tensor_or_tensor_list, _lists_of_things),
    "validate_axis": (tf_utils.validate_axis, _axes),
    "standardize_args": (rnn_utils.standardize_args, _states),
    "count_params": (layer_utils.count_params, _weights),
}
