"""Find what couples a module to TensorFlow, by what its names are bound to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kdoctor.keras_api import newest_target, oracle, split_root
from kdoctor.progress.model import Coupling, CouplingKind
from kdoctor.syntax import Module, Reference, ReferenceKind

_TENSORFLOW = "tensorflow"

IMPORTED = Coupling("import tensorflow", CouplingKind.OWN)


def is_of_keras(reference: Reference) -> bool:
    """Say whether something imported is Keras, or of it, under any of its roots."""
    return split_root(reference.name) is not None


def ties_of(module: Module) -> Iterator[Coupling]:
    """Yield what ties a module to TensorFlow, once for each import and use.

    An import for which a fallback does the work ties nothing, nor does what the target never gets
    to, or a type checker alone reads.
    """
    for reference in module.references:
        if reference.kind is ReferenceKind.ANNOTATION_STRING:
            continue
        tie = tie_of(reference.name)
        if tie == IMPORTED and reference.kind is not ReferenceKind.IMPORT:
            tie = Coupling("tf", CouplingKind.OWN)  # the module as an object
        if tie is not None and not module.is_guarded(reference.node):
            yield tie


@cache
def tie_of(name: str) -> Coupling | None:
    """Return how a dotted name, as it was imported, ties to TensorFlow, None where it does not.

    >>> tie_of("tensorflow.data.Dataset.from_tensors")
    Tie(name='tf.data', kind=<TieKind.OWN: 'TensorFlow itself'>)
    """
    first, _, rest = name.partition(".")
    if first == "tf_keras":
        return Coupling(first, CouplingKind.KERAS_2)
    split = split_root(name)
    if split is not None and first == _TENSORFLOW:
        return Coupling(split[0], CouplingKind.KERAS)
    if first == _TENSORFLOW:
        return Coupling(f"tf.{_part(rest)}", CouplingKind.OWN) if rest else IMPORTED
    if first.startswith("tensorflow_"):
        return Coupling(first, CouplingKind.PACKAGE)
    if split is not None and split[0] == "keras" and _is_gone_from_backend(name):
        return Coupling(".".join(name.split(".")[:3]), CouplingKind.BACKEND)
    return None


def _part(rest: str) -> str:
    """Return ``data`` for ``data.Dataset``, ``compat.v1`` for ``compat.v1.Session``."""
    parts = rest.split(".")
    return ".".join(parts[: 2 if parts[0] == "compat" else 1])


@cache
def _is_gone_from_backend(name: str) -> bool:
    parts = name.split(".")
    is_backend = parts[1:2] == ["backend"] and len(parts) > 2
    return is_backend and oracle(newest_target()).exists(".".join(parts[:3])) is False
