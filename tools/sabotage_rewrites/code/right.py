"""The same on Keras 3, rewritten rightly: ``NAME__HOW`` is ``NAME`` of ``originals``."""

import keras
import tensorflow as tf
from keras import layers, ops
from keras.layers import Activation, Add, BatchNormalization, Conv2D, Dense, Input, Layer
from keras.losses import Loss
from keras.metrics import Metric
from keras.models import Model


def dice__ops(y_true, y_pred, smooth=1.0):
    both = ops.sum(y_true * y_pred)
    return (2.0 * both + smooth) / (ops.sum(y_true) + ops.sum(y_pred) + smooth)


def dice__flat(y_true, y_pred, smooth=1.0):
    a, b = ops.reshape(y_true, (-1,)), ops.reshape(y_pred, (-1,))
    return (2.0 * ops.dot(a, b) + smooth) / (ops.sum(a) + ops.sum(b) + smooth)


def dice__tf(y_true, y_pred, smooth=1.0):
    both = tf.reduce_sum(tf.multiply(y_true, y_pred))
    return (2.0 * both + smooth) / (tf.reduce_sum(y_true) + tf.reduce_sum(y_pred) + smooth)


def image_dice__ops(y_true, y_pred, smooth=1e-3):
    both = ops.sum(y_true * y_pred, axis=(1, 2))
    whole = ops.sum(y_true, axis=(1, 2)) + ops.sum(y_pred, axis=(1, 2))
    return ops.mean((2.0 * both + smooth) / (whole + smooth), axis=-1)


def image_dice__lists(y_true, y_pred, smooth=1e-3):
    both = ops.sum(ops.multiply(y_true, y_pred), axis=[1, 2])
    whole = ops.sum(y_true + y_pred, axis=[1, 2])
    return ops.mean(ops.divide(2.0 * both + smooth, whole + smooth), axis=-1)


def entropy__ops(y_true, y_pred):
    y_pred = ops.clip(y_pred, keras.config.epsilon(), 1.0 - keras.config.epsilon())
    return -ops.sum(y_true * ops.log(y_pred), axis=-1)


def entropy__backend(y_true, y_pred):
    bound = keras.backend.epsilon()
    return ops.sum(-y_true * ops.log(ops.clip(y_pred, bound, 1.0 - bound)), axis=-1)


def focal__ops(gamma=2.0, alpha=0.25):
    def loss(y_true, y_pred):
        p = ops.clip(y_pred, keras.config.epsilon(), 1.0 - keras.config.epsilon())
        return ops.sum(-alpha * y_true * ops.power(1.0 - p, gamma) * ops.log(p), axis=-1)

    return loss


def focal__factored(gamma=2.0, alpha=0.25):
    def inner(y_true, y_pred):
        p = ops.clip(y_pred, 1e-7, 1.0 - 1e-7)
        return -alpha * ops.sum(y_true * (1.0 - p) ** gamma * ops.log(p), axis=-1)

    return inner


def huber__where(y_true, y_pred, delta=1.0):
    e = y_true - y_pred
    line = delta * (ops.abs(e) - 0.5 * delta)
    return ops.mean(ops.where(ops.abs(e) <= delta, 0.5 * ops.square(e), line), axis=-1)


def huber__swapped(y_true, y_pred, delta=1.0):
    e = y_true - y_pred
    line = delta * (ops.abs(e) - 0.5 * delta)
    return ops.mean(ops.where(ops.abs(e) > delta, line, 0.5 * e * e), axis=-1)


def huber__tf(y_true, y_pred, delta=1.0):
    e = tf.subtract(y_true, y_pred)
    line = delta * (tf.abs(e) - 0.5 * delta)
    return tf.reduce_mean(tf.where(tf.abs(e) <= delta, 0.5 * tf.square(e), line), axis=-1)


def euclid__ops(y_true, y_pred):
    total = ops.sum(ops.square(y_true - y_pred), axis=-1, keepdims=True)
    return ops.sqrt(ops.maximum(total, keras.config.epsilon()))


