"""Ways to ask metrics, callbacks and others what they do; run beside tensorflow_addons too."""

from __future__ import annotations

import contextlib
import io
import sys
import types
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np

from kdoctor.verify.addons.scenarios import (
    _KEYS,
    Outcome,
    Scenario,
    Side,
    _again,
    _floats,
    _optimizers,
    _random,
    _steps,
)

# Losses and metrics


def of_values(*cases: dict[str, Any]) -> Scenario:
    """Return the scenario of a metric of values."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            metric, random = side.made(**case), _random(1)
            batches: tuple[tuple[Any, ...], ...] = (
                (random.random(5) + 0.1,),
                (random.random((2, 3)) + 0.1, random.random((2, 3))),
                (random.random(4) + 0.1, 0.5),
            )
            for place, batch in enumerate(batches):
                metric.update_state(*(np.array(each, "float32") for each in batch))
                yield f"{number} {place}", metric.result()
            again = _again(metric)
            again.update_state([0.5, 3.0])
            yield f"{number} again", again.result()
            metric.reset_state()
            metric.update_state([0.0, 3.0])
            metric.update_state([2.0, 3.0])
            yield f"{number} of 0", metric.result()
            yield f"{number} name", metric.name

    return run


def of_correlation(*cases: dict[str, Any]) -> Scenario:
    """Return the scenario of a correlation: of some batches, alike and unlike."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            metric, random = side.made(**case), _random(2)
            for place, share in enumerate((0.2, 0.7, -0.5)):
                true = random.random((40, 2)).astype("float32") * 1.2 - 0.1
                noise = random.random((40, 2)).astype("float32")
                metric.update_state(true, share * true + (1 - abs(share)) * noise)
                yield f"{number} {place}", metric.result()
            again = _again(metric)
            again.update_state([0.1, 0.2, 0.5, 0.9], [0.3, 0.1, 0.6, 0.4])
            yield f"{number} again", again.result()
            metric.reset_state()
            metric.update_state([0.1, 0.2, 0.5, 0.5], [0.3, 0.1, 0.6, 0.6])
            yield f"{number} begun again", metric.result()

    return run


def of_wrapped(side: Side) -> Iterator[tuple[str, Any]]:
    """Take the mean of a function, of integers too."""

    def apart(y_true: Any, y_pred: Any, power: float = 1.0) -> Any:
        return side.tf.reduce_mean(side.tf.abs(y_true - y_pred) ** power, axis=-1)

    for case in ({}, {"power": 2.0}):
        metric = side.made(apart, name="apart", **case)
        metric.update_state(np.array([[1, 2], [3, 4]]), np.array([[1.5, 2.0], [0.0, 1.0]]))
        yield f"{case} integers", metric.result()
        metric.update_state([[1.0, 2.0]], [[0.0, 5.0]], [0.3])
        yield f"{case} weighted", metric.result()
        yield f"{case} config", metric.get_config().get("power", 1.0)
    yield "name", side.made(apart).name.rpartition("_")[0] or "none"


def of_distance(side: Side) -> Iterator[tuple[str, Any]]:
    """Count at how many places two differ."""
    random = _random(4)
    for shape in ((7,), (4, 3)):
        one, other = (side.tf.constant(random.integers(0, 3, shape)) for _ in range(2))
        yield f"{shape}", side.made(one, other)
    yield "floats", side.made(side.tf.constant([1.0, 0.0]), side.tf.constant([1.0, 0.5]))


