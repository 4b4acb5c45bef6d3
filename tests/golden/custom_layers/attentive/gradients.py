"""Two attempts to tame gradients."""
import keras.backend as K
from keras import ops
from keras.layers import Dense


class ClippedDense(Dense):
    """Meant to clip its gradients; nobody ever calls `get_updates` of a layer."""

    def __init__(self, units, limit=0.5, **kwargs):
        super(ClippedDense, self).__init__(units, **kwargs)
        self.limit = limit

    def get_updates(self, loss, params):
        gradients = [ops.clip(g, -self.limit, self.limit) for g in K.gradients(loss, params)]
        return [(p, K.update_sub(p, 0.01 * g)) for p, g in zip(params, gradients)]

    def call(self, inputs):
        return ops.relu(super(ClippedDense, self).call(inputs))


def normalised_weight(weight):
    """A copy of `weight` with columns of length one."""
    return ops.normalize(weight, axis=0, order=2, epsilon=1e-6)
