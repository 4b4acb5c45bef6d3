"""Ways to ask a class or function what it does, on both sides alike.

This file and ``cases.py`` are also run beside tensorflow_addons itself, on Python 3.11 with
TensorFlow 2.14 and its Keras 2: they import NumPy alone, and are given the rest.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

Outcome = dict[str, Any]


class Side(NamedTuple):
    """The class or function that is asked, and the packages that go with it."""

    made: Callable[..., Any]
    keras: ModuleType | Any
    tf: ModuleType | Any


Scenario = Callable[[Side], Iterator[tuple[str, Any]]]


def _random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def _floats(random: np.random.Generator, *shape: int) -> np.ndarray[Any, Any]:
    return random.normal(size=shape).astype("float32")


# Functions


def of_function(*cases: dict[str, Any], first: tuple[float, ...] = ()) -> Scenario:
    """Return the scenario of a function of one tensor: its values and gradients."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            for rank in (1, 2, 3):
                data = _floats(_random(rank), *(4, 3, 5)[:rank]) * 3
                data.ravel()[: len(first)] = first
                if case.get("axis", -1) >= rank:
                    continue
                with side.tf.GradientTape() as tape:
                    tensor = side.tf.constant(data)
                    tape.watch(tensor)
                    found = side.made(tensor, **case)
                yield f"{number} {rank}", found
                yield f"{number} {rank} gradient", tape.gradient(found, tensor)
        yield "list", side.made([0.5, -2.0, 1.0])
        double = side.tf.constant([0.5, -2.0, 1.0], "float64")
        yield "float64", side.made(double)

    return run


# Losses


