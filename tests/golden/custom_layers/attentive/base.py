from .backend import K, Layer
from keras import ops


class ScaledLayer(Layer):
    """A layer whose scores are divided by the square root of their width."""

    def __init__(self, temperature=1.0, **kwargs):
        super(ScaledLayer, self).__init__(**kwargs)
        self.temperature = temperature
        self.supports_masking = True

    def scale(self, scores, width):
        return scores / (self.temperature * width ** 0.5)

    def normalise(self, scores, mask=None):
        weights = ops.exp(scores - ops.max(scores, axis=1, keepdims=True))
        if mask is not None:
            weights = weights * ops.cast(mask, K.floatx())
        return weights / (ops.sum(weights, axis=1, keepdims=True) + K.epsilon())

    def get_config(self):
        config = super(ScaledLayer, self).get_config()
        config['temperature'] = self.temperature
        return config
