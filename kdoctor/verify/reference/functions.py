"""Check the reference's functions: values, gradients, edge cases, other implementations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from kdoctor.reference import focal, huber, overlap, variance
from kdoctor.verify.reference import closed_forms
from kdoctor.verify.reference.checks import Check
from kdoctor.verify.reference.results import Measured
from kdoctor.verify.reference.running import (
    BACKEND,
    GRADIENT_TOLERANCE,
    WAYS,
    difference,
    finite_differences,
    gradients,
    in_way,
    measured,
    tensor,
    worst,
)

Array = NDArray[Any]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Subject:
    """A function of two tensors, with its closed form and inputs of several shapes.

    ``peers`` are other implementations, ``(owner, function)``, called with ``peer_inputs``.
    """

    name: str
    function: Function
    closed_form: Function
    inputs: tuple[tuple[Array, Array], ...]
    peers: tuple[tuple[str, Function], ...] = ()
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The module of the reference that contains it."""
        name = self.function.__module__.rpartition(".")[2]
        return "variance" if name == "functions" else name


def checks() -> Iterator[Check]:
    """Yield the checks of all functions."""
    for subject in _SUBJECTS:
        module = subject.module
        make = partial(Check, module, subject.name)
        for way in WAYS:
            yield make(f"NumPy in float64, {way}", partial(_values, subject, way))
        yield make("half precision", partial(_in_half, subject))
        yield make("gradient, finite differences", partial(_derived, subject))
        for whose, peer in subject.peers:
            if whose != "tf_keras" or BACKEND == "tensorflow":
                yield make(whose, partial(_as_peer, subject, peer))
    for name in ("dice", "jaccard", "tversky"):
        yield Check("overlap", name, "empty masks", partial(_empty_masks, name))
        yield Check("overlap", name, "integer masks", partial(_integer_masks, name))
        yield Check("overlap", name, "100,000 pixels in float16", partial(_many_pixels, name))
    yield Check("focal", "binary_focal", "logits of ±200", _extreme_logits)


def _values(subject: Subject, way: str) -> Measured:
    run = in_way(lambda t, p: subject.function(t, p, **subject.given), way)
    return worst([
        measured(run(*_tensors(pair, dtype)), subject.closed_form(*pair), dtype)
        for dtype in ("float32", "float64")
        for pair in subject.inputs
    ])  # fmt: skip


def _tensors(pair: tuple[Array, Array], dtype: str) -> list[Any]:
    return [tensor(each.astype(dtype)) for each in pair]


def _in_half(subject: Subject) -> Measured:
    parts = []
    for t, p in subject.inputs:
        half = t.astype("float16"), p.astype("float16")
        found = subject.function(*map(tensor, half), **subject.given)
        parts.append(measured(found, subject.closed_form(*half), "float16"))
    return worst(parts)


def _derived(subject: Subject) -> Measured:
    t, p = subject.inputs[0]

    def value(p: Any) -> Any:
        result = subject.function(tensor(t), p, **subject.given)
        return keras.ops.sum(result)

    def exact(p: Array) -> Any:
        return np.sum(subject.closed_form(t, p))

    (found,), (expected,) = gradients(value, [p]), finite_differences(exact, [p])
    return Measured(difference(found, expected), GRADIENT_TOLERANCE)


def _as_peer(subject: Subject, peer: Function) -> Measured:
    return worst([
        measured(
            subject.function(t.astype("float32"), p.astype("float32"), **subject.given),
            np.asarray(peer(t.astype("float32"), p.astype("float32"))),
        )
        for t, p in subject.inputs
    ])  # fmt: skip


def _empty_masks(name: str) -> Measured:
    empty = np.zeros((2, 4, 4, 1), "float32")
    return measured(getattr(overlap, name)(empty, empty, axis=(1, 2)), np.ones((2, 1)))


def _integer_masks(name: str) -> Measured:
    t, p = _draw(2, 4, 4, 3)
    found = getattr(overlap, name)((t > 0.5).astype("int32"), p.astype("float32"), smooth=1)
    given = (0.3, 0.7) if name == "tversky" else ()
    return measured(found, getattr(closed_forms, name)(t, p, *given))


def _many_pixels(name: str) -> Measured:
    ones = np.ones((1, 400, 250, 1), "float16")
    return measured(getattr(overlap, name)(ones, ones), np.ones(()))


def _extreme_logits() -> Measured:
    t = np.array([[1.0, 0.0, 1.0, 0.0]], "float32")
    z = np.array([[-200.0, 200.0, 200.0, -200.0]], "float32")

    def value(z: Any) -> Any:
        return keras.ops.sum(focal.binary_focal(t, z, from_logits=True))

    (slope,) = gradients(value, [z])
    # There FL is −α log p, with slope ∓α; half of the four elements are easy and weigh nothing.
    right = np.array([[-0.25, 0.75, 0.0, 0.0]]) / 4
    values = measured(focal.binary_focal(t, z, from_logits=True), closed_forms.binary_focal(t, z))
    return worst([values, measured(slope, right)])


def _draw(*shape: int) -> tuple[Array, Array]:
    random = np.random.default_rng(20261121)
    return (random.random(shape) > 0.5).astype("float64"), random.random(shape)


