"""Check whether a result shares memory with an argument, by changing it in place.

A copy does not change with its original. Values, dtypes and gradients do not show the difference:
``old = K.identity(w); K.update(w, …); w - old`` is 0 where ``old`` is the variable itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kdoctor.verify.bind_inputs import bind
from kdoctor.verify.frameworks import Side
from kdoctor.verify.results import Different
from kdoctor.verify.values import Array, Role, arrays_in

_MUTABLE = (Role.VARIABLE, Role.NUMPY)
_IN_PLACE = 7  # written over all elements; 3 over those that are equal to it


@dataclass(frozen=True, slots=True)
class Links:
    """How a result shares memory with the variables and arrays that were passed.

    ``is_one``: it is one of them. ``follows``: it changes with them. ``leads``: they change with
    it.
    """

    is_one: bool = False
    follows: bool = False
    leads: bool = False

    def __str__(self) -> str:
        if self.is_one:
            return "the argument itself"
        if self.follows or self.leads:
            return "shares its numbers with the argument"
        return "a copy"


def links(side: Side, call: Callable[[dict[str, Any]], Any], given: dict[str, Any]) -> Links | None:
    """Call eagerly, then change arguments and result in place; None if nothing can be changed.

    Errors of the call propagate.
    """
    arrays = [array for value in given.values() for array in arrays_in(value)]
    passed = [array for array in arrays if array.role in _MUTABLE and array.data.size]
    if not passed:
        return None
    ready = {id(array): _made(side, array) for array in arrays}
    mutable = [ready[id(array)] for array in passed]
    leaves = tf.nest.flatten(call(bind(given, ready)))
    is_one = any(leaf is each for leaf in leaves for each in mutable)
    follows = _follow(leaves, [each for each in mutable if not isinstance(each, np.ndarray)])
    # TensorFlow may copy an array or use it in place; this can differ from call to call.
    own = [leaf for leaf in leaves if not isinstance(leaf, tf.Tensor | tf.SparseTensor)]
    follows |= _follow(own, [each for each in mutable if isinstance(each, np.ndarray)])
    arguments = _read(mutable)
    for leaf in leaves:
        _change(leaf)
    return Links(is_one, follows, leads=not _same(arguments, _read(mutable)))


def compare_links(old: Links | None, new: Links | None) -> None:
    """Raise if one side returns a copy and the other does not.

    Raises:
        Different: in aliasing.
    """
    if old != new:
        raise Different("aliasing", f"{old} -> {new}")


def _follow(leaves: list[Any], originals: list[Any]) -> bool:
    before = _read(leaves)
    for each in originals:
        _change(each)
    return not _same(before, _read(leaves))


def _made(side: Side, array: Array) -> Any:
    match array.role:
        case Role.VARIABLE:
            return side.variable(array.data)
        case Role.NUMPY:
            return array.data.copy()
        case Role.SPARSE:
            return tf.sparse.from_dense(array.data)
    return tf.constant(array.data)


def _read(values: list[Any]) -> list[Any]:
    """Copy the numbers of all values that have any."""
    found = []
    for each in values:
        if isinstance(each, tf.SparseTensor):
            found.append(each.values.numpy())
        elif isinstance(each, keras.Variable | tf.Variable | tf.Tensor):
            found.append(_numbers_of(each))
        elif isinstance(each, np.ndarray | np.generic):
            found.append(np.array(each))
    return found


def _numbers_of(tensor: Any) -> Any:
    # NumPy cannot convert a bfloat16 scalar tensor by itself.
    return np.array(tf.convert_to_tensor(tensor).numpy())


def _change(value: Any) -> None:
    """Overwrite a variable or an array with other numbers; ignore anything else."""
    if isinstance(value, keras.Variable | tf.Variable):
        value.assign(_others(_numbers_of(value)))
    elif isinstance(value, np.ndarray) and value.flags.writeable:
        value[...] = _others(value)


def _others(numbers: Any) -> Any:
    if numbers.dtype == bool:
        return ~numbers
    seven, three = (np.asarray(each, numbers.dtype) for each in (_IN_PLACE, 3))
    return np.where(numbers == seven, three, seven)


def _same(one: list[Any], other: list[Any]) -> bool:
    return all(
        np.array_equal(a.astype("float64"), b.astype("float64"), equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )
