from keras import ops

from .backend import initializers, regularizers
from .base import ScaledLayer


class WordAttention(ScaledLayer):
    """(batch, steps, features) -> (batch, features): the weighted mean of the steps."""

    def __init__(self, units, W_reg=None, **kwargs):
        self.units = units
        self.W_reg = regularizers.get(W_reg)
        self.init = initializers.get('glorot_uniform')
        super(WordAttention, self).__init__(**kwargs)

    def build(self, input_shape):
        features = int(input_shape[-1])
        self.W = self.add_weight(name='W', shape=(features, self.units),
                                 initializer=self.init, regularizer=self.W_reg)
        self.b = self.add_weight(name='b', shape=(self.units,), initializer='zeros')
        self.u = self.add_weight(name='u', shape=(self.units, 1), initializer=self.init)
        super(WordAttention, self).build(input_shape)

    def call(self, x, mask=None):
        hidden = ops.tanh(ops.dot(x, self.W) + self.b)
        scores = ops.squeeze(ops.dot(hidden, self.u), axis=-1)
        weights = self.normalise(scores, mask)
        return ops.sum(x * ops.expand_dims(weights, axis=-1), axis=1)

    def compute_mask(self, inputs, mask=None):
        return None

    def compute_output_shape(self, input_shape):
        return input_shape[0], input_shape[-1]


class DotAttention(ScaledLayer):
    """[query, keys]: (batch, features), (batch, steps, features) -> (batch, features)."""

    def call(self, inputs):
        query, keys = inputs
        scores = ops.sum(ops.expand_dims(query, 1) * keys, axis=-1)  # one score a step
        scores = self.scale(scores, keys.shape[-1])
        weights = ops.softmax(scores)
        flipped = ops.transpose(keys, (0, 2, 1))
        return ops.sum(flipped * ops.expand_dims(weights, axis=1), axis=-1)

    def compute_output_shape(self, input_shape):
        return input_shape[0]
