"""Ways to ask the rarer things of ``keras_contrib`` what they do, on both sides alike.

This file is also run beside keras_contrib itself, on Python 3.7.
"""

# ruff: noqa: B905, SLF001 - Python 3.7 has no `strict`, and no other way to a schedule

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from typing import Any

import numpy as np

from kdoctor.verify.contrib.scenarios import Found, Scenario, Side, _floats, _set


def of_optimizer(*cases: dict) -> Scenario:  # type: ignore[type-arg]
    """Return the scenario of an optimizer: 20 steps on drawn gradients, at last more slowly."""

    def run(side: Side) -> Found:
        for number, case in enumerate(cases):
            about = f"{number}"
            optimizer = side.made(**case)
            yield from _stepped(side, optimizer, about, (1, 7, 20))
            again = type(optimizer).from_config(optimizer.get_config())
            yield from _stepped(side, again, f"{about} again", (3,))

    return run


def _stepped(side: Side, optimizer: Any, about: str, steps: tuple) -> Found:  # type: ignore[type-arg]
    starts = [_floats(1, 4, 3), _floats(2, 3)]
    walk = _steps_today if hasattr(side.keras, "ops") else _steps_of_graphs
    for step, values in enumerate(walk(side.keras, optimizer, starts, steps[-1]), 1):
        if step in steps:
            for place, value in enumerate(values):
                yield f"{about} step {step} weight {place}", value


def _gradients(step: int) -> Any:
    return [_floats(10 + step, 4, 3), _floats(40 + step, 3) * 3]


def _steps_today(keras: Any, optimizer: Any, starts: Any, count: int) -> Any:
    weights = [keras.Variable(each) for each in starts]
    for step in range(count):
        if step == 10:
            optimizer.learning_rate = 0.01
        optimizer.apply(list(map(keras.ops.convert_to_tensor, _gradients(step))), weights)
        yield [np.array(each) for each in weights]


def _steps_of_graphs(keras: Any, optimizer: Any, starts: Any, count: int) -> Any:
    """Read all, then write all: a graph of Keras 2 may read what it has written already."""
    backend = keras.backend
    weights = [backend.variable(each) for each in starts]
    places = [backend.placeholder(each.shape) for each in starts]
    loss = sum(backend.sum(weight * place) for weight, place in zip(weights, places))
    update, update_add = backend.update, backend.update_add
    backend.update, backend.update_add = (lambda x, new: (x, new)), (lambda x, more: (x, x + more))
    try:
        updates = optimizer.get_updates(loss, weights)
    finally:
        backend.update, backend.update_add = update, update_add
    function = backend.function(places, [new for _, new in updates])
    for step in range(count):
        if step == 10:
            backend.set_value(optimizer.lr, 0.01)
        for (weight, _), value in zip(updates, function(_gradients(step))):
            backend.set_value(weight, value)
        yield [backend.get_value(each) for each in weights]


def convolution_aware(side: Side) -> Found:
    """Draw kernels: of which size, and how far they spread; signs are up to LAPACK."""
    cases: Any = ({"seed": 3}, {"seed": 5, "eps_std": 0.2})
    for number, case in enumerate(cases):
        for shape in ((3, 4, 5), (3, 3, 4, 5), (1, 1, 4, 2), (2, 3, 2, 3, 2)):
            found = np.array(side.made(**case)(shape), "float32")
            yield f"{number} {shape}", list(found.shape)
            yield f"{number} {shape} spread", np.var(found)
        yield f"{number} again", sorted(side.made(**case).get_config())
    yield "orthogonal", list(np.shape(side.made()((4, 5))))


def dead_relus(side: Side) -> Found:
    """Train layers of which units are dead, and read what is printed."""
    keras = side.keras
    x = np.abs(_floats(1, 6, 5))
    for verbose in (False, True):
        start = keras.layers.Input((5,))
        many = keras.layers.Dense(4, activation="relu", name="many")(start)
        few = keras.layers.Dense(20, activation="relu", name="few")(start)
        other = keras.layers.Dense(3, name="other")(keras.layers.concatenate([many, few]))
        model = keras.models.Model(start, other)
        for layer, dead in ((model.get_layer("many"), 2), (model.get_layer("few"), 1)):
            kernel, bias = layer.get_weights()
            kernel = np.abs(_floats(2, *kernel.shape))
            kernel[:, :dead] *= -1
            layer.set_weights([kernel, bias])
        model.compile(keras.optimizers.SGD(1e-6), "mse")
        told = side.made(x, verbose)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            model.fit(x, _floats(3, 6, 3), epochs=2, verbose=0, callbacks=[told])
        lines = [each for each in printed.getvalue().split("\n") if each.startswith("Layer")]
        yield f"{verbose} printed", sorted(lines)


def snapshots(side: Side) -> Found:
    """Train by a schedule, and see which files are written."""
    keras = side.keras
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()  # noqa: PTH109 - a text on both sides
        os.chdir(folder)
        try:
            start = keras.layers.Input((2,))
            model = keras.models.Model(start, keras.layers.Dense(1)(start))
            _set(model)
            model.compile(keras.optimizers.SGD(0.1), "mse")
            if side.made.__name__ == "SnapshotModelCheckpoint":
                callbacks = [side.made(5, 2, "mine")]
            else:
                builder = side.made(5, 2, 0.2)
                callbacks = builder.get_callbacks("mine")[1:]
                rates = [builder._cosine_anneal_schedule(epoch) for epoch in range(5)]
                yield "rates", np.array(rates)
            model.fit(
                _floats(1, 6, 2), _floats(2, 6, 1), 6, 5, verbose=0, shuffle=False,
                callbacks=callbacks,
            )  # fmt: skip
            names = [name for _, _, names in os.walk(".") for name in names]
            yield "files", sorted({name.split(".")[0] for name in names})
            yield "trained", model.get_weights()[0]
        finally:
            os.chdir(before)