def _labels(random: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Any:
    if kind == "ids":
        return random.integers(0, 3, shape[0])
    if kind == "one hot":
        return np.eye(shape[-1], dtype="float32")[random.integers(0, shape[-1], shape[0])]
    if kind == "bits":
        return random.integers(0, 2, shape).astype("float32")
    if kind == "boxes":
        return _boxes(random, shape[0])
    return _floats(random, *shape)


def _boxes(random: np.random.Generator, count: int) -> np.ndarray[Any, Any]:
    low = random.random((count, 2))
    return np.concatenate([low, low + random.random((count, 2)) - 0.1], axis=1).astype("float32")


def _predictions(random: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Any:
    if kind == "boxes":
        return _boxes(random, shape[0])
    drawn = _floats(random, *shape)
    if kind == "bits":
        return 1 / (1 + np.exp(-1.5 * drawn))
    if kind == "one hot":
        return np.exp(drawn) / np.exp(drawn).sum(axis=-1, keepdims=True)
    return drawn


_SHAPES = {"boxes": ((6, 4), (3, 4)), "ids": ((8, 4), (12, 2)), "one hot": ((8, 3), (5, 4))}
_OTHER_SHAPES = ((6, 3), (8, 1), (4, 2, 3))


def of_loss(kind: str, *cases: dict[str, Any], size: str = "") -> Scenario:
    """Return the scenario of a loss, a function or a class: its values, gradients, and `fit`."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        random = _random(3)
        for number, case in enumerate(cases):
            for shape in _SHAPES.get(kind, _OTHER_SHAPES):
                own = {**case, size: shape[-1]} if size else case
                y_true, y_pred = _labels(random, kind, shape), _predictions(random, kind, shape)
                is_class = isinstance(side.made, type)
                loss = side.made(**own) if is_class else _with(side.made, own)
                with side.tf.GradientTape() as tape:
                    tensor = side.tf.constant(y_pred)
                    tape.watch(tensor)
                    found = loss(y_true, tensor)
                yield f"{number} {shape}", found
                yield f"{number} {shape} gradient", tape.gradient(found, tensor)
                if is_class:
                    yield f"{number} {shape} again", _again(loss)(y_true, tensor)
                # Other backends take gradients of one number alone.
                is_trained = getattr(side.tf, "takes_many_losses", True) or not found.shape
                if len(shape) == 2 and is_trained:
                    yield from _fitted(side, loss, y_true, y_pred, f"{number} {shape} fit")

    return run


def _with(function: Callable[..., Any], case: dict[str, Any]) -> Callable[..., Any]:
    return lambda y_true, y_pred: function(y_true, y_pred, **case)


def _again(made: Any) -> Any:
    """Make an object again from its configuration."""
    return type(made).from_config(made.get_config())


def _fitted(
    side: Side, loss: Any, y_true: Any, y_pred: Any, about: str
) -> Iterator[tuple[str, Any]]:
    """Train a kernel, so that the loss is added up as `compile` does."""
    width = y_pred.shape[-1]
    model = side.keras.Sequential([side.keras.layers.Dense(width, use_bias=False)])
    model.build((None, width))
    model.set_weights([np.eye(width, dtype="float32")])
    model.compile(side.keras.optimizers.SGD(0.05), loss)
    losses = [model.train_on_batch(y_pred, y_true) for _ in range(3)]
    yield f"{about} losses", np.array(losses, "float32")
    yield f"{about} weights", model.get_weights()[0]


# Metrics


def of_metric(kind: str, *cases: dict[str, Any], size: str = "") -> Scenario:
    """Return the scenario of a metric: batches, with and without weights, then begun again."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        random = _random(5)
        for number, case in enumerate(cases):
            for shape in _SHAPES.get(kind, ((8, 3), (6, 2))):
                own = {**case, size: shape[-1]} if size else case
                is_weighted = own.pop("weighted", False)
                metric = side.made(**own)
                for batch in range(3):
                    y_true = _labels(random, kind, shape)
                    y_pred = _predictions(random, kind, shape)
                    if kind == "bits" and own.pop("rounded", False):
                        y_pred = np.round(y_pred)
                    weights = [random.random(shape[0]).astype("float32")] * is_weighted
                    metric.update_state(y_true, y_pred, *weights)
                    yield f"{number} {shape} {batch}", metric.result()
                if "num_regressors" not in own:  # tensorflow_addons forgot it
                    again = _again(metric)
                    again.update_state(y_true, y_pred)
                    yield f"{number} {shape} again", again.result()
                _begin_again(metric)
                metric.update_state(y_true, y_pred)
                yield f"{number} {shape} begun again", metric.result()
                yield f"{number} {shape} name", metric.name

    return run


def _begin_again(metric: Any) -> None:
    metric.reset_state()


# Optimizers


def of_optimizer(
    *cases: dict[str, Any], inner: tuple[str, ...] = (), again: bool = True
) -> Scenario:
    """Return the scenario of an optimizer: 20 steps, some rows of an embedding unused.

    It is made ``again`` where tensorflow_addons can do so itself.
    """

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        keras = side.keras
        schedules = keras.optimizers.schedules
        values: dict[str, Any] = {
            "falls": lambda: schedules.ExponentialDecay(0.1, 4, 0.5),
            "falls late": lambda: schedules.PiecewiseConstantDecay([5], [0.1, 0.01]),
            "called": lambda: lambda: 0.02,
        }
        for number, case in enumerate(cases):
            own = {name: values[each]() if each in _KEYS else each for name, each in case.items()}
            for each in inner or ("",):
                about = f"{number} {each}".strip()
                first = [_inner(side, each)] if each else []
                optimizer = side.made(*first, **own)
                yield from _steps(side, optimizer, about)
                if again and not any(value in _KEYS for value in case.values()):
                    yield from _steps(side, _again(optimizer), f"{about} again", steps=(3,))

    return run


_KEYS = ("falls", "falls late", "called")


def _optimizers(side: Side) -> Any:
    """Return the optimizers that go with tensorflow_addons: those that Keras 2 calls legacy."""
    optimizers = side.keras.optimizers
    return optimizers if hasattr(side.keras, "ops") else optimizers.legacy


def _inner(side: Side, name: str) -> Any:
    """Return an optimizer to wrap."""
    optimizers = _optimizers(side)
    if name == "falls":
        schedules = side.keras.optimizers.schedules
        return optimizers.Adam(schedules.ExponentialDecay(0.1, 4, 0.5))
    return getattr(optimizers, name)(0.05)


def _steps(
    side: Side, optimizer: Any, about: str, steps: tuple[int, ...] = (1, 7, 20)
) -> Iterator[tuple[str, Any]]:
    keras, random = side.keras, _random(7)
    model = keras.Sequential([
        keras.Input((2,), dtype="int32"),
        keras.layers.Embedding(6, 3, name="words"),
        keras.layers.Flatten(name="flat"),
        keras.layers.Dense(4, "tanh", name="hidden"),
        keras.layers.Dense(2, name="last"),
    ])  # fmt: skip
    model.set_weights([_floats(random, *each.shape) for each in model.get_weights()])
    model.compile(optimizer, "mse")
    for step in range(1, steps[-1] + 1):
        x = random.integers(0, 4 + step % 2, (4, 2))
        if step == 10 and not isinstance(optimizer.get_config().get("learning_rate", {}), dict):
            model.optimizer.learning_rate = 0.01
        model.train_on_batch(x, _floats(random, 4, 2))
        if step in steps:
            for weight, value in enumerate(model.get_weights()):
                yield f"{about} step {step} weight {weight}", value
    if hasattr(optimizer, "assign_average_vars"):
        optimizer.assign_average_vars(model.trainable_weights)
        for weight, value in enumerate(model.get_weights()):
            yield f"{about} average {weight}", value


def of_schedule(*cases: dict[str, Any]) -> Scenario:
    """Return the scenario of a learning rate: that of some steps, and of a training."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            own = {"scale_fn": _halved, **case} if case.get("own") else dict(case)
            own.pop("own", None)
            rate = side.made(**own)
            steps = (0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 9.0, 21.0)
            yield f"{number}", np.array([float(rate(side.tf.constant(each))) for each in steps])
            yield f"{number} again", float(_again(rate)(side.tf.constant(3.0)))
            yield from _steps(side, _optimizers(side).SGD(rate), f"{number} sgd", (5,))

    return run


def _halved(number: Any) -> Any:
    return 0.5 + 0 * number


# Layers


def of_layer(
    *cases: dict[str, Any], shapes: tuple[tuple[int, ...], ...], wraps: bool = False
) -> Scenario:
    """Return the scenario of a layer: what it gives, in training too, and its gradients."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            for shape in shapes:
                random = _random(11)
                data = _floats(random, *shape)
                layer = side.made(*_wrapped(side, shape, wraps=wraps), **case)
                start = side.keras.Input(shape[1:])
                model = side.keras.Model(start, layer(start))
                about = f"{number} {shape}"
                yield f"{about} shape", list(model.output_shape)
                for weight in model.weights:
                    if weight.dtype != "bool":
                        weight.assign(_floats(_random(_seed(weight)), *weight.shape))
                with side.tf.GradientTape() as tape:
                    tensor = side.tf.constant(data)
                    tape.watch(tensor)
                    found = model(tensor, training=True)
                yield f"{about} training", found
                yield f"{about} gradient", tape.gradient(found, tensor)
                yield f"{about}", model(data, training=False)
                for name, value in _values(model):
                    yield f"{about} weight {name}", value
                config = layer.get_config()
                yield (
                    f"{about} again",
                    type(layer).from_config(config).get_config().keys() >= {*case},
                )

    return run


def _wrapped(side: Side, shape: tuple[int, ...], *, wraps: bool) -> list[Any]:
    if not wraps:
        return []
    if len(shape) == 4:
        return [side.keras.layers.Conv2D(4, 2, activation="relu")]
    return [side.keras.layers.Dense(4, activation="tanh")]


def _leaf(weight: Any) -> str:
    """Return what a weight is called, on both sides alike: their order is not the same."""
    name: str = weight.name.rpartition("/")[2].partition(":")[0]
    return {"sn_u": "vector_u", "Variable": "frequency"}.get(name, name)


def _values(model: Any) -> list[tuple[str, Any]]:
    """Return the weights by their names, of two the first: the other one is a copy."""
    return sorted({_leaf(each): np.array(each) for each in reversed(model.weights)}.items())


def _seed(weight: Any) -> int:
    return zlib.crc32(_leaf(weight).encode())


def residuals_at_random(side: Side) -> Iterator[tuple[str, Any]]:
    """Add a residual at random: either all of it or nothing, about as often as it is told to."""
    one, two = (_floats(_random(seed), 2, 3) for seed in (1, 2))
    for kept in (0.5, 0.9):
        layer = side.made(kept)
        yield f"{kept}", layer([side.tf.constant(one), side.tf.constant(two)])
        count = 0
        for _ in range(300):
            found = np.array(layer([side.tf.constant(one), side.tf.constant(two)], training=True))
            is_added = np.allclose(found, one + two, atol=1e-6)
            assert is_added or np.allclose(found, one, atol=1e-6)
            count += is_added
        yield f"{kept} about as often", bool(abs(count / 300 - kept) < 0.12)
        yield f"{kept} again", type(layer).from_config(layer.get_config()).survival_probability


# Images


def of_images(*cases: dict[str, Any]) -> Scenario:
    """Return the scenario of a function of images: of each rank and kind of pixels."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            for shape in ((5, 6), (5, 6, 3), (2, 5, 6, 3)):
                for dtype in ("uint8", "float32"):
                    drawn = _random(13).random(shape) * 255
                    images = side.tf.constant(drawn.astype(dtype))
                    yield f"{number} {shape} {dtype}", side.made(images, **case)

    return run


def of_batches(*cases: dict[str, Any]) -> Scenario:
    """Return the scenario of a function of batches of images: of each kind of pixels."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            for dtype in ("uint8", "float32"):
                drawn = _random(13).random((3, 8, 6, 2)) * 255
                images = side.tf.constant(drawn.astype(dtype))
                yield f"{number} {dtype}", side.made(images, **case)

    return run


def of_numbers(*cases: tuple[Any, ...]) -> Scenario:
    """Return the scenario of a function of numbers."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            yield f"{number}", side.made(*case)

    return run