def euclid__expanded(y_true, y_pred):
    total = ops.expand_dims(ops.sum((y_true - y_pred) ** 2, axis=-1), -1)
    return ops.sqrt(ops.maximum(total, 1e-7))


def contrastive__ops(y_true, y_pred):
    near = y_true * ops.square(y_pred)
    far = (1.0 - y_true) * ops.square(ops.maximum(1.0 - y_pred, 0.0))
    return ops.mean(near + far)


def contrastive__relu(y_true, y_pred):
    far = ops.square(ops.relu(1.0 - y_pred))
    return ops.mean(y_true * ops.square(y_pred) + (1.0 - y_true) * far)


def accuracy__ops(y_true, y_pred):
    hits = ops.equal(ops.argmax(y_true, axis=-1), ops.argmax(y_pred, axis=-1))
    return ops.mean(ops.cast(hits, "float32"))


def accuracy__where(y_true, y_pred):
    hits = ops.argmax(y_true, axis=-1) == ops.argmax(y_pred, axis=-1)
    return ops.mean(ops.where(hits, 1.0, 0.0))


def recall__ops(y_true, y_pred):
    hits = ops.sum(ops.round(ops.clip(y_true * y_pred, 0, 1)))
    return hits / (ops.sum(ops.round(ops.clip(y_true, 0, 1))) + keras.config.epsilon())


def recall__tf(y_true, y_pred):
    hits = tf.reduce_sum(tf.round(tf.clip_by_value(y_true * y_pred, 0.0, 1.0)))
    return hits / (tf.reduce_sum(tf.round(tf.clip_by_value(y_true, 0.0, 1.0))) + 1e-7)


def detached__ops(y_true, y_pred):
    weight = ops.stop_gradient(ops.abs(y_true - y_pred))
    return ops.mean(weight * ops.square(y_true - y_pred), axis=-1)


def detached__tf(y_true, y_pred):
    weight = tf.stop_gradient(tf.abs(y_true - y_pred))
    return tf.reduce_mean(weight * (y_true - y_pred) ** 2, axis=-1)


def smooth_l1__ops(y_true, y_pred):
    d = ops.abs(y_true - y_pred)
    small = ops.cast(ops.less(d, 1.0), keras.config.floatx())
    return ops.sum(small * 0.5 * d * d + (1.0 - small) * (d - 0.5), axis=-1)


def smooth_l1__where(y_true, y_pred):
    d = ops.abs(y_true - y_pred)
    return ops.sum(ops.where(d < 1.0, 0.5 * d * d, d - 0.5), axis=-1)


def swish__ops(x):
    return x * ops.sigmoid(x)


def swish__silu(x):
    return ops.silu(x)


def mish__ops(x):
    return x * ops.tanh(ops.softplus(x))


def mish__tf(x):
    return tf.multiply(x, tf.tanh(tf.math.softplus(x)))


def squash__ops(x, axis=-1):
    size = ops.sum(ops.square(x), axis=axis, keepdims=True)
    return size / (1.0 + size) * x / ops.sqrt(size + keras.config.epsilon())


def squash__rsqrt(x, axis=-1):
    size = ops.sum(x * x, axis=axis, keepdims=True)
    return x * size / (1.0 + size) * ops.rsqrt(size + 1e-7)


def stretched__ops(x):
    return ops.where(x < 0.0, 0.1 * x, ops.minimum(x, 2.0))


def stretched__activation(x):
    return keras.activations.relu(x, negative_slope=0.1, max_value=2.0)


def turned__ops(x):
    if len(x.shape) == 2:
        return ops.transpose(ops.expand_dims(x, 1), (0, 2, 1))
    return ops.exp(x)


def turned__swapped(x):
    return ops.swapaxes(ops.expand_dims(x, 1), 1, 2) if ops.ndim(x) == 2 else ops.exp(x)


