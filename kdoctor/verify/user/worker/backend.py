"""What a backend is asked for."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# A value that was computed by a compiled call is compared with the value of an ordinary one.
COMPILED = ", compiled"
IN_A_GRAPH = " in a graph"


class Backend(abc.ABC):
    """One backend of Keras. Its framework is imported, and the backend of this process.

    ``title`` is its name in messages. ``narrowed`` holds pairs of dtypes: a result of the first on
    TensorFlow may have the second here, as Keras computes in 32 bits by default. It may compile all
    calls, as Keras does in training, have graphs of ``tf.function``, or sparse gradients.
    """

    title: str
    narrowed: frozenset[tuple[str, str]] = frozenset()
    compiles_calls = False
    has_graphs = False
    has_sparse_gradients = False

    @abc.abstractmethod
    def tensor(self, array: np.ndarray) -> Any:
        """Convert an array to a tensor of the same dtype."""

    @abc.abstractmethod
    def is_tensor(self, value: Any) -> bool:
        """Say whether a value is a tensor of this backend."""

    @abc.abstractmethod
    def differentiate(
        self,
        call: Callable[[Any], Any],
        given: Any,
        variables: Sequence[Any] = (),
        *,
        wanted: bool = True,
    ) -> tuple[Any, list[Any] | None]:
        """Call a function with a tensor or a list of tensors; return its value and its gradients.

        The gradients are those of the weighted sum of all floating results, for the floating
        tensors and then for the variables: None each, where there is no way from one to the other.
        There is no list of them if they are not ``wanted``, or if no result is floating. The state
        of variables changes once, as by one call.
        """

    @abc.abstractmethod
    def compiled(self, name: str, call: Callable[[Any], Any], given: Any) -> dict[str, Any]:
        """Return the value of a compiled call under its name; empty if nothing is compiled here.

        No variable changes.
        """

    def calls_of_tensorflow(self) -> bool:
        """Say whether a tensor of this backend was handed to a function of TensorFlow."""
        return False


def leaves(structure: Any) -> list[Any]:
    """Return the leaves of nested lists, tuples and dicts; dicts in the order of their keys."""
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in leaves(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [leaf for each in structure for leaf in leaves(each)]
    return [structure]


def with_tensors(given: Any, places: Sequence[int], tensors: Sequence[Any]) -> Any:
    """Return a tensor, or a list or dict of tensors, with others in some of its places."""
    if isinstance(given, dict):
        names = sorted(given)  # as their leaves are
        return {**given, **{names[place]: each for place, each in zip(places, tensors)}}  # noqa: B905
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    for place, tensor in zip(places, tensors):  # noqa: B905 - strict= is of Python 3.10
        found[place] = tensor
    return found if isinstance(given, (list, tuple)) else found[0]