def of_hamming(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask for the losses of single samples."""
    random = _random(4)
    true = side.tf.constant(random.integers(0, 2, (5, 3)))
    likely = side.tf.constant(random.random((5, 3)).astype("float32"))
    for mode in ("multilabel", "multiclass"):
        for threshold in (None, 0.6):
            yield f"{mode} {threshold}", side.made(true, likely, threshold, mode)


def of_pairs(kind: str, *cases: dict[str, Any]) -> Scenario:
    """Return the scenario of a loss of similarities of each two samples."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            random = _random(3)
            for size in (4, 7):
                likely = side.tf.constant(_floats(random, size, size))
                true: Any = random.integers(0, 3, size)
                if kind == "sets":
                    true = random.integers(0, 2, (size, 3))
                    true[:, 0] = 1
                loss: Any = side.made(**case) if isinstance(side.made, type) else side.made
                with side.tf.GradientTape() as tape:
                    tape.watch(likely)
                    found = loss(true, likely)
                yield f"{number} {size}", found
                yield f"{number} {size} gradient", tape.gradient(found, likely)
            if isinstance(side.made, type):
                yield f"{number} name", loss.name or "none"
            elif kind == "sets":
                sparse = side.tf.sparse.from_dense(true)
                yield f"{number} {size} sparse", loss(sparse, likely)

    return run


def of_sparse_probabilities(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask for the loss of probabilities of which many are 0, of a function and of a class."""
    random = _random(3)
    true = np.eye(4, dtype="float32")[random.integers(0, 4, 5)]
    for scale in (0.5, 3.0):
        logits = side.tf.constant(_floats(random, 5, 4) * scale)
        likely = side.tf.nn.relu(logits - 0.2)
        with side.tf.GradientTape() as tape:
            tape.watch(logits)
            if isinstance(side.made, type):
                found = side.made()(true, logits)
            else:
                found = side.made(logits, likely, true)
        yield f"{scale}", found
        yield f"{scale} gradient", tape.gradient(found, logits)
    if isinstance(side.made, type):
        for reduction in ("none", "sum"):
            yield reduction, side.made(reduction=reduction)(true, logits)
        yield "again", _again(side.made())(true, logits)
    else:
        far = side.tf.constant([[-np.inf, 1.0], [np.nan, 0.0]])
        yield "far", side.made(far, side.tf.constant([[0.0, 1.0]] * 2), [[0.0, 1.0], [0.5, 0.5]])


def of_slopes(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask for a leaky activation, in training too, where its slopes are drawn."""
    data = side.tf.constant(_floats(_random(3), 400, 3))
    yield "", side.made(data[:9])
    yield "bounds", side.made(data[:9], 0.2, 0.4, training=False)
    yield "float64", side.made(side.tf.cast(data[:9], "float64"))
    for kind in ("", "seed", "rng"):
        more: dict[str, Any] = {"seed": 3} if kind == "seed" else {}
        if kind == "rng":
            more["rng"] = side.tf.random.Generator.from_seed(1)
        found = np.array(side.made(data, 0.1, 0.5, training=True, **more))
        slopes = found[data < 0] / np.array(data)[data < 0]
        is_between = (slopes > 0.0999).all() and (slopes < 0.5001).all()
        yield f"drawn {sorted(more)}", bool(is_between and abs(slopes.mean() - 0.3) < 0.02)
        yield f"kept {sorted(more)}", bool((found[data >= 0] == np.array(data)[data >= 0]).all())


# Optimizers


def of_several_kinds(*scenarios: Scenario) -> Scenario:
    """Return a scenario of some."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for kind, each in enumerate(scenarios):
            yield from ((f"{kind}: {about}", found) for about, found in each(side))

    return run


def of_dense_optimizer(*cases: dict[str, Any], again: bool = True) -> Scenario:
    """Return the scenario of an optimizer: 20 steps, of dense gradients alone."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            optimizer = side.made(**case)
            for about in ("", " again")[: 1 + again]:
                each = _again(optimizer) if about else optimizer
                for name, weights in _dense_steps(side, each):
                    yield f"{number}{about} {name}", weights

    return run


def _dense_steps(side: Side, optimizer: Any) -> Iterator[tuple[str, Any]]:
    random = _random(9)
    model = _perceptron(side)
    model.compile(optimizer, "mse")
    for step in range(1, 21):
        model.train_on_batch(_floats(random, 4, 3), _floats(random, 4, 2))
        if step in (1, 7, 20):
            for place, value in enumerate(model.get_weights()):
                yield f"{step} {place}", value


def _perceptron(side: Side) -> Any:
    layers, random = side.keras.layers, _random(8)
    inner = [layers.Dense(4, "tanh", name="hidden"), layers.Dense(2, name="last")]
    model = side.keras.Sequential([side.keras.Input((3,)), *inner])
    model.set_weights([_floats(random, *each.shape) for each in model.get_weights()])
    return model


def of_several(side: Side) -> Iterator[tuple[str, Any]]:
    """Train some layers by one optimizer and some by another."""
    optimizers = _optimizers(side)
    for about in ("layers", "lists", "again"):
        model, random = _perceptron(side), _random(9)
        hidden, last = model.layers
        parts = [(optimizers.Adam(0.05), hidden), (optimizers.SGD(0.1), last)]
        if about == "lists":
            parts = [(optimizers.Adam(0.05, clipnorm=0.1), [hidden, last]), parts[1]]
        optimizer = side.made(parts)
        if about == "again":
            optimizer = type(optimizer).from_config(optimizer.get_config())
        model.compile(optimizer, "mse")
        for _ in range(20):
            model.train_on_batch(_floats(random, 4, 3), _floats(random, 4, 2))
        for place, value in enumerate(model.get_weights()):
            yield f"{about} {place}", value
        yield f"{about} steps", int(optimizer.iterations)


def of_own_average(side: Side) -> Iterator[tuple[str, Any]]:
    """Derive an optimizer that averages in a way of its own."""

    class Mine(side.made):  # type: ignore[misc, name-defined]
        def average_op(self, var: Any, average_var: Any, _local: Any) -> Any:
            return average_var.assign(0.9 * average_var + 0.1 * var)

    for inner in ("Adam", "Adagrad"):
        yield from _steps(side, Mine(getattr(_optimizers(side), inner)(0.05)), inner)


def of_own_decay(side: Side) -> Iterator[tuple[str, Any]]:
    """Make classes of optimizers whose weights decay, in both ways."""
    optimizers, schedules = _optimizers(side), side.keras.optimizers.schedules
    cases: tuple[tuple[str, dict[str, Any]], ...] = (
        ("Adam", {"weight_decay": 0.01}),
        ("SGD", {"weight_decay": 0.02, "learning_rate": 0.05}),
        ("SGD", {"weight_decay": 0.02, "learning_rate": 0.05, "momentum": 0.9}),
        ("Adagrad", {"weight_decay": 0.03, "learning_rate": 0.05}),
        ("Adam", {"weight_decay": 0.01, "exclude_from_weight_decay": ["bias", "last"]}),
        ("Adam", {"weight_decay": schedules.ExponentialDecay(0.1, 4, 0.5), "amsgrad": True}),
    )
    for number, (base, case) in enumerate(cases):
        if isinstance(side.made, type):
            made = type("Mine", (side.made, getattr(optimizers, base)), {})
        else:
            made = side.made(getattr(optimizers, base))
        optimizer = made(**case)
        yield from _steps(side, optimizer, f"{number} {base}")
        if not any(value in _KEYS for value in case.values() if isinstance(value, str)):
            again = _again(optimizer)
            yield from _steps(side, again, f"{number} {base} again", steps=(3,))


# Callbacks


class _Bar:
    """A bar that writes down what is asked of it, as those of tqdm are."""

    asked: typing.ClassVar[list[str]] = []

    def __init__(self, **options: Any) -> None:
        self.desc, self.n, self.options = options.get("desc"), 0, options
        told = {name: str(value) for name, value in options.items() if value is not None}
        self.asked.append(f"{sorted(told.items())}")

    def update(self, count: int) -> None:
        self.n += count
        self.asked.append(f"+{count} {self.desc}")

    def close(self) -> None:
        self.asked.append(f"close {self.desc}")


def of_bar(side: Side) -> Iterator[tuple[str, Any]]:
    """Train and evaluate beside bars that write down what is asked of them."""
    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = _Bar  # type: ignore[attr-defined]
    tqdm = types.ModuleType("tqdm")
    tqdm.auto, tqdm.__version__ = auto, "4.66.0"  # type: ignore[attr-defined]
    known = {name: sys.modules.get(name) for name in ("tqdm", "tqdm.auto")}
    sys.modules.update({"tqdm": tqdm, "tqdm.auto": auto})
    cases: tuple[dict[str, Any], ...] = (
        {},
        {"show_overall_progress": False, "metrics_format": "{name} {value:0.2f}"},
        {"show_epoch_progress": False, "leave_overall_progress": False},
    )
    try:
        for number, case in enumerate(cases):
            model, printed = _perceptron(side), io.StringIO()
            model.compile("sgd", "mse")
            bar = side.made(update_per_second=10**9, **case)
            x, y = _floats(_random(1), 12, 3), _floats(_random(2), 12, 2)
            _Bar.asked.clear()
            more: dict[str, Any] = {"batch_size": 4, "verbose": 0, "callbacks": [bar]}
            with contextlib.redirect_stdout(printed):
                model.fit(x, y, epochs=2, validation_data=(x, y), shuffle=False, **more)
                model.evaluate(x, y, **more)
            yield f"{number} asked", list(_Bar.asked)
            yield f"{number} printed", printed.getvalue()
    finally:
        for name, module in known.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def of_stopping(side: Side) -> Iterator[tuple[str, Any]]:
    """Train until it is time."""
    for seconds, verbose in ((0, 1), (0, 0), (3600, 1)):
        model, printed = _perceptron(side), io.StringIO()
        model.compile("sgd", "mse")
        stopping = side.made(seconds, verbose)
        x, y = _floats(_random(1), 12, 3), _floats(_random(2), 12, 2)
        with contextlib.redirect_stdout(printed):
            history = model.fit(x, y, epochs=3, verbose=0, callbacks=[stopping])
        yield f"{seconds} {verbose} epochs", len(history.epoch)
        yield f"{seconds} {verbose} printed", printed.getvalue()
        stopped = stopping.stopped_epoch
        yield f"{seconds} {verbose} stopped", "none" if stopped is None else stopped


# Types


def of_type(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask a type which values are of it."""
    keras, tf = side.keras, side.tf
    values: Outcome = {
        "none": None, "int": 1, "float": 0.5, "text": "adam", "dict": {}, "list": [1.0],
        "tuple": (1,), "array": np.ones(2), "float16": np.float16(1), "uint8": np.uint8(1),
        "bool": True, "tensor": tf.constant(1.0), "variable": tf.Variable(1.0),
        "sparse": tf.sparse.from_dense([[1.0]]), "symbolic": keras.Input((2,)),
        "function": abs, "initializer": keras.initializers.Ones(), "class": float,
        "regularizer": keras.regularizers.L2(0.1), "constraint": keras.constraints.NonNeg(),
        "dtype": tf.float32, "numpy dtype": np.dtype("float32"), "object": object(),
        "optimizer": _optimizers(side).SGD(),
    }  # fmt: skip
    for name, value in values.items():
        yield name, any(map(_is_of(value), typing.get_args(side.made)))


def _is_of(value: Any) -> Any:
    def is_of(one: Any) -> bool:
        if typing.get_origin(one) is typing.Union:
            return any(map(is_of, typing.get_args(one)))
        known = typing.get_origin(one) or one
        return isinstance(value, known)

    return is_of
