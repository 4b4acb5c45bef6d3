"""Rewritten wrongly on purpose, each in one way: ``NAME__HOW`` is not ``NAME`` of ``originals``."""

import keras
import tensorflow as tf
from keras import layers, ops
from keras.layers import Activation, Add, BatchNormalization, Conv2D, Dense, Input, Layer
from keras.losses import Loss
from keras.metrics import Metric
from keras.models import Model


def dice__axis(y_true, y_pred, smooth=1.0):
    both = ops.sum(y_true * y_pred, axis=-1)
    return (2.0 * both + smooth) / (ops.sum(y_true, axis=-1) + ops.sum(y_pred, axis=-1) + smooth)


def dice__smooth(y_true, y_pred, smooth=1e-7):
    both = ops.sum(y_true * y_pred)
    return (2.0 * both + smooth) / (ops.sum(y_true) + ops.sum(y_pred) + smooth)


def dice__mean(y_true, y_pred, smooth=1.0):
    both = ops.mean(y_true * y_pred)
    return (2.0 * both + smooth) / (ops.mean(y_true) + ops.mean(y_pred) + smooth)


def dice__dropped_gradient(y_true, y_pred, smooth=1.0):
    both = ops.sum(y_true * y_pred)
    below = ops.stop_gradient(ops.sum(y_true) + ops.sum(y_pred) + smooth)
    return (2.0 * both + smooth) / below


def image_dice__axes(y_true, y_pred, smooth=1e-3):
    both = ops.sum(y_true * y_pred, axis=(0, 1))
    whole = ops.sum(y_true, axis=(0, 1)) + ops.sum(y_pred, axis=(0, 1))
    return ops.mean((2.0 * both + smooth) / (whole + smooth), axis=-1)


def image_dice__keepdims(y_true, y_pred, smooth=1e-3):
    both = ops.sum(y_true * y_pred, axis=(1, 2), keepdims=True)
    whole = ops.sum(y_true + y_pred, axis=(1, 2), keepdims=True)
    return ops.mean((2.0 * both + smooth) / (whole + smooth), axis=-1)


def entropy__epsilon(y_true, y_pred):
    y_pred = ops.clip(y_pred, 1e-6, 1.0 - 1e-6)
    return -ops.sum(y_true * ops.log(y_pred), axis=-1)


def entropy__no_clip(y_true, y_pred):
    return -ops.sum(y_true * ops.log(y_pred), axis=-1)


def entropy__swapped_arguments(y_true, y_pred):
    y_true = ops.clip(y_true, keras.config.epsilon(), 1.0 - keras.config.epsilon())
    return -ops.sum(y_pred * ops.log(y_true), axis=-1)


def entropy__sign(y_true, y_pred):
    y_pred = ops.clip(y_pred, keras.config.epsilon(), 1.0 - keras.config.epsilon())
    return ops.sum(y_true * ops.log(y_pred), axis=-1)


def focal__power(gamma=2.0, alpha=0.25):
    def loss(y_true, y_pred):
        p = ops.clip(y_pred, keras.config.epsilon(), 1.0 - keras.config.epsilon())
        return ops.sum(-alpha * y_true * ops.power(gamma, 1.0 - p) * ops.log(p), axis=-1)

    return loss


def focal__stopped(gamma=2.0, alpha=0.25):
    def loss(y_true, y_pred):
        p = ops.clip(y_pred, keras.config.epsilon(), 1.0 - keras.config.epsilon())
        factor = ops.stop_gradient(ops.power(1.0 - p, gamma))
        return ops.sum(-alpha * y_true * factor * ops.log(p), axis=-1)

    return loss


def huber__branches(y_true, y_pred, delta=1.0):
    e = y_true - y_pred
    line = delta * (ops.abs(e) - 0.5 * delta)
    return ops.mean(ops.where(ops.abs(e) <= delta, line, 0.5 * ops.square(e)), axis=-1)


def huber__bound(y_true, y_pred, delta=1.0):
    e = y_true - y_pred
    line = delta * (ops.abs(e) - 0.5 * delta)
    return ops.mean(ops.where(e <= delta, 0.5 * ops.square(e), line), axis=-1)


def huber__whole(y_true, y_pred, delta=1.0):
    e = y_true - y_pred
    line = delta * (ops.abs(e) - 0.5 * delta)
    return ops.mean(ops.where(ops.abs(e) <= delta, 0.5 * ops.square(e), line))


def euclid__keepdims(y_true, y_pred):
    total = ops.sum(ops.square(y_true - y_pred), axis=-1)
    return ops.sqrt(ops.maximum(total, keras.config.epsilon()))


def euclid__epsilon(y_true, y_pred):
    total = ops.sum(ops.square(y_true - y_pred), axis=-1, keepdims=True)
    return ops.sqrt(total)


def contrastive__minimum(y_true, y_pred):
    near = y_true * ops.square(y_pred)
    far = (1.0 - y_true) * ops.square(ops.minimum(1.0 - y_pred, 0.0))
    return ops.mean(near + far)


def accuracy__axis(y_true, y_pred):
    hits = ops.equal(ops.argmax(y_true, axis=0), ops.argmax(y_pred, axis=0))
    return ops.mean(ops.cast(hits, "float32"))


def accuracy__dtype(y_true, y_pred):
    hits = ops.equal(ops.argmax(y_true, axis=-1), ops.argmax(y_pred, axis=-1))
    return ops.mean(ops.cast(hits, "float16"))


def recall__no_round(y_true, y_pred):
    hits = ops.sum(ops.clip(y_true * y_pred, 0, 1))
    return hits / (ops.sum(ops.round(ops.clip(y_true, 0, 1))) + keras.config.epsilon())