def standardised__ops(x):
    mean, std = ops.mean(x, axis=-1, keepdims=True), ops.std(x, axis=-1, keepdims=True)
    return (x - mean) / (std + 1e-3)


def standardised__moments(x):
    mean, variance = ops.moments(x, axes=-1, keepdims=True)
    return (x - mean) / (ops.sqrt(variance) + 1e-3)


class Scale__ops(Layer):
    def build(self, input_shape):
        self.gamma = self.add_weight(name="gamma", shape=(input_shape[-1],), initializer="ones")
        self.beta = self.add_weight(name="beta", shape=(input_shape[-1],), initializer="zeros")

    def call(self, inputs):
        return ops.add(ops.multiply(inputs, self.gamma), self.beta)


class Scale__order(Layer):
    def build(self, input_shape):
        self.beta = self.add_weight(name="beta", shape=(input_shape[-1],), initializer="zeros")
        self.gamma = self.add_weight(name="gamma", shape=(input_shape[-1],), initializer="ones")

    def call(self, inputs):
        return self.beta + inputs * self.gamma


class Projection__matmul(Layer):
    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        shape = (input_shape[-1], self.units)
        self.kernel = self.add_weight(name="kernel", shape=shape, initializer="glorot_uniform")

    def call(self, x):
        return ops.matmul(x, self.kernel)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)


class Projection__tensordot(Layer):
    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        shape = (input_shape[-1], self.units)
        self.kernel = self.add_weight(name="kernel", shape=shape, initializer="glorot_uniform")

    def call(self, x):
        return ops.tensordot(x, self.kernel, axes=1)


class Attention__ops(Layer):
    def build(self, input_shape):
        self.w = self.add_weight(name="w", shape=(input_shape[-1], 1), initializer="random_normal")

    def call(self, x):
        scores = ops.softmax(ops.tanh(ops.matmul(x, self.w)), axis=1)
        return ops.sum(x * scores, axis=1)


class Attention__einsum(Layer):
    def build(self, input_shape):
        self.w = self.add_weight(name="w", shape=(input_shape[-1], 1), initializer="random_normal")

    def call(self, x):
        if len(x.shape) == 3:
            scores = ops.softmax(ops.tanh(ops.matmul(x, self.w)), axis=1)
            return ops.einsum("btf,bto->bf", x, scores)
        return ops.sum(x * ops.softmax(ops.tanh(ops.matmul(x, self.w)), axis=1), axis=1)


class Norm__ops(Layer):
    def build(self, input_shape):
        self.gain = self.add_weight(name="gain", shape=input_shape[-1:], initializer="ones")

    def call(self, x):
        mean = ops.mean(x, axis=-1, keepdims=True)
        var = ops.mean(ops.square(x - mean), axis=-1, keepdims=True)
        return self.gain * (x - mean) / ops.sqrt(var + 1e-5)


class Norm__var(Layer):
    def build(self, input_shape):
        self.gain = self.add_weight(name="gain", shape=input_shape[-1:], initializer="ones")

    def call(self, x):
        var = ops.var(x, axis=-1, keepdims=True)
        return self.gain * (x - ops.mean(x, axis=-1, keepdims=True)) * ops.rsqrt(var + 1e-5)


