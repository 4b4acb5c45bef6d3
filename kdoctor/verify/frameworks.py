"""Run one side of a rewrite in one mode: eagerly, in a ``tf.function``, or on symbolic tensors.

Both sides run in the same process on the same TensorFlow; only Keras differs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras

from kdoctor.verify.bind_inputs import WEIGHTS, batched, bind, check_promise, promised
from kdoctor.verify.results import Ran, Result, to_result
from kdoctor.verify.values import FLOATS, Array, Role, arrays_in


@dataclass(frozen=True, slots=True)
class Side:
    """One framework's way to make variables and symbolic tensors."""

    variable: Callable[[Any], Any]
    symbolic: Callable[[tuple[int | None, ...], str], Any]
    function_of: Callable[[list[Any], Any], Callable[[list[Any]], Any]]


OLD = Side(
    variable=tf.Variable,
    symbolic=lambda shape, dtype: tf_keras.Input(batch_shape=shape, dtype=dtype),
    function_of=tf_keras.Model,
)
NEW = Side(
    variable=lambda data: keras.Variable(data, dtype=data.dtype.name),
    symbolic=lambda shape, dtype: keras.Input(batch_shape=shape, dtype=dtype),
    function_of=keras.Function,
)


def run(side: Side, mode: str, call: Callable[[dict[str, Any]], Any], given: dict[str, Any]) -> Ran:
    """Run one side; its errors propagate.

    Raises:
        Different: the shape of a symbolic result contradicts the real one.
    """
    arrays = [(name, array) for name, value in given.items() for array in arrays_in(value)]
    ready = {
        id(array): side.variable(array.data) for _, array in arrays if array.role is Role.VARIABLE
    }
    variables = list(ready.values())
    ready |= {id(array): array.data for _, array in arrays if array.role is Role.NUMPY}
    free = [(name, array) for name, array in arrays if array.role is Role.TENSOR]
    sparse = [(name, array) for name, array in arrays if array.role is Role.SPARSE]
    if mode.startswith("symbolic"):
        result = _symbolic(side, mode, call, given, free, ready)
        return Ran(to_result(result), (), tuple(map(to_result, variables)))
    fed = [tf.constant(array.data) for _, array in free]
    fed += [tf.sparse.from_dense(array.data) for _, array in sparse]
    free += sparse

    plain: list[Any] = []

    def compute(*tensors: Any) -> Any:
        inputs = ready | {
            id(array): tensor for (_, array), tensor in zip(free, tensors, strict=True)
        }
        result = call(bind(given, inputs))
        if mode != "eager" and any(result is variable for variable in variables):
            result = tf.convert_to_tensor(result)  # a graph returns only tensors
        if mode.startswith("function") and not _holds_tensors(result):
            plain.append(result)  # a tf.function would convert it to a tensor
            return None
        return result

    if mode.startswith("function"):
        specs = [
            _spec(tensor, promised(mode, array, name, free))
            for (name, array), tensor in zip(free, fed, strict=True)
        ]  # fmt: skip
        compute = tf.function(compute, input_signature=specs, autograph=False)
    ran = _with_gradients(compute, fed, variables)
    return replace(ran, result=to_result(plain[-1])) if plain else ran


def _spec(tensor: Any, shape: tuple[int | None, ...] | None) -> Any:
    kind = tf.SparseTensorSpec if isinstance(tensor, tf.SparseTensor) else tf.TensorSpec
    return kind(shape, tensor.dtype)


def _symbolic(  # noqa: PLR0913, PLR0917
    side: Side,
    mode: str,
    call: Callable[[dict[str, Any]], Any],
    given: dict[str, Any],
    free: list[tuple[str, Array]],
    ready: dict[int, Any],
) -> Any:
    movable = [(name, array) for name, array in free if name not in WEIGHTS]
    ready = ready | {id(array): tf.constant(array.data) for name, array in free if name in WEIGHTS}
    inputs = [
        side.symbolic(
            batched(array, name, movable) if mode.endswith("batch") else array.data.shape,
            array.dtype,
        )
        for name, array in movable
    ]
    by_array = {id(array): tensor for (_, array), tensor in zip(movable, inputs, strict=True)}
    outputs = call(bind(given, ready | by_array))
    if not _is_symbolic(outputs):
        return outputs
    values = side.function_of(inputs, outputs)([tf.constant(array.data) for _, array in movable])
    # A Keras 2 model unpacks a list with one result, the call itself does not.
    values = tf.nest.pack_sequence_as(outputs, tf.nest.flatten(values))
    check_promise(outputs, values)
    return values


def _with_gradients(compute: Callable[..., Any], fed: list[Any], variables: list[Any]) -> Ran:
    sources = [
        tensor for tensor in fed
        if isinstance(tensor, tf.Tensor) and tensor.dtype.name in FLOATS
    ]  # fmt: skip
    sources += [_raw(v) for v in variables if _raw(v).dtype.name in FLOATS]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outputs = compute(*fed)
        loss = _weighted_sum(outputs)
    gradients: tuple[Result | None, ...] = ()
    if loss is not None and sources:
        found = tape.gradient(loss, sources)
        gradients = tuple(None if each is None else to_result(each) for each in found)
    return Ran(to_result(outputs), gradients, tuple(map(to_result, variables)))


def _weighted_sum(outputs: Any) -> Any:
    """Return a weighted sum of all floating results, with a different weight for each number."""
    parts = [
        each for each in tf.nest.flatten(outputs)
        if isinstance(each, tf.Tensor) and each.dtype.name in FLOATS
    ]  # fmt: skip
    total = None
    for part in parts:
        weights = np.linspace(0.5, 1.5, int(np.prod(part.shape))).reshape(part.shape)
        term = tf.reduce_sum(part * tf.constant(weights, part.dtype))
        term = tf.cast(term, "float64")
        total = term if total is None else total + term
    return total


def _holds_tensors(result: Any) -> bool:
    return any(tf.is_tensor(each) for each in tf.nest.flatten(result))


def _raw(variable: Any) -> Any:
    return variable.value if isinstance(variable, keras.Variable) else variable


def _is_symbolic(outputs: Any) -> bool:
    flat = tf.nest.flatten(outputs)
    return any(
        isinstance(each, keras.KerasTensor) or tf_keras.backend.is_keras_tensor(each)
        for each in flat
        if isinstance(each, keras.KerasTensor) or _may_be_keras_2(each)
    )


def _may_be_keras_2(value: Any) -> bool:
    return type(value).__module__.startswith("tf_keras") and hasattr(value, "type_spec")
