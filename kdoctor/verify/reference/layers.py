"""Check the reference's layers: values, gradients, any batch size, precision, saving."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from kdoctor.reference.gradient_clipping_layer import GradientClipping
from kdoctor.reference.layers import ReLUPlusSigmoid, RunningSum, Scaling
from kdoctor.verify.reference import closed_forms
from kdoctor.verify.reference.checks import Check
from kdoctor.verify.reference.results import Measured
from kdoctor.verify.reference.running import (
    BACKEND,
    GRADIENT_TOLERANCE,
    WAYS,
    array,
    difference,
    finite_differences,
    gradients,
    in_way,
    measured,
    tensor,
    worst,
)

Array = NDArray[Any]


@dataclass(frozen=True)
class Subject:
    """A layer, and its result for inputs and weights in NumPy."""

    name: str
    make: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]  # shapes of the weights, in Keras' order
    closed_form: Callable[..., Array]  # takes the inputs, then the weights
    passes_gradient: bool = True  # whether its gradient is the derivative of its values

    @property
    def module(self) -> str:
        """The module of the reference that contains it."""
        return type(self.make()).__module__.rpartition(".")[2]


_SUBJECTS = (
    Subject("Scaling", Scaling, ((),), lambda x, s: x * s),
    Subject(
        "Scaling, per_feature", partial(Scaling, per_feature=True), ((3,),), lambda x, s: x * s
    ),
    Subject(
        "ReLUPlusSigmoid",
        ReLUPlusSigmoid,
        ((),),
        lambda x, a: np.maximum(x, 0) + a * closed_forms.sigmoid(x),
    ),
    Subject("RunningSum", partial(RunningSum, 4), ((3, 4), (4,)), lambda x, w, h: x @ w + h),
    Subject(
        "GradientClipping",
        partial(GradientClipping, 0.1, 0.2),
        (),
        lambda x: x,
        passes_gradient=False,
    ),
)

_LIMITS = ((0.3, None), (None, 0.5), (0.3, 0.5), (100.0, 100.0))


def checks() -> Iterator[Check]:
    """Yield the checks of all layers."""
    for subject in _SUBJECTS:
        row = partial(Check, subject.module, subject.name)
        for way in WAYS:
            yield row(f"NumPy in float64, {way}", partial(_values, subject, way))
        if subject.passes_gradient:
            yield row("gradients, finite differences", partial(_derived, subject))
        yield row("in a model, any batch size", partial(_in_a_model, subject))
        yield row("mixed precision", partial(_mixed, subject))
        yield row("saved and loaded", partial(_saved, subject))
    for clipvalue, clipnorm in _LIMITS:
        name = f"GradientClipping, clipvalue={clipvalue}, clipnorm={clipnorm}"
        row = partial(Check, "gradient_clipping_layer", name)
        yield row("gradient, closed form", partial(_clipped, clipvalue, clipnorm))
        yield row("in fit, jit on and off", partial(_clipped_in_fit, clipvalue, clipnorm))
    yield Check("layers", "RunningSum", "updates its state", _moves)
    yield Check("layers", "RunningSum", "keeps its state when saved", _state_is_saved)


def _inputs(batch: int = 6) -> Array:
    return np.random.default_rng(batch).normal(size=(batch, 3))


def _built(subject: Subject, dtype: Any) -> Any:
    """Return the layer, built and with weights other than the initial ones."""
    layer = subject.make(dtype=dtype)
    layer.build((None, 3))
    shapes = tuple(tuple(weight.shape) for weight in layer.weights)
    if shapes != subject.shapes:
        raise AssertionError(f"its weights have the shapes {shapes}, not {subject.shapes}")
    random = np.random.default_rng(9)
    layer.set_weights([random.normal(size=weight.shape) for weight in layer.weights])
    return layer


def _values(subject: Subject, way: str) -> Measured:
    parts = []
    for dtype in ("float32", "float64"):
        layer = _built(subject, dtype)
        found = in_way(layer, way)(tensor(_inputs().astype(dtype)))
        parts.append(measured(found, subject.closed_form(_inputs(), *_weights(layer)), dtype))
    return worst(parts)


def _weights(layer: Any) -> list[Array]:
    return [weight.astype("float64") for weight in layer.get_weights()]


def _derived(subject: Subject) -> Measured:
    """Check the gradient of a weighted output sum for the inputs and each trainable weight."""
    layer = _built(subject, "float64")
    fixed = [each.value for each in layer.non_trainable_variables]
    trained = [array(each.value) for each in layer.trainable_variables]
    rest = [array(each) for each in fixed]
    slopes = np.random.default_rng(1).normal(size=layer.compute_output_shape((6, 3)))

    def value(x: Any, *weights: Any) -> Any:
        return keras.ops.sum(layer.stateless_call(list(weights), fixed, x)[0] * tensor(slopes))

    def exact(x: Array, *weights: Array) -> Any:
        return np.sum(subject.closed_form(x, *weights, *rest) * slopes)

    arrays = [_inputs(), *trained]
    pairs = zip(gradients(value, arrays), finite_differences(exact, arrays), strict=True)
    return worst([Measured(difference(*pair), GRADIENT_TOLERANCE) for pair in pairs])


def _in_a_model(subject: Subject) -> Measured:
    inputs = keras.Input((3,))
    layer = subject.make()
    model = keras.Model(inputs, layer(inputs))
    if model.output_shape != (None, layer.compute_output_shape((None, 3))[-1]):
        raise AssertionError(f"the model declares {model.output_shape}")
    parts = []
    for batch in (1, 4, 7):
        found = model.predict(_inputs(batch).astype("float32"), batch_size=3, verbose=0)
        parts.append(measured(found, subject.closed_form(_inputs(batch), *_weights(layer))))
    return worst(parts)


def _mixed(subject: Subject) -> Measured:
    layer = _built(subject, "mixed_float16")
    found = layer(_inputs().astype("float32"))
    computed = keras.backend.standardize_dtype(found.dtype)
    kept = {keras.backend.standardize_dtype(weight.dtype) for weight in layer.weights}
    if computed != "float16" or kept - {"float32"}:
        raise AssertionError(f"it computes in {computed} and keeps weights in {kept}")
    half = _inputs().astype("float16").astype("float64")
    return measured(found, subject.closed_form(half, *_weights(layer)), "float16")


def _saved(subject: Subject) -> Measured:
    inputs = keras.Input((3,))
    layer = subject.make()
    model = keras.Model(inputs, layer(inputs))
    random = np.random.default_rng(2)
    model.set_weights([random.normal(size=each.shape) for each in model.weights])
    again = _through_a_file(model)
    if again.layers[-1].get_config() != layer.get_config():
        raise AssertionError(f"{again.layers[-1].get_config()} is not {layer.get_config()}")
    x = _inputs().astype("float32")
    return Measured(difference(again(x), array(model(x))), 1e-6)


def _through_a_file(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        return keras.models.load_model(path)


def _clipped(clipvalue: float | None, clipnorm: float | None) -> Measured:
    layer = GradientClipping(clipvalue, clipnorm, dtype="float64")
    slopes = np.random.default_rng(1).normal(size=(6, 3))
    found = gradients(lambda x: keras.ops.sum(layer(x) * tensor(slopes)), [_inputs()])[0]
    return measured(found, closed_forms.clipped(slopes, clipvalue, clipnorm), "float64")


def _clipped_in_fit(clipvalue: float | None, clipnorm: float | None) -> Measured:
    """Compare an SGD(1.0) step of a scale before the layer with the chain rule in NumPy."""
    parts = []
    x, t = _inputs(), np.random.default_rng(12).normal(size=(6, 3))
    for jit in (False, True) if BACKEND != "torch" else (False,):
        scaling = Scaling(per_feature=True)
        model = keras.Sequential([
            keras.Input((3,)), scaling, GradientClipping(clipvalue, clipnorm)
        ])  # fmt: skip
        model.compile(keras.optimizers.SGD(1.0), "mse", jit_compile=jit)
        model.fit(x.astype("float32"), t.astype("float32"), batch_size=6, verbose=0)
        from_above = 2 * (x - t) / x.size  # of the mean squared error; the scale was 1
        expected = 1 - (closed_forms.clipped(from_above, clipvalue, clipnorm) * x).sum(0)
        parts.append(measured(scaling.scale.value, expected))
    return worst(parts)


def _moves() -> Measured:
    """Compare the state after prediction and training, in batches of several sizes."""
    parts = []
    for moves, training, moved in (
        ("training", False, False),
        ("training", True, True),
        ("always", False, True),
    ):
        layer = RunningSum(4, moves=moves)
        layer.build((None, 3))
        expected = np.zeros(4)
        for batch in (2, 5, 1):
            x = _inputs(batch)
            projected = x @ _weights(layer)[0]
            found = layer(x.astype("float32"), training=training)
            parts.append(measured(found, projected + expected))
            if moved:
                expected = expected + projected.mean(0)
        parts.append(measured(layer.state.value, expected))
        layer.reset_state()
        parts.append(measured(layer.state.value, np.zeros(4)))
    return worst(parts)


def _state_is_saved() -> Measured:
    model = keras.Sequential([keras.Input((3,)), RunningSum(4), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(_inputs(7).astype("float32"), np.ones((7, 1)), batch_size=3, verbose=0)
    state = array(model.layers[0].state.value)
    if not np.any(state):
        raise AssertionError("fit did not change the state")
    return Measured(difference(_through_a_file(model).layers[0].state.value, state), 0.0)