def _one_hot(*shape: int) -> tuple[Array, Array]:
    random = np.random.default_rng(7)
    classes = random.integers(0, shape[-1], shape[:-1])
    return np.eye(shape[-1])[classes], 3 * random.normal(size=shape)


def _real(*shape: int) -> tuple[Array, Array]:
    random = np.random.default_rng(8)
    return 2 * random.normal(size=shape), 2 * random.normal(size=shape)


def _probable(function: Function) -> Function:
    """Turn a closed form for logits into one for probabilities."""
    return lambda t, p, **given: function(t, np.log(p) - np.log1p(-p), **given)


def _tf_keras(name: str, **given: Any) -> Function:
    def run(t: Array, p: Array) -> Any:
        import tf_keras  # noqa: PLC0415 - Keras 2, only if needed

        return getattr(tf_keras.losses, name)(t, p, **given)

    return run


def _overlaps() -> Iterator[Subject]:
    images = (_draw(2, 3, 4, 3), _draw(3, 5, 5, 1), _draw(4, 7))
    masks = (_draw(2, 3, 4, 3), _draw(3, 5, 5, 1))
    for name, given in (("dice", {}), ("jaccard", {}), ("tversky", {"alpha": 0.3, "beta": 0.7})):
        function, exact = getattr(overlap, name), getattr(closed_forms, name)
        for axis, inputs in ((None, images), ((1, 2), masks), ((0, 1, 2), masks)):
            label = name if axis is None else f"{name}, axis={axis}"
            options = {**given, "axis": axis}
            yield Subject(label, function, partial(exact, **options), inputs, (), options)
            if name in _KERAS_OWN:
                # Keras has no smoothing but its epsilon.
                bare = {**options, "smooth": 1e-7}
                peers = (("Keras", partial(_KERAS_OWN[name], axis=axis)),)
                exactly = partial(exact, **bare)
                yield Subject(f"{label}, unsmoothed", function, exactly, inputs, peers, bare)


def _keras_dice(t: Array, p: Array, axis: Any) -> Any:
    return 1 - keras.ops.convert_to_numpy(keras.losses.dice(t, p, axis=axis))


def _keras_tversky(t: Array, p: Array, axis: Any) -> Any:
    # What Keras 3.15 calls alpha weighs false negatives.
    loss = keras.losses.tversky(t, p, alpha=0.7, beta=0.3, axis=axis)
    return 1 - keras.ops.convert_to_numpy(loss)


_KERAS_OWN: dict[str, Function] = {"dice": _keras_dice, "tversky": _keras_tversky}


def _keras(name: str, **given: Any) -> Function:
    def run(t: Array, p: Array) -> Any:
        return keras.ops.convert_to_numpy(getattr(keras.losses, name)(t, p, **given))

    return run


def _others() -> Iterator[Subject]:
    real = (_real(4, 3), _real(2, 5, 2), _real(3, 1))
    for delta in (1.0, 0.25):
        yield Subject(
            f"huber, delta={delta}",
            huber.huber,
            partial(closed_forms.huber, delta=delta),
            real,
            (
                ("Keras", _keras("huber", delta=delta)),
                ("tf_keras", _tf_keras("huber", delta=delta)),
            ),
            {"delta": delta},
        )
    t = (_real(6, 3)[0] > 0).astype("float64")
    logits, some = (t, _real(6, 3)[1]), {"alpha": 0.25, "gamma": 2.0}
    probable = (_draw(6, 3), _draw(2, 4, 2))
    balanced = {**some, "apply_class_balancing": True}
    for label, from_logits, inputs in (
        ("logits", True, (logits,)),
        ("probabilities", False, probable),
    ):
        exact = closed_forms.binary_focal if from_logits else _probable(closed_forms.binary_focal)
        peer = {**balanced, "from_logits": from_logits}
        yield Subject(
            f"binary_focal, {label}",
            focal.binary_focal,
            exact,
            inputs,
            (
                ("Keras", _keras("binary_focal_crossentropy", **peer)),
                ("tf_keras", _tf_keras("binary_focal_crossentropy", **peer)),
            ),
            {"from_logits": from_logits},
        )
    yield Subject(
        "binary_focal, unweighted",
        focal.binary_focal,
        partial(closed_forms.binary_focal, alpha=None, gamma=0.0),
        (logits,),
        (("Keras", _keras("binary_crossentropy", from_logits=True)),),
        {"alpha": None, "gamma": 0.0, "from_logits": True},
    )
    classes = (_one_hot(5, 4), _one_hot(2, 3, 6))
    peer = {**some, "from_logits": True}
    yield Subject(
        "categorical_focal, logits",
        focal.categorical_focal,
        closed_forms.categorical_focal,
        classes,
        (
            ("Keras", _keras("categorical_focal_crossentropy", **peer)),
            ("tf_keras", _tf_keras("categorical_focal_crossentropy", **peer)),
        ),
        {"from_logits": True},
    )
    yield Subject(
        "variance_regularized",
        variance.variance_regularized,
        closed_forms.variance_regularized,
        real,
    )
    yield Subject(
        "sample_variance_penalty",
        lambda t, p: variance.sample_variance_penalty(keras.ops.mean(keras.ops.square(t - p), -1)),
        lambda t, p: closed_forms.sample_variance_penalty(np.mean(np.square(t - p), -1)),
        (_real(4, 3), _real(9, 2)),
    )


_SUBJECTS = (*_overlaps(), *_others())
