"""Wrappers around training that have moved out of Keras, and the optimizer that scales the loss."""

from __future__ import annotations

from kdoctor.rewrite import equals, rewrite
from kdoctor.rules.names._successors.successor import Successor
from kdoctor.rules.rule import Example

_SCIKERAS = (
    "SciKeras must be installed (pip install scikeras); it names `build_fn` `model`, and arguments "
    "of that function must be named in the call or passed as `model__name`"
)
_SCALED = (
    "no release had both: a custom training loop now calls `scale_loss`, and does not unscale "
    "gradients"
)
_DYNAMIC = Example(
    before="import keras\nimport tensorflow as tf\n\n"
    "optimizer = tf.keras.mixed_precision.experimental.LossScaleOptimizer("
    "keras.optimizers.SGD(0.5), 'dynamic')\n",
    after="import keras\nimport tensorflow as tf\n\n"
    "optimizer = tf.keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.5))\n",
    raises="AttributeError: module 'keras.mixed_precision' has no attribute 'experimental'",
    # As much as a `DynamicLossScale()` of TensorFlow 2.4, to which "dynamic" came down.
    check="weight = tf.Variable(3.0)\noptimizer.apply_gradients([(tf.constant(2.0**15), weight)])\n"
    "assert weight == 2.5 and optimizer.dynamic_scale == 2.0**15\n"
    "assert optimizer.dynamic_growth_steps == 2000",
    unsafe=True,
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
        _DYNAMIC,
        unsafe_because=_SCALED,
    ),
)