class Gate__ops(Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.open = Dense(units, activation="sigmoid")
        self.value = Dense(units, activation="tanh")

    def call(self, x, training=False):
        opened = self.open(x)
        return (opened if training else opened * 0.9) * self.value(x)


class Gate__factor(Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.open = Dense(units, activation="sigmoid")
        self.value = Dense(units, activation="tanh")

    def call(self, x, training=None):
        return (1.0 if training else 0.9) * self.open(x) * self.value(x)


class Counter__ops(Layer):
    def build(self, input_shape):
        size = (input_shape[-1],)
        self.mean = self.add_weight(name="mean", shape=size, initializer="zeros", trainable=False)

    def call(self, x):
        axes = tuple(range(len(x.shape) - 1))
        self.mean.assign(0.9 * self.mean + 0.1 * ops.mean(x, axis=axes))
        return x - self.mean


class Counter__moving(Layer):
    def build(self, input_shape):
        size = (input_shape[-1],)
        self.mean = self.add_weight(name="mean", shape=size, initializer="zeros", trainable=False)

    def call(self, x):
        now = ops.mean(x, axis=tuple(range(len(x.shape) - 1)))
        self.mean.assign(self.mean + 0.1 * (now - self.mean))
        return x - self.mean


class Quantile__ops(Loss):
    def __init__(self, q=0.7, **kwargs):
        super().__init__(**kwargs)
        self.q = q

    def call(self, y_true, y_pred):
        e = y_true - y_pred
        return ops.mean(ops.maximum(self.q * e, (self.q - 1.0) * e), axis=-1)


class Quantile__where(Loss):
    def __init__(self, q=0.7, **kwargs):
        super().__init__(**kwargs)
        self.q = q

    def call(self, y_true, y_pred):
        e = y_true - y_pred
        return ops.mean(ops.where(self.q * e >= (self.q - 1) * e, self.q, self.q - 1) * e, axis=-1)


class Hits__ops(Metric):
    def __init__(self, name="hits", **kwargs):
        super().__init__(name=name, **kwargs)
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.count.assign_add(ops.sum(ops.cast(ops.greater(y_true * y_pred, 0.25), "float32")))

    def result(self):
        return self.count


class Hits__variable(Metric):
    def __init__(self, name="hits", **kwargs):
        super().__init__(name=name, **kwargs)
        self.count = self.add_variable(shape=(), initializer="zeros", name="count")

    def update_state(self, y_true, y_pred, sample_weight=None):
        found = ops.cast(y_true * y_pred > 0.25, "float32")
        self.count.assign(self.count + ops.sum(found))

    def result(self):
        return self.count


def block__same(x, filters=4):
    y = Conv2D(filters, 3, padding="same")(x)
    y = BatchNormalization()(y)
    y = Activation("relu")(y)
    return Conv2D(filters, 1)(y)


def block__layers(x, filters=4):
    y = layers.BatchNormalization()(layers.Conv2D(filters, (3, 3), padding="same")(x))
    return layers.Conv2D(filters, (1, 1))(layers.ReLU()(y))


def network__same(width=6):
    start = Input((5,))
    x = Dense(width, activation="relu", name="first")(start)
    x = Dense(width, activation="tanh", name="second")(x)
    return Model(start, Dense(1, name="last")(x))


def network__sequential(width=6):
    return keras.Sequential(
        [
            Input((5,)),
            Dense(width, activation=ops.relu, name="first"),
            Dense(width, activation=ops.tanh, name="second"),
            Dense(1, name="last"),
        ]
    )


def residual__same(width=4):
    start = Input((8, 8, 3))
    x = Conv2D(width, 3, padding="same", name="in")(start)
    y = BatchNormalization(name="bn")(x)
    x = Add(name="sum")([x, layers.LeakyReLU(negative_slope=0.2, name="leaky")(y)])
    x = layers.GlobalAveragePooling2D(name="pool")(x)
    return Model(start, Dense(2, activation="softmax", name="out")(x))


def residual__ops(width=4):
    start = Input((8, 8, 3))
    x = Conv2D(width, 3, padding="same", name="in")(start)
    y = BatchNormalization(name="bn")(x)
    x = x + layers.LeakyReLU(negative_slope=0.2, name="leaky")(y)
    x = ops.mean(x, axis=(1, 2))
    return Model(start, Dense(2, activation="softmax", name="out")(x))


class Mix__ops(keras.Model):
    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.one, self.two = Dense(width), Dense(width)

    def call(self, x):
        return ops.concatenate([self.one(x), self.two(x)], axis=-1)


class Mix__layer(keras.Model):
    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.one, self.two = Dense(width), Dense(width)

    def call(self, x):
        return layers.concatenate([self.one(x), self.two(x)])
