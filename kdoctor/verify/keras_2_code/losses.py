"""Inputs for the functions and classes about losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras.src import losses as old_losses
from tf_keras.src.utils import losses_utils

from kdoctor.verify.keras_2_code.comparing import Case, Draw, Refused, assert_same, result
from kdoctor.verify.keras_2_code.functions import one_of

Random = np.random.Generator
_SHAPES = ((), (1,), (4,), (4, 1), (4, 3), (4, 3, 1), (4, 3, 2), (0,), (1, 1))
_REDUCTIONS = ("none", "sum", "sum_over_batch_size")


def _tensor(random: Random, shape: tuple[int, ...], dtypes: tuple[str, ...] = ("float32",)) -> Any:
    return tf.cast(random.normal(size=shape) * 4, one_of(random, dtypes))


def _pair(random: Random) -> Case:
    one, two = (_tensor(random, one_of(random, _SHAPES)) for _ in range(2))
    expected = {"expected_rank_diff": one_of(random, [-1, 0, 1])} if random.integers(2) else {}
    return Case((one, two), expected)


def _three(random: Random) -> Case:
    shape = one_of(random, _SHAPES)
    y_pred, y_true = _tensor(random, shape), one_of(random, [None, shape, shape[:-1], (*shape, 1)])
    weights = one_of(random, [None, (), shape, shape[:-1], (*shape, 1)])
    return Case((
        y_pred,
        None if y_true is None else _tensor(random, y_true),
        None if weights is None else _tensor(random, weights),
    ))  # fmt: skip


def _losses(random: Random) -> Case:
    losses = _tensor(random, one_of(random, _SHAPES), ("float32", "float64", "float16"))
    return Case((losses,), {"reduction": one_of(random, _REDUCTIONS)} if random.integers(3) else {})


def _weighted(random: Random) -> Case:
    shape = one_of(random, _SHAPES)
    dtypes = ("float32", "float64", "float16", "bfloat16", "int32")
    losses = _tensor(random, shape, dtypes)
    given = one_of(random, [None, (), shape, shape[:-1], (*shape, 1), (1,) * len(shape)])
    weights = None if given is None else _tensor(random, given, ("float32", "float64"))
    keywords: dict[str, Any] = {"sample_weight": weights}
    if random.integers(3):
        keywords["reduction"] = one_of(random, [*_REDUCTIONS, "auto", "mean"])
    losses = one_of(random, [losses, losses, losses.numpy()])
    return Case((losses,), keywords)


def _several(random: Random) -> Case:
    dtypes = ("float16", "bfloat16", "float32", "float64", "int32", "int64")
    return Case(([_tensor(random, (2,), dtypes) for _ in range(random.integers(1, 4))],))


DRAWS: dict[str, tuple[Callable[..., Any], Draw]] = {
    "remove_squeezable_dimensions": (losses_utils.remove_squeezable_dimensions, _pair),
    "squeeze_or_expand_dimensions": (losses_utils.squeeze_or_expand_dimensions, _three),
    "reduce_weighted_loss": (losses_utils.reduce_weighted_loss, _losses),
    "compute_weighted_loss": (losses_utils.compute_weighted_loss, _weighted),
    "cast_losses_to_common_dtype": (losses_utils.cast_losses_to_common_dtype, _several),
}


def _in_a_graph(code: str) -> Callable[[Any], None]:
    """Return the check of a function with tensors whose batch is not known."""
    old, draw = DRAWS[code]

    def check(new: Any) -> None:
        random = np.random.default_rng(7)
        for _ in range(40):
            case = draw(random)
            arguments = [*case.args, *case.kwargs.values()]
            found = []
            for function in (old, new):
                specs = [_spec(each) for each in arguments if tf.is_tensor(each)]
                traced = tf.function(_with_tensors(function, case), input_signature=specs)
                found.append(result(traced, *filter(tf.is_tensor, arguments)))
            if not isinstance(found[0], Refused):
                assert_same(found, f"in a graph: {case.args} {case.kwargs}")

    return check


def _with_tensors(function: Callable[..., Any], case: Case) -> Callable[..., Any]:
    """Return a function of the tensors of a case alone."""

    def run(*tensors: Any) -> Any:
        given = iter(tensors)
        args = [next(given) if tf.is_tensor(each) else each for each in case.args]
        kwargs = {k: next(given) if tf.is_tensor(e) else e for k, e in case.kwargs.items()}
        return function(*args, **kwargs)

    return run


def _spec(tensor: Any) -> tf.TensorSpec:
    shape = [None, *tensor.shape[1:]] if len(tensor.shape) else []
    return tf.TensorSpec(shape, tensor.dtype)


def _wrapper(new: Any) -> None:
    """Compare subclasses: what they give, alone and in `fit`, and what they are made again from."""
    random = np.random.default_rng(46)

    def distance(y_true: Any, y_pred: Any, power: float = 2.0, axis: int = -1) -> Any:
        return tf.reduce_mean(tf.abs(tf.cast(y_true, y_pred.dtype) - y_pred) ** power, axis)

    def of(base: Any) -> Any:
        class Distance(base):  # type: ignore[misc]
            def __init__(self, power: float = 1.5, **kwargs: Any) -> None:
                super().__init__(distance, name="distance", power=power, **kwargs)

        return Distance

    old_class, new_class = of(old_losses.LossFunctionWrapper), of(new)
    for _ in range(60):
        shape = one_of(random, [(6,), (6, 1), (6, 3), (6, 2, 3)])
        y_true, y_pred = (random.normal(size=shape).astype("float32") for _ in range(2))
        y_true = y_true[..., 0] if shape[-1:] == (1,) and random.integers(2) else y_true
        weight = one_of(random, [None, random.random(6).astype("float32"), np.float32(2.0)])
        if len(shape) != 2 and np.ndim(weight):  # Keras 3 refuses these of every loss
            weight = None
        reduction = one_of(random, [*_REDUCTIONS, "auto"])
        both = []
        for made in (old_class, new_class):
            loss = made(power=2.5, reduction=reduction)
            both.append(result(loss, tf.constant(y_true), tf.constant(y_pred), weight))
        if not isinstance(both[0], Refused):
            assert_same(both, f"{shape} {y_true.shape} {reduction} {weight}")
    assert new_class(power=3.0).get_config()["power"] == 3.0
    ones, zeros = tf.ones((2, 1)), tf.zeros((2, 1))
    bases = old_losses.LossFunctionWrapper, new
    assert_same([made(distance, power=1.0)(ones, zeros) for made in bases], "no subclass")
    x, y = (
        random.normal(size=(8, 3)).astype("float32"),
        random.normal(size=(8, 2)).astype("float32"),
    )
    histories = []
    for root, made in ((tf_keras, old_class), (keras, new_class)):
        model = root.Sequential([root.layers.Dense(2, kernel_initializer="ones")])
        model.compile(root.optimizers.SGD(0.01), made())
        history = model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0)
        histories.append(history.history["loss"])
    np.testing.assert_allclose(histories[0], histories[1], rtol=1e-4)


CHECKS: dict[str, Callable[[Any], None]] = {
    **{
        code: _in_a_graph(code)
        for code in (
            *("remove_squeezable_dimensions", "squeeze_or_expand_dimensions"),
            *("reduce_weighted_loss", "compute_weighted_loss"),
        )
    },
    "LossFunctionWrapper": _wrapper,
}
