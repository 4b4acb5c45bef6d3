"""Check gradient clipping in training, with and without loss scaling, and model inspection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from kdoctor.reference import clipping, inspection
from kdoctor.verify.reference import closed_forms
from kdoctor.verify.reference.checks import Check, NotHere
from kdoctor.verify.reference.results import Measured
from kdoctor.verify.reference.running import BACKEND, array, measured, tensor, worst

Array = NDArray[Any]
_OVERFLOW = 1e37  # times the loss scale of 1,024: infinite in float32

_BY_HAND: dict[str, Callable[..., Any]] = {
    "clipvalue": clipping.clip_by_value,
    "clipnorm": clipping.clip_by_norm,
    "global_clipnorm": clipping.clip_by_global_norm,
}


def checks() -> Iterator[Check]:
    """Yield the checks of clipping and of model inspection."""
    for argument in _BY_HAND:
        row = partial(Check, "clipping", argument)
        yield row("by hand, closed form", partial(_by_hand, argument))
        yield row("by the optimizer", partial(_by_optimizer, argument))
        yield row("under loss scaling", partial(_by_optimizer, argument, scaled=True))
    row = partial(Check, "clipping", "ClippedByLayer")
    yield row("one step of fit", partial(_by_layer, scaled=False))
    yield row("under loss scaling", partial(_by_layer, scaled=True))
    yield row("skips non-finite steps", _skips)
    yield Check("clipping", "tape_step", "under loss scaling", _tape)
    yield Check("inspection", "intermediate_outputs", "layer by layer in NumPy", _intermediate)
    yield Check("inspection", "made_by", "every layer of a model", _made_by)
    yield Check("inspection", "unique_name", "1,000 names differ", _unique)


def _gradients() -> list[Array]:
    random = np.random.default_rng(11)
    return [random.normal(size=shape) for shape in ((4, 3), (3,), (3, 2))]


def _exact(argument: str, gradients: list[Array], limit: float) -> list[Array]:
    if argument == "global_clipnorm":
        return closed_forms.clipped_together(gradients, limit)
    return [closed_forms.clipped(each, **_limits(argument, limit)) for each in gradients]


def _limits(argument: str, limit: float) -> dict[str, float | None]:
    return {"clipvalue": None, "clipnorm": None, argument: limit}


def _by_hand(argument: str) -> Measured:
    parts = []
    for limit in (0.5, 1000.0):
        tensors = [tensor(each) for each in _gradients()]
        found = _BY_HAND[argument]([*tensors, None], limit)
        if found.pop() is not None:
            raise AssertionError("None became a gradient")
        for each, right in zip(found, _exact(argument, _gradients(), limit), strict=True):
            parts.append(measured(each, right, "float64"))
    return worst(parts)


def _by_optimizer(argument: str, *, scaled: bool = False) -> Measured:
    """Compare what SGD(1.0) subtracts with the clipped gradients."""
    gradients = [each.astype("float32") for each in _gradients()]
    variables = [keras.Variable(np.zeros_like(each)) for each in gradients]
    optimizer = keras.optimizers.SGD(1.0, **{argument: 0.5})
    scale = 1.0
    if scaled:
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
        scale = float(array(optimizer.scale_loss(keras.ops.ones(()))))
        if scale <= 1.0:
            raise AssertionError(f"the loss is scaled with {scale}")
    moved = _applied(optimizer, [tensor(each * np.float32(scale)) for each in gradients], variables)
    pairs = zip(moved, _exact(argument, gradients, 0.5), strict=True)
    return worst([measured(each, -right) for each, right in pairs])


def _applied(optimizer: Any, gradients: list[Any], variables: list[Any]) -> list[Any]:
    if BACKEND != "jax":
        optimizer.apply(gradients, variables)
        return [each.value for each in variables]
    # Loss scaling branches on the gradients, and in JAX its state cannot change in place.
    optimizer.build(variables)
    state = [each.value for each in optimizer.variables]
    values = [each.value for each in variables]
    return list(optimizer.stateless_apply(state, gradients, values)[0])


def _by_layer(*, scaled: bool) -> Measured:
    """Compare a step of ``fit`` with the gradients of the same model without limits."""
    limits = {"first": 0.01, "second": 1000.0}
    steps = {}
    for name, given in (("free", {}), ("limited", limits)):
        model = _two_layers(given)
        model.compile(_sgd(scaled=scaled), "mse")
        before = model.get_weights()
        model.fit(*_data(), batch_size=5, verbose=0)
        steps[name] = [a - b for a, b in zip(before, model.get_weights(), strict=True)]
    expected = closed_forms.clipped_together(steps["free"][:2], 0.01)
    if np.linalg.norm(steps["free"][0]) <= 0.01:
        raise AssertionError("there is nothing to clip")
    expected += steps["free"][2:4]
    expected += steps["free"][4:]
    return worst([measured(*pair) for pair in zip(steps["limited"], expected, strict=True)])


def _sgd(*, scaled: bool) -> Any:
    sgd = keras.optimizers.SGD(1.0)
    return keras.optimizers.LossScaleOptimizer(sgd, initial_scale=1024.0) if scaled else sgd


def _two_layers(limits: dict[str, float]) -> Any:
    keras.utils.set_random_seed(1)
    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(4, activation="tanh", name="first")(inputs)
    hidden = keras.layers.Dense(4, activation="tanh", name="second")(hidden)
    return clipping.ClippedByLayer(inputs, keras.layers.Dense(1)(hidden), limits=limits)


def _data() -> tuple[Array, Array]:
    random = np.random.default_rng(2)
    return (
        random.normal(size=(5, 3)).astype("float32"),
        random.normal(size=(5, 1)).astype("float32"),
    )


def _skips() -> Measured:
    """Check that an infinite gradient skips the step; clipped, it would look finite."""
    model = _two_layers({"first": 0.01})
    model.compile(_sgd(scaled=True), "mse")
    before = model.get_weights()
    x, y = _data()
    model.fit(x, y * np.float32(_OVERFLOW), batch_size=5, verbose=0)
    after = model.get_weights()
    return worst([measured(b, a) for a, b in zip(before, after, strict=True)])


def _tape() -> Measured:
    if BACKEND != "tensorflow":
        raise NotHere("GradientTape is TensorFlow's")
    keras.config.set_dtype_policy("mixed_float16")
    try:
        keras.utils.set_random_seed(1)
        model = keras.Sequential([
            keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1, dtype="float32")
        ])  # fmt: skip
    finally:
        keras.config.set_dtype_policy("float32")
    sgd = keras.optimizers.SGD(1.0, global_clipnorm=0.01)
    optimizer = keras.optimizers.LossScaleOptimizer(sgd)
    before = model.get_weights()
    loss = clipping.tape_step(model, keras.losses.MeanSquaredError(), optimizer, *_data())
    if not np.isfinite(array(loss)):
        raise AssertionError("the loss is not finite")
    moved = [(a - b).ravel() for a, b in zip(before, model.get_weights(), strict=True)]
    # The step has the length of the limit exactly: it was unscaled first, then clipped.
    return measured(np.linalg.norm(np.concatenate(moved)), np.asarray(0.01))


def _intermediate() -> Measured:
    model = _two_layers({})
    x, _ = _data()
    found = inspection.intermediate_outputs(model, x)
    w = [each.astype("float64") for each in model.get_weights()]
    first = np.tanh(x @ w[0] + w[1])
    second = np.tanh(first @ w[2] + w[3])
    last = model.layers[-1].name
    right = {"first": first, "second": second, last: second @ w[4] + w[5]}
    if list(found) != list(right):
        raise AssertionError(f"{list(found)} is not {list(right)}")
    chosen = inspection.intermediate_outputs(model, x, ["second"])
    parts = [measured(found[name], right[name]) for name in right]
    return worst([*parts, measured(chosen["second"], second)])


def _made_by() -> Measured:
    model = _two_layers({})
    wrong = sum(inspection.made_by(layer.output, model) is not layer for layer in model.layers)
    wrong += inspection.made_by(keras.Input((3,)), model) is not None
    return Measured(float(wrong), 0.0)


def _unique() -> Measured:
    names = [inspection.unique_name("block") for _ in range(1000)]
    return Measured(float(len(names) - len(set(names))), 0.0)
