"""Ways to ask layers and cells what they do; run beside tensorflow_addons as well."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from kdoctor.verify.addons.scenarios import Scenario, Side, _floats, _leaf, _random


class Drawn(NamedTuple):
    """An input: its shape, and below what its integers are, which are floats where it is 0."""

    shape: tuple[int, ...]
    below: int = 0

    def tensor(self, side: Side, seed: int) -> Any:
        """Return the input."""
        random = _random(seed)
        if self.below:
            return side.tf.constant(random.integers(0, self.below, self.shape), "int32")
        return side.tf.constant(_floats(random, *self.shape))


Inputs = tuple[Drawn, ...]


def of_inputs(
    *cases: dict[str, Any], inputs: tuple[Inputs, ...], apart: bool = False, **more: Any
) -> Scenario:
    """Return the scenario of a layer: what it gives of inputs, and what the gradients are.

    The inputs are a list, or arguments of their own where they stand ``apart``.
    """

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            for each in inputs:
                about = f"{number} {[tuple(drawn.shape) for drawn in each]}"
                yield from _of_layer(side, side.made(**case), each, about, apart=apart, **more)

    return run


def _of_layer(
    side: Side, layer: Any, inputs: Inputs, about: str, *, apart: bool, **more: Any
) -> Iterator[tuple[str, Any]]:
    tensors = [drawn.tensor(side, seed) for seed, drawn in enumerate(inputs)]
    floats = [each for each, drawn in zip(tensors, inputs, strict=True) if not drawn.below]
    given = tensors if apart else [tensors]
    layer(*given, **more)
    set_weights(layer)
    with side.tf.GradientTape() as tape:
        tape.watch(floats)
        found = _flat(layer(*given, **more))
        loss = side.tf.add_n([
            side.tf.reduce_sum(side.tf.sin(side.tf.cast(each, "float32"))) for each in found
        ])  # fmt: skip
    for place, each in enumerate(found):
        yield f"{about} output {place}", each
    weights = [_variable(each) for each in layer.trainable_weights]
    for place, each in enumerate(tape.gradient(loss, [*floats, *weights])):
        yield f"{about} gradient {place}", side.tf.convert_to_tensor(each)
    yield f"{about} names", [_leaf(each) for each in layer.weights]
    again = type(layer).from_config(layer.get_config())
    again(*given, **more)
    again.set_weights(layer.get_weights())
    for place, each in enumerate(_flat(again(*given, **more))):
        yield f"{about} again {place}", each
    starts = [
        side.keras.Input(e.shape[1:], dtype="int32" if e.below else "float32") for e in inputs
    ]
    model = side.keras.Model(starts, layer(*(starts if apart else [starts])))
    yield f"{about} shape", [list(each.shape) for each in model.outputs]


def _flat(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _variable(weight: Any) -> Any:
    """Return what TensorFlow takes gradients of."""
    return getattr(weight, "value", weight) if hasattr(weight, "path") else weight


def set_weights(layer: Any) -> None:
    """Set weights to numbers that are drawn by their names, and by how many were so called."""
    counts: dict[str, int] = {}
    for weight in layer.weights:
        leaf = _leaf(weight)
        counts[leaf] = counts.get(leaf, -1) + 1
        seed = zlib.crc32(f"{leaf}{counts[leaf]}".encode())
        if "int" not in str(weight.dtype):
            weight.assign(_floats(_random(seed), *weight.shape) * 0.5)


def of_cell(*cases: dict[str, Any], masks: tuple[bool, ...] = (False, True)) -> Scenario:
    """Return the scenario of a cell: of a step by itself, and of sequences, masked ones too."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        keras = side.keras
        for number, case in enumerate(cases):
            cell = side.made(**case)
            sizes = np.atleast_1d(cell.state_size).tolist()
            x = side.tf.constant(_floats(_random(1), 2, 3))
            states = [side.tf.constant(_floats(_random(2), 2, size)) for size in sizes]
            cell.build((2, 3))
            set_weights(cell)
            output, after = cell(x, states)
            for place, each in enumerate([output, *_flat(after)]):
                yield f"{number} step {place}", each
            yield f"{number} sizes", [*sizes, int(cell.output_size)]
            yield f"{number} names", [_leaf(each) for each in cell.weights]
            for masked in masks:
                yield from _sequences(keras, side, cell, f"{number} {masked}", masked=masked)
            again = type(cell).from_config(cell.get_config())
            again.build((2, 3))
            again.set_weights(cell.get_weights())
            yield f"{number} again", again(x, states)[0]

    return run


