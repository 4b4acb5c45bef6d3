"""Check the reference's losses and metrics in Keras: in ``fit``, over batches, saved."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import keras
import numpy as np

from kdoctor.reference import focal, huber, overlap, variance
from kdoctor.verify.reference import closed_forms
from kdoctor.verify.reference.checks import Check
from kdoctor.verify.reference.results import Measured
from kdoctor.verify.reference.running import BACKEND, array, difference, measured, worst

# XLA on and off. PyTorch's compiler is left out: it is not XLA, and needs a C compiler.
_JIT = {"tensorflow": (False, True), "jax": (False, True), "torch": (False,)}[BACKEND]

_LOSSES: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
    "DiceLoss": (overlap.DiceLoss, lambda t, p: 1 - closed_forms.dice(t, p)),
    "DiceLoss, axis=1": (
        lambda: overlap.DiceLoss(axis=1, smooth=0.5),
        lambda t, p: np.mean(1 - closed_forms.dice(t, p, 1, 0.5)),
    ),
    "JaccardLoss": (overlap.JaccardLoss, lambda t, p: 1 - closed_forms.jaccard(t, p)),
    "TverskyLoss": (overlap.TverskyLoss, lambda t, p: 1 - closed_forms.tversky(t, p, 0.3, 0.7)),
    "HuberLoss": (
        lambda: huber.HuberLoss(delta=0.3),
        lambda t, p: np.mean(closed_forms.huber(t, p, 0.3)),
    ),
    "BinaryFocalLoss": (
        focal.BinaryFocalLoss,
        lambda t, p: np.mean(closed_forms.binary_focal(t, np.log(p) - np.log1p(-p))),
    ),
    "CategoricalFocalLoss": (
        lambda: focal.CategoricalFocalLoss(alpha=0.5, from_logits=True),
        lambda t, p: np.mean(closed_forms.categorical_focal(t, p, alpha=0.5)),
    ),
    "VarianceRegularizedLoss": (
        lambda: variance.VarianceRegularizedLoss(factor=0.5),
        lambda t, p: closed_forms.variance_regularized(t, p, 0.5),
    ),
    "SampleVariancePenalizedLoss": (
        variance.SampleVariancePenalizedLoss,
        lambda t, p: closed_forms.sample_variance_penalty(np.mean(np.square(t - p), -1)),
    ),
}

_METRICS: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
    "DiceScore": (overlap.DiceScore, closed_forms.dice),
    "DiceScore, classes=4": (
        lambda: overlap.DiceScore(classes=4),
        lambda t, p: np.mean(closed_forms.dice(t, p, 0)),
    ),
    "JaccardScore": (
        lambda: overlap.JaccardScore(classes=4),
        lambda t, p: np.mean(closed_forms.jaccard(t, p, 0)),
    ),
    "TverskyScore": (overlap.TverskyScore, lambda t, p: closed_forms.tversky(t, p, 0.3, 0.7)),
    "HuberError": (
        lambda: huber.HuberError(delta=0.3),
        lambda t, p: np.mean(closed_forms.huber(t, p, 0.3)),
    ),
    "BinaryFocalError": (
        focal.BinaryFocalError,
        lambda t, p: np.mean(closed_forms.binary_focal(t, np.log(p) - np.log1p(-p))),
    ),
    "CategoricalFocalError": (
        lambda: focal.CategoricalFocalError(from_logits=True),
        lambda t, p: np.mean(closed_forms.categorical_focal(t, p)),
    ),
    "ErrorVariance": (
        variance.ErrorVariance,
        lambda t, p: closed_forms.variance_regularized(t, p, 1.0) - np.mean(np.square(t - p)),
    ),
}


def checks() -> Iterator[Check]:
    """Yield the checks of all loss and metric classes."""
    for name, (make, exact) in _LOSSES.items():
        row = partial(Check, _module(make), name)
        yield row("called", partial(_called, make, exact))
        for jit in _JIT:
            yield row(f"in fit, jit_compile={jit}", partial(_in_fit, make, exact, jit=jit))
        yield row("in fit, mixed precision", partial(_in_fit, make, exact, policy="mixed_float16"))
        yield row("saved and loaded", partial(_saved, make, None))
        yield row("recreated from its config", partial(_again, make))
    for name, (make, exact) in _METRICS.items():
        row = partial(Check, _module(make), name)
        yield row("over uneven batches", partial(_over_batches, make, exact))
        yield row("in evaluate", partial(_in_evaluate, make, exact))
        yield row("saved and loaded", partial(_saved, lambda: "mse", make))
        yield row("empty after a reset", partial(_reset, make))


def _module(make: Callable[[], Any]) -> str:
    return type(make()).__module__.rpartition(".")[2]


def _truth() -> Any:
    random = np.random.default_rng(3)
    return np.eye(4)[random.integers(0, 4, 12)].astype("float32")


def _inputs() -> Any:
    return np.random.default_rng(4).normal(size=(12, 3)).astype("float32")


def _model() -> Any:
    keras.utils.set_random_seed(5)
    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(5, activation="tanh")(inputs)
    return keras.Model(inputs, keras.layers.Dense(4, activation="sigmoid", dtype="float32")(hidden))


def _predicted(model: Any) -> Any:
    return keras.ops.convert_to_numpy(model(_inputs())).astype("float64")


def _called(make: Callable[[], Any], exact: Callable[[Any, Any], Any]) -> Measured:
    p = np.random.default_rng(6).random((12, 4))
    return measured(make()(_truth(), p.astype("float32")), exact(_truth(), p))


def _in_fit(
    make: Callable[[], Any],
    exact: Callable[[Any, Any], Any],
    *,
    jit: bool = False,
    policy: str = "float32",
) -> Measured:
    """Compare the first loss that ``fit`` reports, and check that training lowers it."""
    keras.config.set_dtype_policy(policy)
    try:
        model = _model()
        expected = exact(_truth(), _predicted(model))
        model.compile(keras.optimizers.SGD(0.05), make(), jit_compile=jit)
        history = model.fit(_inputs(), _truth(), batch_size=12, epochs=6, shuffle=False, verbose=0)
    finally:
        keras.config.set_dtype_policy("float32")
    losses = history.history["loss"]
    if losses[-1] >= losses[0]:
        raise AssertionError(f"training does not lower the loss: {losses}")
    return measured(np.asarray(losses[0]), expected, policy.removeprefix("mixed_"))


def _saved(make_loss: Callable[[], Any], make_metric: Callable[[], Any] | None) -> Measured:
    model = _model()
    model.compile("sgd", make_loss(), metrics=[make_metric()] if make_metric else None)
    before = model.evaluate(_inputs(), _truth(), verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        after = keras.models.load_model(path).evaluate(_inputs(), _truth(), verbose=0)
    return Measured(difference(np.asarray(after), np.asarray(before)), 1e-6)


def _again(make: Callable[[], Any]) -> Measured:
    loss = make()
    again = type(loss).from_config(loss.get_config())
    if again.get_config() != loss.get_config():
        raise AssertionError(f"{again.get_config()} is not {loss.get_config()}")
    p = np.random.default_rng(6).random((12, 4)).astype("float32")
    return Measured(difference(again(_truth(), p), array(loss(_truth(), p))), 0.0)


def _over_batches(make: Callable[[], Any], exact: Callable[[Any, Any], Any]) -> Measured:
    p = np.random.default_rng(6).random((12, 4))
    metric = make()
    for start, stop in ((0, 7), (7, 8), (8, 12)):
        metric.update_state(_truth()[start:stop], p[start:stop].astype("float32"))
    return measured(metric.result(), exact(_truth(), p))


def _in_evaluate(make: Callable[[], Any], exact: Callable[[Any, Any], Any]) -> Measured:
    parts = []
    for jit in _JIT:
        model = _model()
        model.compile("sgd", "mse", metrics=[make()], jit_compile=jit)
        scores = model.evaluate(_inputs(), _truth(), batch_size=5, verbose=0)
        parts.append(measured(np.asarray(scores[1]), exact(_truth(), _predicted(model))))
    return worst(parts)


def _reset(make: Callable[[], Any]) -> Measured:
    p = np.random.default_rng(6).random((12, 4)).astype("float32")
    metric, fresh = make(), make()
    metric.update_state(_truth(), 1 - p)
    metric.reset_state()
    for each in (metric, fresh):
        each.update_state(_truth(), p)
    return Measured(difference(metric.result(), array(fresh.result())), 0.0)
