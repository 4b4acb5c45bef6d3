"""Wrappers around training that have moved out of Keras, and the optimizer that scales the loss."""

from __future__ import annotations

from kdoctor.rewrite import equals, rewrite
from kdoctor.rules.names._successors.successor import Successor

_SCIKERAS = (
    "SciKeras must be installed (pip install scikeras); it names `build_fn` `model`, and arguments "
    "of that function must be named in the call or passed as `model__name`"
)
_SCALED = (
    "no release had both: a custom training loop now calls `scale_loss`, and does not unscale "
    "gradients"
)

ROWS = (
    *(
        Successor(
            rewrite(f"keras.wrappers.scikit_learn.{name}", f"scikeras.wrappers.{name}"),
            unsafe_because=_SCIKERAS,
        )
        for name in ("KerasClassifier", "KerasRegressor", "BaseWrapper")
    ),
    # The second parameter is `initial_scale` now.
    Successor(
        rewrite(
            "keras.mixed_precision.experimental.LossScaleOptimizer("
            "optimizer, loss_scale='dynamic')",
            "keras.mixed_precision.LossScaleOptimizer(optimizer)",
            equals("loss_scale", "dynamic"),
        ),
        unsafe_because=_SCALED,
    ),
)