def _sequences(
    keras: Any, side: Side, cell: Any, about: str, *, masked: bool
) -> Iterator[tuple[str, Any]]:
    data = _floats(_random(3), 2, 5, 3)
    data[1, 3:] = 0.0
    start = keras.Input((5, 3))
    inner = keras.layers.Masking()(start) if masked else start
    layer = keras.layers.RNN(cell, return_sequences=True, return_state=True)
    model = keras.Model(start, layer(inner))
    with side.tf.GradientTape() as tape:
        tensor = side.tf.constant(data)
        tape.watch(tensor)
        found = model(tensor, training=True)
        loss = side.tf.reduce_sum(side.tf.sin(found[0]))
    for place, each in enumerate(found):
        yield f"{about} sequences {place}", each
    weights = [_variable(each) for each in cell.trainable_weights]
    for place, each in enumerate(tape.gradient(loss, [tensor, *weights])):
        yield f"{about} gradient {place}", each


def of_network(*cases: dict[str, Any]) -> Scenario:
    """Return the scenario of a recurrent layer by itself."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            layer = side.made(**case)
            data = side.tf.constant(_floats(_random(3), 2, 5, 3))
            layer(data)
            set_weights(layer)
            yield f"{number}", layer(data)
            yield f"{number} trained", len(layer.trainable_weights)
            again = type(layer).from_config(layer.get_config())
            again(data)
            again.set_weights(layer.get_weights())
            yield f"{number} again", again(data)

    return run


def of_drawn_weights(side: Side) -> Iterator[tuple[str, Any]]:
    """Draw recurrent weights: how many are not 0, and the largest of their eigenvalues."""
    for number, case in enumerate((
        {"connectivity": 1.0, "recurrent_initializer": "identity", "use_norm2": True},
        {"connectivity": 1.0, "recurrent_initializer": "identity"},
        {"connectivity": 1.0, "recurrent_initializer": "ones", "spectral_radius": 0.5},
    )):  # fmt: skip
        cell = side.made(6, **case)
        cell.build((2, 3))
        yield f"drawn {number}", cell.recurrent_kernel
    cell = side.made(60, connectivity=0.2, spectral_radius=0.7)
    cell.build((2, 3))
    kernel = _array(side, cell.recurrent_kernel)
    yield "radius", np.float32(np.abs(np.linalg.eigvals(kernel)).max())
    yield "share", bool(abs(np.count_nonzero(kernel) / 3600 - 0.2) < 0.04)


def of_esn_cell(*cases: dict[str, Any]) -> Scenario:
    """Return the scenario of the cell of an echo state network: its steps, and what it draws."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        yield from of_cell(*cases)(side)
        yield from of_drawn_weights(side)

    return run


def _array(side: Side, value: Any) -> Any:
    """Return an array, of a tensor too whose gradient is asked for."""
    return side.keras.ops.convert_to_numpy(value) if hasattr(side.keras, "ops") else np.array(value)


def of_noise(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask a layer with noise in its weights: what is drawn, and what it gives without it."""
    for factorised in (True, False):
        layer = side.made(40, use_factorised=factorised, activation="relu", sigma=0.4)
        data = side.tf.constant(_floats(_random(3), 4, 30))
        first = _array(side, layer(data))
        yield f"{factorised} names", sorted(_leaf(each) for each in layer.weights)
        noise = _array(side, layer.eps_kernel)
        yield f"{factorised} rank", int(np.linalg.matrix_rank(noise))
        yield f"{factorised} spread", bool(0.35 < np.mean(np.abs(noise)) < 1.05)
        most = np.abs(_array(side, layer.mu_kernel)).max()
        yield f"{factorised} sigma", np.unique(_array(side, layer.sigma_kernel))
        yield f"{factorised} most", bool(0.9 < most / (30**-0.5 if factorised else 0.1**0.5) <= 1)
        layer.reset_noise()
        yield f"{factorised} anew", not np.allclose(first, _array(side, layer(data)))
        set_weights(layer)
        yield f"{factorised}", layer(data)
        layer.remove_noise()
        yield f"{factorised} without", layer(data)
        again = type(layer).from_config(layer.get_config())
        again(data)
        again.set_weights(layer.get_weights())
        yield f"{factorised} again", again(data)
