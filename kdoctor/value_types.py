"""Inferred types of expressions, and the context that a line runs in."""

from __future__ import annotations

import enum
from typing import Final

from msgspec import Struct


class Kind(enum.StrEnum):
    """The kinds of objects that rules distinguish."""

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
    CALLABLE = "callable"  # that may give ``Type.item``; of may-types alone


class Type(Struct, frozen=True):
    """An inferred type.

    ``cls`` is the class as Keras' own messages name it (``Sequential``, ``Functional``, ``Dense``,
    or the user's class), None where only the kind is known. ``qualified`` is its dotted name,
    where it was imported; for a user's class that of its nearest imported base. ``item`` is the
    type of a list's elements.
    """

    kind: Kind
    cls: str | None = None
    qualified: str | None = None
    item: Type | None = None

    @property
    def is_of_imported_class(self) -> bool:
        """Whether its class is the imported one itself, not a user's subclass."""
        return self.cls is not None and (self.qualified or "").rpartition(".")[2] == self.cls

    @property
    def is_tf_variable(self) -> bool:
        """Whether it is a `tf.Variable`, which is not a ``keras.Variable``."""
        return self.kind is Kind.VARIABLE and self.cls == TF_VARIABLE


class Observation(Struct, frozen=True):
    """What a name was seen to hold as the program ran.

    ``path`` is absolute, without links. ``function`` is qualified as Python does (``Model.call``),
    "" for a module; a ``name`` with a dot before it is an attribute of objects of the file's own
    classes, whose ``function`` is "". Of an array or a table, ``axes`` is its rank, ``numbers`` the
    kind of its elements (``bool``, ``int``, ``float``), ``form`` what it is: ``array``, ``column``
    or ``frame``, "" of anything else. ``raised`` is the error that a call in the function raised,
    of code that is not the user's own; ``name`` is "" then.
    """

    path: str
    function: str
    name: str
    type: Type | None = None
    form: str = ""
    axes: int | None = None
    numbers: str = ""
    raised: str = ""


class ReceiverHint(Struct, frozen=True):
    """What a call of a method tells of what it is called on, where another one tells it as well.

    ``group``: two calls of one group tell no more than one. ``of_no_other``: things of hardly any
    other type have such a method; one of the calls must be so.
    """

    type: Type
    group: str
    of_no_other: bool


TF_VARIABLE: Final = "ResourceVariable"
EAGER_TENSOR: Final = Type(Kind.EAGER, "EagerTensor")
# What a layer or model makes of tensors with values, where it may give several: one, or a list.
EAGER_TENSORS: Final = Type(Kind.EAGER)


class Context(enum.StrEnum):
    """The context a line runs in, if known: the right fix can depend on it."""

    FUNCTIONAL = "functional"  # works on symbolic tensors while a model is built
    CALL = "call"  # inside `Layer.call` and its like, on tensors of either sort
    LOSS_OR_METRIC = "loss_or_metric"  # on `y_true` and `y_pred`
    TRAIN_LOOP = "train_loop"  # inside a hand-written training step, under a gradient tape
    EAGER = "eager"  # on arrays and constants
    UNKNOWN = "unknown"