def recall__predicted(y_true, y_pred):
    hits = ops.sum(ops.round(ops.clip(y_true * y_pred, 0, 1)))
    return hits / (ops.sum(ops.round(ops.clip(y_pred, 0, 1))) + keras.config.epsilon())


def detached__attached(y_true, y_pred):
    weight = ops.abs(y_true - y_pred)
    return ops.mean(weight * ops.square(y_true - y_pred), axis=-1)


def smooth_l1__integers(y_true, y_pred):
    d = ops.abs(y_true - y_pred)
    small = ops.cast(ops.less(d, 1.0), "float32")
    return ops.sum(small * (1 // 2) * d * d + (1.0 - small) * (d - 0.5), axis=-1)


def swish__stopped(x):
    return x * ops.stop_gradient(ops.sigmoid(x))


def swish__hard(x):
    return x * ops.hard_sigmoid(x)


def mish__softsign(x):
    return x * ops.tanh(ops.softsign(x))


def squash__keepdims(x, axis=-1):
    size = ops.sum(ops.square(x))
    return size / (1.0 + size) * x / ops.sqrt(size + keras.config.epsilon())


def stretched__no_slope(x):
    return ops.clip(x, 0.0, 2.0)


def turned__reshaped(x):
    if len(x.shape) == 2:
        return ops.expand_dims(x, 1)
    return ops.exp(x)


def standardised__axis(x):
    mean, std = ops.mean(x, axis=0, keepdims=True), ops.std(x, axis=0, keepdims=True)
    return (x - mean) / (std + 1e-3)


class Scale__frozen(Layer):
    def build(self, input_shape):
        self.gamma = self.add_weight(
            name="gamma", shape=(input_shape[-1],), initializer="ones", trainable=False
        )
        self.beta = self.add_weight(name="beta", shape=(input_shape[-1],), initializer="zeros")

    def call(self, inputs):
        return inputs * self.gamma + self.beta


class Scale__start(Layer):
    def build(self, input_shape):
        self.gamma = self.add_weight(name="gamma", shape=(input_shape[-1],), initializer="zeros")
        self.beta = self.add_weight(name="beta", shape=(input_shape[-1],), initializer="zeros")

    def call(self, inputs):
        return inputs * self.gamma + self.beta


class Projection__transposed(Layer):
    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        shape = (input_shape[-1], self.units)
        self.kernel = self.add_weight(name="kernel", shape=shape, initializer="glorot_uniform")

    def call(self, x):
        size = input_size = self.kernel.shape[0]
        turned = ops.reshape(ops.transpose(self.kernel), (size, self.units))
        return ops.matmul(x[..., :input_size], turned)


class Attention__softmax_axis(Layer):
    def build(self, input_shape):
        self.w = self.add_weight(name="w", shape=(input_shape[-1], 1), initializer="random_normal")

    def call(self, x):
        scores = ops.softmax(ops.tanh(ops.matmul(x, self.w)), axis=-1)
        return ops.sum(x * scores, axis=1)


class Norm__epsilon(Layer):
    def build(self, input_shape):
        self.gain = self.add_weight(name="gain", shape=input_shape[-1:], initializer="ones")

    def call(self, x):
        mean = ops.mean(x, axis=-1, keepdims=True)
        var = ops.mean(ops.square(x - mean), axis=-1, keepdims=True)
        return self.gain * (x - mean) / ops.sqrt(var + 1e-3)


class Gate__training(Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.open = Dense(units, activation="sigmoid")
        self.value = Dense(units, activation="tanh")

    def call(self, x, training=False):
        opened = self.open(x)
        return (opened * 0.9 if training else opened) * self.value(x)


class Counter__still(Layer):
    def build(self, input_shape):
        size = (input_shape[-1],)
        self.mean = self.add_weight(name="mean", shape=size, initializer="zeros", trainable=False)

    def call(self, x):
        return x - self.mean


class Quantile__abs(Loss):
    def __init__(self, q=0.7, **kwargs):
        super().__init__(**kwargs)
        self.q = q

    def call(self, y_true, y_pred):
        return ops.mean(self.q * ops.abs(y_true - y_pred), axis=-1)


class Hits__forgets(Metric):
    def __init__(self, name="hits", **kwargs):
        super().__init__(name=name, **kwargs)
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.count.assign(ops.sum(ops.cast(ops.greater(y_true * y_pred, 0.25), "float32")))

    def result(self):
        return self.count


def block__no_norm(x, filters=4):
    y = Conv2D(filters, 3, padding="same")(x)
    y = BatchNormalization(epsilon=0.1)(y)
    y = Activation("relu")(y)
    return Conv2D(filters, 1)(y)


def network__activation(width=6):
    start = Input((5,))
    x = Dense(width, activation="relu", name="first")(start)
    x = Dense(width, activation="sigmoid", name="second")(x)
    return Model(start, Dense(1, name="last")(x))


def residual__slope(width=4):
    start = Input((8, 8, 3))
    x = Conv2D(width, 3, padding="same", name="in")(start)
    y = BatchNormalization(name="bn")(x)
    x = Add(name="sum")([x, layers.LeakyReLU(negative_slope=0.3, name="leaky")(y)])
    x = layers.GlobalAveragePooling2D(name="pool")(x)
    return Model(start, Dense(2, activation="softmax", name="out")(x))


class Mix__order(keras.Model):
    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.one, self.two = Dense(width), Dense(width)

    def call(self, x):
        return tf.concat([self.two(x), self.one(x)], axis=-1)
