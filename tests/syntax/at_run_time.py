"""What kinds of object a value is, as it runs: imported by the code that ``test_inference_run`` runs."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

_CLASSES = {
    "model": (keras.Model,),
    "layer": (keras.layers.Layer,),
    "tensor": (keras.KerasTensor,),
    "eager": (tf.Tensor, np.ndarray),
    "variable": (keras.Variable, tf.Variable),
    "optimizer": (keras.optimizers.Optimizer,),
    "loss": (keras.losses.Loss,),
    "metric": (keras.metrics.Metric,),
    "callback": (keras.callbacks.Callback, keras.callbacks.CallbackList),
    "history": (keras.callbacks.History,),
    "list": (list, tuple),
}
WRONG: list[str] = []


def seen(value, source, kind, cls, item):
    """Return a value, and note it where it is not what was inferred of it.

    ``item`` is the kind of what is in a list. None may stand in place of anything.
    """
    if value is not None and not _is(value, kind, cls, item):
        found = f"{type(value).__module__}.{type(value).__name__}"
        WRONG.append(f"`{source}` is {found}, no {kind} ({cls}, {item})")
    return value


def _is(value, kind, cls, item):
    if isinstance(value, super):
        return True
    if kind in ("tensor", "eager") and cls is None and isinstance(value, list | tuple | dict):
        parts = value.values() if isinstance(value, dict) else value  # what a model gives
        return all(_is(each, kind, None, None) for each in parts)
    if kind == "tensor" and tf.is_tensor(value) and tf.is_symbolic_tensor(value):
        return True  # in a function that is traced
    if not isinstance(value, _CLASSES.get(kind, (object,))):
        return False
    if kind == "list":
        return not value or item is None or all(_is(each, item, None, None) for each in value)
    ancestors = {each.__name__ for each in type(value).__mro__}
    return kind not in ("model", "layer", "optimizer") or cls is None or cls in ancestors
