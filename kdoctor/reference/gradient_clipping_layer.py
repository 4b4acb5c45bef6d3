"""A layer that changes nothing forward and clips the gradient that flows backward through it.

With the gradient g that comes from above, a tensor of the shape of the input:

    by value   max(−v, min(v, g))
    by norm    g · min(1, c / ‖g‖₂)      Pascanu et al. 2013, arXiv:1211.5063, algorithm 1

What is clipped is the gradient of the loss with respect to this activation, of the whole batch:
all that lies below gets less. To clip the gradients of *weights*, use the optimizer's
``clipvalue``, ``clipnorm`` or ``global_clipnorm`` (see `clipping`).
"""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="reference")
class GradientClipping(keras.layers.Layer):
    """The identity, with a clipped gradient.

    Args:
        clipvalue: v > 0, or None.
        clipnorm: c > 0, or None; where both are given, the values are clipped first.
    """

    def __init__(self, clipvalue=None, clipnorm=None, **kwargs):
        super().__init__(**kwargs)
        for limit in (clipvalue, clipnorm):
            if limit is not None and limit <= 0:
                raise ValueError(f"a limit must be > 0, not {limit}")
        self.clipvalue = clipvalue
        self.clipnorm = clipnorm
        self.supports_masking = True

    def call(self, inputs):
        """Return ``inputs``."""
        return self._identity(inputs)

    def _identity(self, inputs):
        @ops.custom_gradient
        def identity(x):
            def gradient(*args, upstream=None):
                # TensorFlow and JAX give the upstream gradient alone; PyTorch names it.
                upstream = args[-1] if upstream is None else upstream
                return self.clipped(upstream)

            return ops.copy(x), gradient

        return identity(inputs)

    def clipped(self, gradient):
        """Return the gradient within the limits; NaN stays NaN."""
        if self.clipvalue is not None:
            gradient = ops.clip(gradient, -self.clipvalue, self.clipvalue)
        if self.clipnorm is not None:
            # Squares of float16 are infinite beyond 255.
            wide = ops.cast(gradient, keras.backend.result_type(gradient.dtype, "float32"))
            norm = ops.sqrt(ops.sum(ops.square(wide)))
            factor = self.clipnorm / ops.maximum(norm, self.clipnorm)
            gradient = ops.cast(wide * factor, gradient.dtype)
        return gradient

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return what makes the same layer again."""
        return {**super().get_config(), "clipvalue": self.clipvalue, "clipnorm": self.clipnorm}
