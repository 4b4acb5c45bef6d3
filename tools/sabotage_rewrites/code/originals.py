"""Code of Keras 2 times, of the sorts that people write."""

import keras
from keras import backend as K
from keras import layers
from keras.layers import Activation, Add, BatchNormalization, Conv2D, Dense, Input, Layer
from keras.losses import Loss
from keras.metrics import Metric
from keras.models import Model


def dice(y_true, y_pred, smooth=1.0):
    both = K.sum(y_true * y_pred)
    return (2.0 * both + smooth) / (K.sum(y_true) + K.sum(y_pred) + smooth)


def image_dice(y_true, y_pred, smooth=1e-3):
    both = K.sum(y_true * y_pred, axis=(1, 2))
    whole = K.sum(y_true, axis=(1, 2)) + K.sum(y_pred, axis=(1, 2))
    return K.mean((2.0 * both + smooth) / (whole + smooth), axis=-1)


def entropy(y_true, y_pred):
    y_pred = K.clip(y_pred, K.epsilon(), 1.0 - K.epsilon())
    return -K.sum(y_true * K.log(y_pred), axis=-1)


def focal(gamma=2.0, alpha=0.25):
    def loss(y_true, y_pred):
        p = K.clip(y_pred, K.epsilon(), 1.0 - K.epsilon())
        return K.sum(-alpha * y_true * K.pow(1.0 - p, gamma) * K.log(p), axis=-1)

    return loss


def huber(y_true, y_pred, delta=1.0):
    e = y_true - y_pred
    line = delta * (K.abs(e) - 0.5 * delta)
    return K.mean(K.switch(K.abs(e) <= delta, 0.5 * K.square(e), line), axis=-1)


def euclid(y_true, y_pred):
    return K.sqrt(K.maximum(K.sum(K.square(y_true - y_pred), axis=-1, keepdims=True), K.epsilon()))


def contrastive(y_true, y_pred):
    near = y_true * K.square(y_pred)
    far = (1.0 - y_true) * K.square(K.maximum(1.0 - y_pred, 0.0))
    return K.mean(near + far)


def accuracy(y_true, y_pred):
    hits = K.equal(K.argmax(y_true, axis=-1), K.argmax(y_pred, axis=-1))
    return K.mean(K.cast(hits, "float32"))


def recall(y_true, y_pred):
    hits = K.sum(K.round(K.clip(y_true * y_pred, 0, 1)))
    return hits / (K.sum(K.round(K.clip(y_true, 0, 1))) + K.epsilon())


def detached(y_true, y_pred):
    weight = K.stop_gradient(K.abs(y_true - y_pred))
    return K.mean(weight * K.square(y_true - y_pred), axis=-1)


def smooth_l1(y_true, y_pred):
    d = K.abs(y_true - y_pred)
    small = K.cast(K.less(d, 1.0), K.floatx())
    return K.sum(small * 0.5 * d * d + (1.0 - small) * (d - 0.5), axis=-1)


def swish(x):
    return x * K.sigmoid(x)


def mish(x):
    return x * K.tanh(K.softplus(x))


def squash(x, axis=-1):
    size = K.sum(K.square(x), axis, keepdims=True)
    return size / (1.0 + size) * x / K.sqrt(size + K.epsilon())


def stretched(x):
    return K.relu(x, alpha=0.1, max_value=2.0)


def turned(x):
    return K.permute_dimensions(K.expand_dims(x, 1), (0, 2, 1)) if K.ndim(x) == 2 else K.exp(x)


def standardised(x):
    return (x - K.mean(x, axis=-1, keepdims=True)) / (K.std(x, axis=-1, keepdims=True) + 1e-3)


class Scale(Layer):
    def build(self, input_shape):
        self.gamma = self.add_weight(name="gamma", shape=(input_shape[-1],), initializer="ones")
        self.beta = self.add_weight(name="beta", shape=(input_shape[-1],), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.gamma + self.beta


class Projection(Layer):
    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        shape = (input_shape[-1], self.units)
        self.kernel = self.add_weight(name="kernel", shape=shape, initializer="glorot_uniform")
        super().build(input_shape)

    def call(self, x):
        return K.dot(x, self.kernel)

    def compute_output_shape(self, input_shape):
        return input_shape[:-1] + (self.units,)


class Attention(Layer):
    def build(self, input_shape):
        self.w = self.add_weight(name="w", shape=(input_shape[-1], 1), initializer="random_normal")
        super().build(input_shape)

    def call(self, x):
        scores = K.softmax(K.tanh(K.dot(x, self.w)), axis=1)
        return K.sum(x * scores, axis=1)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[-1])


class Norm(Layer):
    def build(self, input_shape):
        self.gain = self.add_weight(name="gain", shape=input_shape[-1:], initializer="ones")
        super().build(input_shape)

    def call(self, x):
        mean = K.mean(x, axis=-1, keepdims=True)
        var = K.mean(K.square(x - mean), axis=-1, keepdims=True)
        return self.gain * (x - mean) / K.sqrt(var + 1e-5)


class Gate(Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.open = Dense(units, activation="sigmoid")
        self.value = Dense(units, activation="tanh")

    def call(self, x, training=None):
        opened = self.open(x)
        return K.in_train_phase(opened, opened * 0.9, training=training) * self.value(x)


class Counter(Layer):
    def build(self, input_shape):
        size = (input_shape[-1],)
        self.mean = self.add_weight(name="mean", shape=size, initializer="zeros", trainable=False)
        super().build(input_shape)

    def call(self, x):
        axes = list(range(len(x.shape) - 1))
        self.mean.assign(0.9 * self.mean + 0.1 * K.mean(x, axis=axes))
        return x - self.mean


class Quantile(Loss):
    def __init__(self, q=0.7, **kwargs):
        super().__init__(**kwargs)
        self.q = q

    def call(self, y_true, y_pred):
        e = y_true - y_pred
        return K.mean(K.maximum(self.q * e, (self.q - 1.0) * e), axis=-1)


class Hits(Metric):
    def __init__(self, name="hits", **kwargs):
        super().__init__(name=name, **kwargs)
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.count.assign_add(K.sum(K.cast(K.greater(y_true * y_pred, 0.25), "float32")))

    def result(self):
        return self.count


def block(x, filters=4):
    y = Conv2D(filters, 3, padding="same")(x)
    y = BatchNormalization()(y)
    y = Activation("relu")(y)
    return Conv2D(filters, 1)(y)


def network(width=6):
    start = Input((5,))
    x = Dense(width, activation="relu", name="first")(start)
    x = Dense(width, activation="tanh", name="second")(x)
    return Model(start, Dense(1, name="last")(x))


def residual(width=4):
    start = Input((8, 8, 3))
    x = Conv2D(width, 3, padding="same", name="in")(start)
    y = BatchNormalization(name="bn")(x)
    x = Add(name="sum")([x, layers.LeakyReLU(0.2, name="leaky")(y)])
    x = layers.GlobalAveragePooling2D(name="pool")(x)
    return Model(start, Dense(2, activation="softmax", name="out")(x))


class Mix(keras.Model):
    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.one, self.two = Dense(width), Dense(width)

    def call(self, x):
        return K.concatenate([self.one(x), self.two(x)], axis=-1)
