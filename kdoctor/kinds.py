"""Light types: what kind of object an expression is, as far as local inference can tell."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Kind(enum.StrEnum):
    """The kinds of object that rules tell apart."""

    MODEL = "model"
    LAYER = "layer"
    TENSOR = "tensor"  # a Keras symbolic tensor (``keras.Input``, a layer's output while building)
    EAGER = "eager"  # a plain framework tensor with values, never symbolic
    VARIABLE = "variable"  # a weight
    OPTIMIZER = "optimizer"
    LOSS = "loss"
    METRIC = "metric"
    CALLBACK = "callback"
    HISTORY = "history"  # what ``fit`` returns
    KERAS_HISTORY = "keras_history"  # ``tensor._keras_history``
    LIST = "list"  # of ``Type.item``


@dataclass(frozen=True, slots=True)
class Type:
    """An inferred type.

    ``cls`` is the class as Keras' own messages name it (``Sequential``, ``Functional``, ``Dense``,
    or the user's class), None where only the kind is known. ``qualified`` is its dotted name,
    where it was imported. ``item`` is the type of a list's elements.
    """

    kind: Kind
    cls: str | None = None
    qualified: str | None = None
    item: Type | None = None
