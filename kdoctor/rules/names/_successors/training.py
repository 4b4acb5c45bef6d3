"""Wrappers around training that have moved out of Keras."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rules.names._successors.successor import Successor

_SCIKERAS = (
    "SciKeras must be installed (pip install scikeras); it calls `build_fn` `model`, and wants "
    "arguments of that function named in the call or as `model__name`"
)

ROWS = tuple(
    Successor(
        rewrite(f"keras.wrappers.scikit_learn.{name}", f"scikeras.wrappers.{name}"),
        unsafe_because=_SCIKERAS,
    )
    for name in ("KerasClassifier", "KerasRegressor", "BaseWrapper")
)
