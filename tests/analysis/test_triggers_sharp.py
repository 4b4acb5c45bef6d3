"""A sharp trigger lets near misses by unparsed, and none of what is written in an unusual way."""

from __future__ import annotations

import ast
import re
from functools import partial
from random import Random

import pytest

from benchmarks.speed.material import filled, templates
from benchmarks.speed.trees import _HEADS
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import trigger_of
from kdoctor.engine.examine import Examiner
from kdoctor.engine.rule_prefilter import RulePrefilter
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target, oracle
from kdoctor.modules.exports import ProjectPackage
from kdoctor.rules import all_rules

_FACTS = TargetFacts(newest_target())


def _holds(trigger, quick):
    return trigger.holds(quick, _FACTS)


def _cases(text):
    """Return what stands below each `# KD…`, with that code."""
    _, *parts = re.split(r"^# (KD\d+)\n", text, flags=re.MULTILINE)
    return list(zip(parts[::2], parts[1::2], strict=True))


_PACKAGE = ProjectPackage(oracle(newest_target()).star_names)
_GATE = RulePrefilter(
    ["keras"],
    {rule.code: partial(_holds, trigger_of(rule.triggers)) for rule in all_rules()},
    _PACKAGE,
)
NEAR_MISSES = """
# KD323
import keras
import numpy as np
layer = keras.layers.Normalization()
layer.adapt(np.ones((2, 3)))

# KD323
import keras
import pandas as pd
keras.layers.Dense(3)(pd.read_csv('x.csv'))
adapter.adapt(pd.read_csv('x.csv'))

# KD324
import keras
x = keras.Input((3,))
keras.layers.Dense(3)(inputs=x)
keras.layers.LSTM(3)(x, mask=None)

# KD415
import keras
class Mine(keras.layers.Layer):
    def build(self, input_shape):
        self.names = [input_shape[0]] + ['a', 'b'] + list(input_shape)

# KD474
import keras
x = keras.Input((3,))
x == 'x', x != 0, x < 0, [x] == [0]

# KD523
import keras
import numpy as np
x = keras.Input((3,))
y = 2.0 * x
print(np.sqrt(2.0), x * np.pi)

# KD523
import keras
import numpy as np
print(np.sqrt(2.0) * 3.0, keras.__version__)

# KD467
import keras
keras.layers.Bidirectional(keras.layers.LSTM(3))
keras.layers.Dense(3, trainable=False)

# KD467
import keras
def made(units, frozen):
    return keras.layers.TimeDistributed(keras.layers.Dense(units), trainable=frozen)

# KD214
import abc
import keras
class Reader(abc.ABC):
    @property
    def name(self): return self.path
class Plain:
    @property
    def name(self): return 'plain'
class Mine(Plain, keras.layers.Layer):
    def call(self, x): return x

# KD301
import keras
shape = dict(input_length=4)
keras.layers.Embedding(3, 2)

# KD301
import keras
keras.layers.InputLayer(input_shape=(3,))

# KD108
from keras.layers import *
from tensorflow.keras.models import *
def backend(k): return Dense(k)

# KD316
import keras
def drawn(shape, *, dtype=None): return shape
def other(shape): return shape
keras.layers.Dense(3, kernel_initializer=drawn)
keras.layers.Dense(3, kernel_initializer=other((3,)))

# KD513
import tensorflow as tf
class Own(tf.keras.layers.BatchNormalization):
    def call(self, x, training=None, scale=None):
        scale = tf.constant(1.0)
        x = super().call(tf.cast(x, tf.float32), training) * scale
        return self.norm(x, training=training and self.trainable)

# KD513
import tensorflow as tf
class Own(tf.keras.layers.Dropout):
    def called(self, x):
        return self.drop(x, training=tf.constant(True))

# KD315
import keras
class Own(keras.layers.Layer):
    def call(self, x, training=None):
        print(x, training, True)
        return self.drop(x, training=training)
    def look(self, x, deep=True):
        return x.reshape(x, deep)

# KD436
import keras
class Own(keras.layers.Layer):
    def call(self, x, training=None):
        return x if training else self.settings["training"]
    def look(self, **kwargs):
        return kwargs["training"]

# KD435
import keras
class Own(keras.layers.Dense):
    def call(self, x, *args, **kwargs):
        return super().call(x, *args, **kwargs)
    def build(self, *args):
        return super().build(*args)

# KD434
import keras
class Sum(keras.layers.Layer):
    def call(self, inputs, mask=None):
        return sum(inputs) if mask is None else self.masked(inputs, mask)
    def compute_mask(self, inputs, mask=None):
        return mask[0]

# KD434
import keras
class Attend(keras.layers.Layer):
    def call(self, inputs, mask=None):
        query, key = self.query(inputs), self.key(inputs)
        scores = query @ key
        if mask is not None:
            scores = scores * mask[:, None, :]
        return scores

# KD105
import keras
legacy = keras.optimizers.Adam()
legacy.build([])

# KD305
import keras
keras.Input(images.shape[1:])

# KD305
import keras
keras.Input((3,), dtype=float)
table.astype("float")
kinds = {"double": "float64"}

# KD305
import keras
size = 3
range(size)
shape = (4,)
keras.Input(shape)

# KD305
import keras
def build(units, shape):
    keras.Input(shape)
build(3, (4,))
build(3, shape=s)

# KD304
import keras
class Mine(keras.layers.Layer, Base):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        Base.__init__(self, None)

# KD313
import keras
def find(name):
    return keras.activations.get(name)

# KD604
import keras
def load(name):
    path = Path(name)
    return keras.models.load_model(path)
name = "folder"
def other():
    path = "folder"
    return open(path)

# KD604
import keras
def load(path):
    return keras.models.load_model(path)
path = "folder"

# KD311
import keras
dict(weights=keras.layers.Dense(2).get_weights())

# KD314
import keras
keras.optimizers.SGD(0.1, clipvalue=0.5)
options = {"clipnorm": 1.0, "clipvalue": 0.5}

# KD317
import keras
name = "net.h5"
keras.utils.get_file(name, "https://a.b/c/net.h5", cache_subdir="nets/small")
keras.utils.get_file(f"{name}", origin=url)
keras.utils.get_file(fname=names[0], origin=url)

# KD317
from mine import get_file
get_file("nets/net.h5", url)

# KD312
import keras
class Mine(keras.optimizers.Optimizer):
    def __init__(self, rate):
        super().__init__(learning_rate=rate)

# KD312
import keras
class Mine(keras.optimizers.Optimizer):
    def __init__(self, **options):
        super().__init__(**options)

# KD312
import keras
class Mine(keras.optimizers.Optimizer):
    def __init__(self, rate, name, **options):
        super().__init__(rate, name=name, **options)

# KD302
import keras
def build(activation, scale=keras.initializers.Zeros()):
    return keras.layers.Dense(3, activation=activation), keras.layers.ReLU(activation=scale)

# KD302
import keras
activation = keras.layers.LeakyReLU()
keras.layers.Dense(3, activation=activation)

# KD404
import keras
def hard_sigmoid(x):
    return clip(x)
print(hard_sigmoid(3), keras.activations.relu)

# KD406
import keras
lr = 0.1
keras.optimizers.SGD(learning_rate=lr)
parser.lr = lr

# KD408
import re
import keras
word = re.compile("w")
model = keras.Sequential()
model.compile("sgd", "mse", metrics=["acc"])
keras.callbacks.EarlyStopping(monitor="val_acc")

# KD409
import keras
def read(paths):
    yield [paths[0]], paths
def fed():
    yield images, [1, 2]
for batch in read(paths): model.train_on_batch(*batch)
model.fit(fed())

# KD409
import keras
class Data(keras.utils.PyDataset):
    def __init__(self):
        self.low = [1, 2]
    def __getitem__(self, index):
        return self.low, [1, 2]
    def parts(self):
        return [self.a, self.b], self.c

# KD410
import keras
import numpy as np
model.predict([np.array([1]), np.array([2])])
model.fit([], [x, y])

# KD413
import keras
model.get_layer("dense_1")
model.get_layer(name)

# KD433
import inspect
import keras
inspect.signature(function)
inspect.getfullargspec(keras.utils.to_categorical.name)

# KD504
import keras
x = keras.Input((2,))
if x is None or x == 1 or x in found: pass
for one, other in zip([x], [x]): pass
sized = use(1, x)
if sized: pass

# KD603
import keras
compare(model, save_format="h5")

# KD605
import keras
run(options=options)
model.save("a.keras")

# KD606
import keras
model.load_weights("a.h5", by_name=True)
model.load_weights("a.keras")
model.load_weights(*given)

# KD311
import keras
import numpy as np
np.average([1], weights=keras.layers.Dense(2).get_weights())

# KD325
import keras
config = {"batch_input_shape": (1, 2)}
layer.from_config(layer.get_config())

# KD416
import keras
class Shared(Memory):
    def __init__(self): self._name = "a"
class Plain:
    def __init__(self): self._name = keras.Sequential().name

# KD432
import keras
class Variable: pass
keras.layers.Dense(2)(Variable())

# KD505
import tensorflow as tf
import keras
with tf.summary.create_file_writer(".").as_default():
    keras.Sequential().predict(x)

# KD402
import keras
import tensorflow as tf
step = tf.Variable(0)

# KD402
import keras
class Variable: pass
self.x = Variable()

# KD403
import keras

model = keras.Sequential([keras.layers.Dense(1)])
for each in model.layers:
    each.trainable = False
model.compile('sgd', 'mse')
model.fit(x)

# KD403
import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.trainable = True
model.compile('sgd', 'mse')
model.fit(x)

# KD403
import keras
base = keras.applications.VGG16()
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(1)])
model.compile('sgd', 'mse')
model.fit(x)

# KD437
import keras
base = keras.applications.VGG16()
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(1)])
model.compile('sgd', 'mse')
model.fit(x)

# KD437
import keras
def build(units):
    model = keras.Sequential([keras.layers.Dense(units)])
    for layer in model.layers[:-1]:
        layer.trainable = False
    model.compile('sgd', 'mse')
    return model
build(3).fit(x)

# KD408
import keras

model = keras.Sequential([keras.layers.Dense(1)])
stop = keras.callbacks.EarlyStopping(monitor='val_accuracy')

# KD408
import keras

model = keras.Sequential([keras.layers.Dense(1)])
stop = keras.callbacks.EarlyStopping(monitor='val_accuracy')
model.compile('sgd', 'mse', metrics=['accuracy', 'mae'])

# KD408
import keras

model = keras.Sequential([keras.layers.Dense(1)])
stop = keras.callbacks.EarlyStopping(monitor='val_accuracy')
model.compile('sgd', 'mse', metrics=[keras.metrics.AUC()])

# KD408
import keras

model = keras.Sequential([keras.layers.Dense(1)])
import tf_keras
tf_keras.callbacks.EarlyStopping(monitor='val_dice')

# KD412
import keras

model = keras.Sequential([keras.layers.Dense(1)])
path.split('/')
model.name == 'a'
'/' in model.path

# KD415
import keras
import tensorflow as tf

x = keras.Input((4,))
x.size == [1]
x.shape == (1,)
x.shape[0] * [1]

# KD445
from keras.layers import BatchNormalization
BatchNormalization()

# KD448
import tensorflow as tf
class Own(tf.keras.Model):
    def train_step(self, data):
        return {"loss": data, "more": data}
    def summed(self):
        return {"loss": self.optimizer}
model.compile("sgd")
model.fit(x)

# KD444
import keras
class Own(keras.layers.Layer):
    def __init__(self):
        self.inner = keras.layers.Dense(3)
    def call(self, x):
        return self.inner(x)
    def compute_output_shape(self, shape):
        return shape

# KD443
import keras
model.compile('sgd', 'mse', metrics=[PSNR, dice_coef])
history.history['val_dice_coef']

# KD442
import tensorflow as tf
from tensorflow.keras.layers import Layer
class Own(Layer):
    def call(self, x, training=None):
        y = tf.reduce_sum(x)
        if training and x is not None:
            return y
        for each in range(self.times):
            y = y + tf.shape(x)[0]
        return y

# KD441
import keras
keras.callbacks.LearningRateScheduler(lambda epoch: lr)
history.history['learning_rate']

# KD440
import keras
keras.utils.get_file('a', 'b')
extract(untar=True)

# KD417
import keras
keras.callbacks.ReduceLROnPlateau()
keras.optimizers.Adam(epsilon=1)

# KD419
import keras
keras.random.normal((2,), seed=self.generator)

# KD419
import keras
import numpy as np
np.random.normal(seed=1)

# KD423
import keras
import tensorflow as tf

x = keras.Input((4,))
def step(images):
    return model(images, training=True)

# KD423
import keras
import tensorflow as tf

x = keras.Input((4,))
y = keras.layers.Dropout(0.5)(x, training=training)

# KD425
import keras
keras.layers.Embedding(2, 3, mask_zero=True)
found.add(1)
keras.metrics.add(1)

# KD426
import keras
import tensorflow as tf

x = keras.Input((4,))
tf.transpose(x, (0, 2))
model.evaluate(x)
model.compile('sgd', 'mse', metrics=['mae'])

# KD430
import keras
found.append(layer.trainable_weights)
layer.trainable_weights.append(keras.Variable(1))

# KD503
import keras
import tensorflow as tf
def read(path):
    image = tf.cast(tf.io.read_file(path), 'float32')
    return tf.reshape(tf.cast(image, 'int32'), (2, 2))
keras.Input((2,))

# KD503
import keras
import tensorflow as tf
def read(paths):
    images = []
    for path in paths:
        images.append(tf.io.read_file(path))
    return tf.stack(images)
keras.Input((2,))

# KD517
import keras
from keras import ops
x = keras.Input((4,))
def scaled(t, factor):
    return ops.mean(t) * factor
def plus(t):
    return t + x
weights = [lambda a: a * x, plus]

# KD517
import keras
factor = 0.5
x = keras.Input((4,))
def loss(y_true, y_pred):
    return (y_true - y_pred) * factor
model.compile('sgd', loss=lambda t, p: t - factor * p)

# KD504
import keras
def build():
    x = keras.Input((2,))
    return keras.Model(x, keras.layers.Dense(2)(x))
def sized(x):
    return len(x) if x else float(x)
class Sizes:
    def __init__(self, x):
        for each in x: self.found = int(x)

# KD504
import keras
x = keras.Input((2,))
def each_of(features):
    return [keras.layers.Dense(2)(one) for one in features]
each_of([x, x])

# KD504
import keras
x = keras.Input((2,))
def step(labels, y):
    loss = keras.losses.MeanSquaredError()(labels, y)
    return float(loss)

# KD508
import keras
import tensorflow as tf

x = keras.Input((4,))
@tf.function
def step(y): pass
for batch in data:
    step(batch)

# KD703
import keras
from tensorflow import keras as k
model = keras.Sequential()
model.add(k.layers.Dense(1))

# KD501
import keras
def get_updates(self): pass
class Mine(keras.Model):
    def train_step(self, data):
        return self.optimizer.get_updates(data)

# KD512
import keras
class Mine(keras.Model):
    def compiled(self):
        self.step = lambda: self.optimizer.get_updates([], self.loss)

# KD511
import keras
optimizer = keras.optimizers.Adam()
optimizer._resource_apply_dense(gradient, variable)

# KD514
import keras
keras.layers.Dense(2)._set_dtype_policy("float16")

# KD215
import keras
model.compile("sgd", "mae", metrics=["mae"])
last = model.fit(x).history["mean_squared_error"]

# KD303
import keras
class Trainer:
    def fit(self, data, workers=1): pass
    def run(self, data):
        return self.fit(data, workers=4)

# KD310
import keras
class Trainer:
    def run(self, data):
        return self.fit(data, nb_epoch=4), self.fit_generator(data, nb_worker=4)

# KD207
import keras
class Node:
    def build(self, shape):
        return shape.rank, shape[0].value
class Mine(keras.layers.Layer):
    def build(self, shape):
        for each in self.nodes:
            each.value = each.dims

# KD207
import keras
class Node:
    def build(self, shapes):
        first = shapes[0]
        return first.as_list(), shapes[1][0].value
class Mine(keras.layers.Layer):
    def call(self, shapes):
        return shapes[0].rank

# KD207
import keras
size = shape = settings[0]
print(size.value, shape[0].value, x.shape[i].value, x.shape[1:].value)

# KD207
import keras
class Mine(keras.layers.Layer):
    def build(self, shapes):
        for first, second in zip(shapes, self.sizes):
            print(second.value, [each.rank for each in self.sizes])

# KD207
import tensorflow as tf
print("keras", x.shape.as_list(), tf.zeros(2).get_shape().ndims)

# KD506
import tensorflow as tf
print(tf.Session(), "keras")

# KD232
import keras
keras.Sequential().get_initial_state(x)
agent.get_initial_state(x)

# KD612
import keras
keras.optimizers.deserialize({"class_name": "Adam", "config": {}})
given = {"class_name": "Dense", "config": {}}

# KD325
import tf_keras
config = layer.get_config()
config["batch_input_shape"] = (1, 2)
type(layer).from_config(config)

# KD402
import keras
import tensorflow as tf
class Scale(tf.Module):
    def __init__(self):
        self.scale = tf.Variable(1.0)
class Mine(keras.layers.Layer):
    def call(self, x):
        return x * tf.Variable(1.0)

# KD432
import keras
import tensorflow as tf
x = tf.Variable([[1.0]])
scaled(x)
keras.layers.Dense(2)(tf.constant(1.0))
keras.layers.Dense(2)(x, training=True)

# KD311
import keras
class Wrapped(Transformer):
    def __init__(self, backbones):
        creator = backbones.densenet
        self.inner = creator(weights=None)
        super().__init__(weights=self.inner.get_weights())

# KD313
import keras
from mine import Own, layers
made = Own(activation="mine"), layers.Own(activation="mine")
keras.layers.Dense(2, activation="relu")

# KD601
import keras
figure.save_weights("a.h5")
ivis.load_weights("a")

# KD603
import keras
image.save("a.png", save_format="png")

# KD604
import keras
image.save("folder/a.png")
index.load_model("folder")

# KD605
import keras
image.save("a.png", options=None)

# KD606
import keras
ivis.load_weights(path, True)

# KD105
import keras
from keras.optimizers import legacy
def chosen(optimizers=(legacy, keras.optimizers.SGD)):
    return optimizers[0]

# KD106
import keras
found = "keras_contrib" in path

# KD107
import keras
keras_applications = keras.applications

# KD702
import keras
import efficientnet.tfkeras as efn
models = {"efficientnet": efn, "keras": "efficientnet.keras"}

# KD701
import keras
segmentation_models = keras.Sequential
name = "segmentation_models"

# KD424
import keras
x = keras.Input((3, None))
y = keras.layers.TimeDistributed(keras.layers.Dense(2))(x, None)

# KD425
import keras
def block(x, rate):
    words = keras.layers.Embedding(9, 3, mask_zero=True)(x)
    sizes = (words, rate)
    return keras.layers.Add()([x, keras.layers.Dropout(rate)(x)]), sizes

# KD425
import keras
words = keras.layers.Masking()(data)
keras.layers.add([words, keras.layers.Dense(3)(words)])

# KD305
import keras
keras.losses.CategoricalCrossentropy(reduction="sum")
keras.losses.CategoricalCrossentropy(reduction=None)

# KD401
import keras
fields = dict(decay=0.1)
decay = keras.optimizers.SGD(0.1)

# KD405
import keras
from keras.regularizers import l1, l1_l2
penalties = {"l1_l2": l1_l2, "l1": l1(0.1)}

# KD305
import keras
keras.layers.Dense(3, kernel_constraint="max_norm", bias_regularizer="l2")
keras.layers.Dense(3, name="maxnorm")
fit(class_weight="auto")

# KD408
import keras
EarlyStopping = keras.callbacks.EarlyStopping
EarlyStopping("val_dice", 0, 3, 0, "max")
monitors = {"EarlyStopping": keras.callbacks.ModelCheckpoint("a.keras", "val_loss")}

# KD414
import keras
keras.layers.Dense(units, "relu", True)
keras.layers.Dropout(0.5, None, 3)

# KD426
import keras
model = keras.Model(x, outputs)
outputs = [keras.layers.Dense(1)(x), keras.layers.Dense(1)(x)]
model.compile("sgd", metrics=["mae"])
model.evaluate(x, y, **options)

# KD309
import keras
rate = 0.1
keras.optimizers.SGD(learning_rate=rate, momentum=1)
keras.optimizers.Adam(1e-3, 1)
other.SGD(learning_rate=1)

# KD307
import keras
import numpy as np
size = 8 // 2
keras.layers.Dense(int(size / 2))
keras.layers.Dense(size)
keras.layers.Dense(rows.max() + 1)
keras.layers.Dropout(1 / 2)
model = keras.Sequential()
model.fit(x, y, steps_per_epoch=int(size / 2), epochs=size)
other.fit(x, y, steps_per_epoch=size / 2)
np.prod(size)

# KD308
import keras
keras.layers.MaxPooling2D()
keras.layers.AveragePooling2D(2)
keras.layers.AveragePooling2D(pool_size=2)
other.AveragePooling2D()

# KD306
import keras
size = (3,)
class Mine(keras.layers.Layer):
    def build(self, given):
        self.a = self.add_weight("a", shape=size, initializer="zeros")
        self.b = self.add_weight(shape=[3], name="b")
        self.c = self.add_weight(given[-1:], "zeros", 3)
        self.d = self.add_variable(shape=3)

# KD306
import keras
aggregation = "mean"
class Mine(keras.layers.Layer):
    def build(self, given):
        options = {"aggregation": aggregation}
        self.w = self.add_weight(**options)
        self.v = self.add_weight(*given, 3)

# KD409
import keras
def fed():
    yield [1, 2.0], images
    yield [images], [1], names, 4
    yield [images]
def other():
    yield [images, sizes], labels
model.fit(fed())
fit(other())
model.fit(images, other())
model.fit(other)

# KD409
import keras
class Data(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return [self.a, self.b], self.c
class Fed(keras.utils.Sequence):
    def __getitem__(self, index):
        parts = (self.a, self.b)
        return parts, self.c
    def __len__(self):
        return [self.a, self.b], self.c

# KD410
import keras
model.fit(x, y, [1, 2])
model.predict([1, "a"])
model.predict(*[1, 2])
model.evaluate([[1], [x]], y=())

# KD410
import keras
data = (1, 2)
rows = [[], []]
model.fit(data, y=rows, sample_weight=[1, 2])
model.predict_on_batch([1, 2])

# KD412
import keras
model = keras.Sequential([keras.layers.Dense(1)])
for w in model.weights:
    w.path.split("/"), w.name.split("."), w.name.strip(), w.name.split(end)
    "/".join(w.name), w.name.join(["/"]), find("/", w.name), w.name().find("/")
    w.name == "kernel", w.names == "a/b", w.path == "a/b"

# KD415
import keras
import tensorflow as tf
x = keras.Input((4,))
x.shape - [1], x.shape + (1,), [1] + list(x.shape), x.shape + tuple([1])
x.shape == sizes, [1] == x.shapes, x.get_shape() == [1]
isinstance(x, tf.TensorShape), isinstance(x.shape), isinstance(tuple, x.shape)

# KD415
import keras
import numpy as np
np.ones(2).shape == [2]
keras.utils.to_categorical(y).shape + [2]

# KD419
import keras
import tensorflow as tf
class Noise(keras.layers.Layer):
    def call(self, x, seed=1):
        drop = keras.layers.Dropout(0.5, seed=1)
        return drop(x) + tf.random.normal((2,), seed=1) + keras.random.normal((2,), seed="1")

# KD419
import tf_keras
import keras
class Noise(keras.layers.Layer):
    def call(self, x):
        made = keras.random.normal((2,), None, 1), draw((2,), seed=2)
        return tf_keras.random.normal((2,), seed=1) + keras.random.normal((2,), seed=[1])

# KD423
import keras
x = keras.Input((4,))
drop = keras.layers.Dropout(0.5)
drop(x, training=None), drop(x, training=1), drop(x, training="True")
drop(images, training=True), drop(training=False)
dict(training=True), drop(x, trained=True)

# KD433
import inspect
import keras
inspect.signature(keras.layers.Flatten), inspect.signature(keras.layers.Dense(2).call)
inspect.getsource(keras.layers.Dense), signature(keras.layers.Dense)

# KD433
from cryptography import signature
import inspect
import keras, tf_keras
signature(keras.layers.Dense)
inspect.signature(tf_keras.layers.Dense)
inspect.signature(keras.layers.Dense if new else None)

# KD508
import keras
import tensorflow as tf
x = keras.Input((4,))
@tf.function
def step(y): pass
@tf.functions
def plain(y): pass
def double(y): return y
plain(x), double(x), self.step(x), step(1, images), map(step, [x]), step

# KD459
import keras
class Lines:
    def __init__(self, rows): self.rows = iter(rows)
    def __next__(self): return next(self.rows)
def told(history): return {key: list(map(float, each)) for key, each in history.items()}
def shadows(names): shadow = map(str, names); return shadow
def train(model, images, labels, options):
    x, y = zip(*images)
    model.fit(images, labels, batch_size=shadows(options))
    model.fit(x, y, validation_data=(images, labels))
model = keras.Sequential()
train(model, load(), load(), told(Lines([])))

# KD309
import keras
import numpy as np
import tensorflow as tf
rate = np.float64(0.1)
keras.optimizers.SGD(rate, momentum=tf.constant(0.9))

# KD479
import keras
import numpy as np
model = keras.Sequential()
model.fit(np.array([[1.0], [2.0]]), np.array(["a", "b"]))
print(np.array(["text"]))

# KD478
import keras
loss = keras.losses.BinaryCrossentropy()
def told(targets, predictions): return loss(targets, predictions)
told(load(), load())

# KD468
import keras
import numpy as np
import tensorflow as tf
def slower(epoch, lr): return lr * np.exp(-0.1)
keras.callbacks.LearningRateScheduler(slower)
print(tf.strings.length("a"))

# KD468
import tensorflow as tf
print(tf.keras.callbacks.LearningRateScheduler, tf.exp(1.0))

# KD464
import keras
class Net(keras.layers.Layer):
    def made(self, shape): self.inner.build(shape)
    def counted(self): return len(self.weights)
net = Net()
net.build((None, 3))
"""


@pytest.mark.parametrize(("code", "source"), _cases(NEAR_MISSES))
def test_a_near_miss_is_not_parsed_for_the_rule(code, source):
    assert code not in _GATE.may_fire("nowhere/f.py", source, _PACKAGE.trees.take(source))


SNEAKY = """
# KD467
from keras.layers import LSTM, Bidirectional as Both
Again = Both
Again(LSTM(3), trainable=False)

# KD214
import keras
Base = keras.layers.Layer
class First(Base): pass
class Mine(First):
    @property
    def name(self): return self.called

# KD108
def loss(a, b):
    return [K for _ in (a, b)]
from keras.layers.core import *

# KD316
from tensorflow.keras.layers import Embedding as Table
def made():
    def drawn(shape: tuple = (1,), *others):
        return shape
    return Table(3, 2, embeddings_initializer=drawn)

# KD513
from tensorflow import math, keras as k
import tensorflow.compat.v2 as two
class Base(k.layers.Layer): pass
class Own(Base):
    def __init__(self):
        super().__init__()
        self.parts = self.norm = k.layers.BatchNormalization()
    def call(self, x, *, training=None):
        frozen = math.logical_not(training)
        trained = two.constant(True) if self.trainable else frozen
        return self.norm(x, training=(trained))

# KD513
from tensorflow.keras.layers import GRU as Cell
from tensorflow import cast as made
class Own(Cell):
    def call(self, sequences, initial_state=None, mask=None, training=None):
        return super(Own, self).call(sequences, initial_state, mask, made(training, "bool"))

# KD315
from tensorflow.keras import Model as Base, layers as kl
class Own(Base):
    def __init__(self):
        super().__init__()
        self.parts = {"drop": kl.Dropout(0.5)}
        self.norm = made = kl.BatchNormalization()
    def call(self, x, *, training=None):
        norm = self.norm
        return norm(x, training)

# KD436
from tensorflow.keras import layers as kl
class Base(kl.Dense): pass
class Own(Base):
    def call(self, *given, mask=None, **rest):
        trained = (rest)[r"training"]
        return super().call(*given, **rest) if trained else given

# KD435
from tensorflow.keras.layers import Dense as Full
class Base(Full): pass
class Own(Base):
    def call(self, *args: object, training=None, **others):
        return Full.call(self, *args, **others)

# KD309
from keras.optimizers import SGD as Descent
one = 1
Descent(lr=one)

# KD307
import keras as k
from numpy import prod as product
shape = 2, 3
flat = product(shape)
k.layers.Dense(flat * 2)

# KD308
from keras.layers import AveragePooling2D as Pool
Pool(padding="same")
# KD434
from tensorflow import cast
from tensorflow.keras import layers as kl
class Own(kl.Layer): pass
class Sum(Own):
    def call(self, given, training=None, *, mask=None, **others):
        [one, other] = given; (first, second) = given
        if (training and (mask is not None)):
            other = other[cast((mask)[0x1], "float32")]
        return one + other

# KD211
import keras
x = keras.Input((3,))
if hasattr(y, "_keras_shape"):
    print(x._keras_shape)

# KD211
import keras
def size(x):
    if hasattr(x, "_keras_shape"):
        pass
    else:
        return x._keras_shape

# KD211
import keras
def count(x, n):
    n += x._keras_shape[0]
    n: int = x._keras_shape
    (first()._keras_shape, m) = 1, 2

# KD302
import keras
act = keras.layers.PReLU()
keras.layers.Dense(3, activation=act)

# KD302
import keras
class Mine(keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(1,))
keras.layers.Dense(3, activation=Mine())

# KD304
import keras
class Mean(keras.metrics.Mean):
    def __init__(self, name="mine"):
        super(Mean, self).__init__(name, "mine")
        super().__init__(None, name)
class Last(keras.metrics.Mean):
    def __init__(self, name="mine", **options):
        super().__init__(name, **options)
class Other(keras.metrics.Metric):
    def __init__(self, name):
        base = super()
        base.__init__("mine")
        base.__init__(None, "name")

# KD313
import keras
import pytest as test
@test.mark.parametrize("name", ["relu", "own"])
def find(name):
    return keras.activations.get(name)
import pytest
@pytest.mark.parametrize("name", ["relu", "own"])
def test_it(name):
    assert keras.activations.get(name)

# KD604
import keras
def load(path):
    path = "folder"
    return keras.models.load_model(path)

# KD604
import pathlib
import keras
def load(name, path):
    name = "folder"
    path = pathlib.Path(name)
    return keras.models.load_model(path)

# KD604
import keras
class Store:
    path = "folder"
    model = keras.models.load_model(path)

# KD604
import keras
path = "folder"
def load():
    [print(path) for path in ()], (lambda path: path)
    return keras.models.load_model(path)

# KD604
import keras
base = "folder"
path = str(base)
def load(base):
    base = "x.keras"
    return keras.models.load_model(path)

# KD604
import keras
def outer(path):
    def load():
        global path
        return keras.models.load_model(path)
path = "folder"

# KD404
import keras
keras.layers.LSTM(3, recurrent_activation="hard_" "sigmoid")

# KD404
from keras.activations import hard_sigmoid as steep
steep(3)

# KD406
import keras
best = keras.optimizers.SGD(0.1)
setattr(best, 'lr', 3)

# KD406
import keras
model = keras.Sequential()
model.compile("sgd")
model.optimizer.lr = 3

# KD408
import keras
class Net(keras.Model):
    def prepare(self):
        super().compile("sgd", "mse")
        self.compile("sgd", "mse", metrics=["mae"])
keras.callbacks.EarlyStopping(monitor="val_acc")

# KD325
import keras
config = keras.layers.Dense(2).get_config()
config[("batch_input_shape")] = (1, 2)
keras.layers.Dense.from_config(config)

# KD416
from keras.layers import Dense as D
class Own(D): pass
class Most(Own):
    def build(self, shape):
        this = self
        self._name = "other"

# KD416
import keras
def rename(models):
    for each in [keras.Sequential(), *models]: pass
    kept = made = keras.Sequential()
    made._name = "other"

# KD432
import keras
import numpy as np
from tensorflow import Variable as V
class Own(keras.layers.Dense): pass
layer = Own(2)
layer(V(initial_value=np.ones((2, 2)), dtype="float64"))

# KD505
import keras
import tensorflow.compat.v1 as old
old.disable_v2_behavior()

# KD505
import keras
from tensorflow import Graph as G
model = keras.Sequential([keras.layers.Dense(1)])
with G().as_default():
    model.predict(x)

# KD504
import keras
def build():
    x = keras.Input((2,))
    def look():
        return float(x)
    return look()

# KD504
import keras
def build():
    global x
    x = keras.Input((2,))
build()
def look():
    x = 1
    def look_at_it():
        global x
        return len(x)
    return look_at_it()

# KD504
import keras
x = keras.Input((2,))
def look():
    sizes = [x for x in (1, 2)]
    return float(x)

# KD504
import keras
def build():
    x = None
    def make():
        nonlocal x
        x = keras.Input((2,))
    make()
    if x: pass

# KD504
import keras
def build():
    x = keras.Input((2,))
    class Kept:
        x = 1
        size = len(keras.layers.Dense(2)(x))
    def look(y=int(x)): pass

# KD504
import keras
x = keras.Input((2,))
def look():
    read = lambda x: (y := x)
    return [(lambda: float(x)), float(x)]

# KD504
import keras
async def build(a, /, *, x=1):
    x = keras.layers.Dense(2)(keras.Input((2,)))
    while x: pass

# KD504
import keras
def look(y):
    x = keras.layers.Dense(2)(y)
    return float(x)
def build():
    x = keras.Input((2,))
    return look(y=x)

# KD311
import keras
class Mine(keras.layers.Dense): pass
made = Mine(2, weights=[a, b])

# KD314
from tensorflow.keras import optimizers as opt
half = 0.5
opt.Nadam(**options, clipvalue=half, global_clipnorm=-1)

# KD317
from os.path import join as put
import tensorflow as tf
fetch = tf.keras.utils.get_file
folder: str = put(home, "net.h5")
fetch(origin=url, fname=folder)
fetch(f"{folder}/net.h5", url)
name = "nets/net.h5"
fetch(name, url)

# KD312
import keras
class Mine(keras.optimizers.Optimizer):
    def __init__(self):
        super(Mine, self).__init__()
class Both(keras.optimizers.Optimizer):
    def __init__(self, name, **options):
        super().__init__(name, **options)
        super().__init__(f"{name}", *options)

# KD409
import keras
class Trainer:
    def batches(self):
        for path in self.paths:
            both = [path, path]
            yield both, path
    def run(self):
        given = self.batches()
        model = keras.Sequential([keras.layers.Dense(1)])
        model.fit(given)

# KD409
from keras.utils import Sequence as S
class Data(S):
    async def __getitem__(self, index):
        if index:
            return [self.a, -1], self.b

# KD410
import keras
model = keras.Sequential([keras.layers.Dense(1)])
data = [[1.0, -2.0], [3.0, 4.0]]
model.predict(x=data)

# KD413
import keras
x = keras.Input((2,))
keras.Model(x, x).get_layer(name=("input_1"))

# KD433
from inspect import signature as s
from keras.layers import BatchNormalization as B
s(B.__init__)

# KD504
import keras
x = keras.Input((2,))
if not (1 < x): pass

# KD504
import keras
both = tuple([keras.Input((2,)), keras.Input((2,))])
for one in reversed(both):
    float(one)

# KD504
import keras
def apply(layer, y): return layer(y)
layer = keras.layers.Dense(2)
for x in enumerate([keras.Input((2,))]):
    pass
y = layer(keras.Input((2,)))
int(y)

# KD515
import keras
class Mine(keras.layers.Layer):
    def build(self, shape):
        for each in self.inner.layers:
            self.kept = each.get_weights()

# KD603
from keras.models import save_model as write
write(model, "a", save_format="tf")

# KD605
import keras
keras.saving.save_model(model, "a.keras", options=None)

# KD606
import keras
name = "a.keras"
model = keras.Sequential([keras.layers.Dense(1)])
model.load_weights(name, by_name=True)

# KD606
import keras
model = keras.Sequential([keras.layers.Dense(1)])
model.load_weights(path, True)

# KD105
from keras.optimizers import legacy as old

older = old
older.Adam()

# KD105
import keras.optimizers.legacy as old

class Mine(old.Adam): pass

# KD305
import keras
keras.Input(images.shape[1])

# KD305
from keras.layers import Input as I

I(shape=(len(x)))

# KD305
from keras import layers

class Mine(layers.Layer):
    def __init__(self):
        super().__init__(dtype="double")

# KD305
from tensorflow.keras.mixed_precision import set_global_policy as policy

policy(u'half')

# KD305
import keras
size: int = 3
keras.layers.Input(size)

# KD305
import keras
def build(units, shape):
    return keras.Input(shape)
build(3, shape=4)

# KD402
import keras
from tensorflow import Variable as V
class Mine(keras.layers.Layer):
    def build(self, shape):
        self.a, self.b = [V(1) for _ in shape], V(2)

# KD403
import keras
models = [keras.Sequential([keras.layers.Dense(1)])]
models[0].compile("sgd", "mse")
models[0].trainable = False
models[0].fit([[1.0]], [[1.0]])

# KD403
import keras
class Maker:
    @staticmethod
    def freeze(which, *, now=True):
        which.trainable = False
    def critic(self):
        made = keras.Sequential([keras.layers.Dense(1)])
        made.compile('sgd', 'mse')
        return made, 1
maker = Maker()
one, _ = maker.critic()
maker.freeze(which=one)
(one,)[0].fit(x)

# KD403
import keras
def freeze(net, to):
    net.trainable = to
net = keras.Sequential([keras.layers.Dense(1)])
net.compile('sgd', 'mse')
freeze(to=False, net=net)
pair = [net, 1]
pair[0].fit(x)

# KD437
import keras
def switch(net, on):
    net.trainable = on
class Gan:
    def __init__(self, critic):
        self.critic, self.both = critic, keras.Sequential()
        switch(on=False, net=self.critic)
        self.both.add(self.critic)
        self.both.compile('sgd', 'mse')
        switch(self.critic, True)
    def run(self):
        both = self.both
        both.fit(x)
gan = Gan(keras.Sequential([keras.layers.Dense(1)]))
gan.run()

# KD437
import keras
critic = keras.Sequential([keras.layers.Dense(1)])
critic.trainable = frozen = False
whole = keras.Sequential([keras.Sequential([keras.layers.Dense(1), critic])])
whole.compile('sgd', 'mse')
critic.trainable = thawed = True
whole.fit(x)

# KD403
import keras
class Gan:
    def __init__(self):
        self.critic = keras.Sequential([keras.layers.Dense(1)])
        self.critic.compile('sgd', 'mse')
        self.critic.trainable = flag = False
    def train(self, x):
        self.critic.train_on_batch(x, x)

# KD408
import keras

model = keras.Sequential([keras.layers.Dense(1)])
stop = keras.callbacks.EarlyStopping(monitor='val_accuracy')
model.compile('sgd', 'mse', metrics=['mae'])

# KD408
import keras

model = keras.Sequential([keras.layers.Dense(1)])
stop = keras.callbacks.EarlyStopping(monitor='val_accuracy')
model.compile('sgd', 'mse')

# KD408
from keras.callbacks import EarlyStopping as E

E('val_' 'dice')

# KD412
import keras

model = keras.Sequential([keras.layers.Dense(1)])
kept = model.weights[0]
found = 'dense/' in kept.name

# KD412
import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.weights[0].name.split('/')[0]

# KD415
import keras
import tensorflow as tf

x = keras.Input((4,))
same = [None, 4] == x.shape
shape = x.shape[1:] + [1]

# KD415
import keras
import tensorflow as tf

x = keras.Input((4,))
isinstance(x.shape, tf.TensorShape)

# KD609
from keras.layers import Convolution2D as C
class Own(C):
    def build(this, shape):
        this.gain = this.add_weight(shape=(1,))

# KD214
from keras.layers import Embedding as E
class Own(E):
    def build(this, shape): this.embeddings = 1

# KD206
import keras
class Own(keras.callbacks.Callback):
    def on_epoch_begin(this, epoch, logs=None):
        opt = this.model.optimizer
        if not hasattr(opt, "lr"): raise ValueError

# KD481
from tensorflow.keras import callbacks as c
class Own(c.Callback):
    def on_epoch_begin(this, epoch, logs=None):
        if (hasattr)(this.model.optimizer, '''lr'''): this.model.optimizer.lr = 0.1

# KD445
from keras.layers import *
norm = BatchNormalization(3)
TimeDistributed(layer=norm)

# KD448
from tensorflow import function as graph
from tensorflow.keras.models import Model as M
@graph
def squares(y): return y ** 2
class Own(M):
    @graph
    def train_step(this, batch):
        this.optimizer.minimize(lambda: squares(this(batch)), this.weights)
        if batch is None:
            return {'''loss''': squares(batch)}
        logs = {'loss': squares(this(batch))}
        return logs

# KD444
from keras.layers import Dense as D, Layer
class Own(Layer):
    def __init__(this):
        this.inner = this.same = D(3)
    def compute_output_shape(self, shape): return shape
    def build(self, shape): pass
    def call(self, x): return self.inner(x)

# KD443
from keras.callbacks import EarlyStopping
def IoU(y_true, y_pred): return y_pred
measured = [IoU]
model.compile('sgd', 'mse', metrics=measured)
EarlyStopping(monitor='val_IoU')

# KD442
import keras
from tensorflow import reduce_any as some
class Own(keras.layers.Layer):
    def call(self, x):
        found = some(x)
        wanted = not found
        return x if wanted else -x

# KD441
from keras.callbacks import ReduceLROnPlateau as slower
h = model.fit(x, callbacks=[slower()])
h.history.get('''lr''')

# KD440
from keras import utils as u
u.get_file('a.zip', 'b', extract=True)

# KD417
from tensorflow.keras import callbacks as c

c.ReduceLROnPlateau(epsilon=0.1)

# KD419
import keras
SEED = -1

class Noise(keras.layers.Layer):
    def call(self, x):
        return x + keras.random.normal((2,), seed=SEED)

# KD423
import keras
import tensorflow as tf

x = keras.Input((4,))
y = keras.layers.Dropout(0.5)(inputs=x, training=True)

# KD423
import keras
import tensorflow as tf

x = keras.Input((4,))
def block(y):
    return keras.layers.BatchNormalization()([y][0], training=False)
block(keras.layers.Dense(2)(x))

# KD425
from keras.layers import *

x = Input((4,))
y = add([Embedding(9, 3, mask_zero=True)(x), Embedding(9, 3)(x)])

# KD426
import keras
import tensorflow as tf

x = keras.Input((4,))
layer = keras.layers.Dense(1, name='b')
one = layer(x)
other = keras.layers.Dense(1, name='a')(x)
outputs = [one, other]
model = keras.Model(x, outputs=outputs)
scores = [['mae'], ['mse']]
model.compile('sgd', 'mse', metrics=scores)
results = model.evaluate(x)
print(results[3])

# KD430
from keras.layers import Layer

class Mine(Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(1,))
        self.trainable_weights.append(self.w)

# KD503
import keras
import tensorflow as tf

x = keras.Input((4,))
y = tf.reshape(tensor=tf.cast(tf.stack([x, x]), 'int32'), shape=(2, 2))

# KD503
import keras
import tensorflow as tf

x = keras.Input((4,))
def deep(y):
    return tf.square(keras.layers.Dense(2)(y))

# KD503
import keras
import tensorflow as tf

x = keras.Input((4,))
for _ in range(3):
    x = keras.layers.Dense(2)(x)
    y = x
tf.square(y)

# KD503
import keras
import tensorflow as tf

def build():
    found = list()
    def add():
        found.insert(0, keras.Input((3,)))
    add()
    return tf.concat([*found, found.pop()], -1)

# KD503
import keras
import tensorflow as tf

found = [keras.Input((3,))] + [keras.Input((3,))]
found += [found[0]]
def join(them):
    return tf.stack(them)
join(found)

# KD517
import keras
x = keras.Input((4,))
goal = lambda true, seen: seen + x
model.compile('sgd', {'a': goal})

# KD517
import keras
x = keras.Input((4,))
model.compile('sgd', metrics=[lambda true, seen: x])

# KD517
import keras
from keras import ops
x = keras.Input((4,))
model = keras.Model(x, x)
class Mine(keras.losses.Loss):
    def call(self, a, b):
        total = ops.mean(a)
        total += model.output
        return total

# KD503
import keras
import tensorflow as tf

x = keras.Input((4,))
a, b = keras.ops.split(x, 2)
tf.square(b)

# KD504
import keras
import tensorflow as tf

x = keras.Input((4,))
def deep(y):
    y = keras.layers.Dense(2)(y)
    return float(y)

# KD504
import keras
import tensorflow as tf

x = keras.Input((4,))
y = tf.square(x)
if y > 1: pass

# KD508
import keras
import tensorflow as tf

x = keras.Input((4,))
from tensorflow import function as graph
@graph(jit_compile=True)
def double(y): return y
double(keras.layers.Dense(1)(x))

# KD703
import os
os.environ.setdefault('TF_USE_LEGACY_KERAS', '1')
import keras
import tensorflow as tf
model = keras.Sequential()
model.add(tf.keras.layers.Dense(1))

# KD703
import keras
from tf_keras.layers import *
keras.Sequential([Dense(1)])

# KD501
import keras
class Base(keras.layers.Layer): pass
if True:
    class Mine(Base):
        async def get_gradients(self, loss, params): return []

# KD215
import keras
def names(): return ["acc"]
shown = tuple = ("mae", "mse")
keras.Sequential().compile("sgd", "mse", metrics=tuple)
def build():
    wanted = ["accuracy"]
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=wanted)
    seen = model.fit(x, y).history
    return seen.get("val_" "acc"), seen["acc"]

# KD215
import keras
model.compile("sgd", loss, metrics=("MAE",))
def shown(): return model.fit(x).history["val_mean_absolute_error"]

# KD232
from keras.layers import GRU
class Generator(Base):
    def __init__(self): self.rnn = GRU(3)
    def start(self, x): return self.rnn.get_initial_state(inputs=x)

# KD612
from keras.layers import deserialize as made
part = dict(one=made({"class_name": type(layer).__name__, "config": {}}))

# KD215
from keras.callbacks import EarlyStopping as E
model.compile("sgd", "mse", metrics=("acc",))
E("accuracy")

# KD303
import keras
class Mine(keras.Model):
    def run(self, data):
        super().fit(data, workers=4)

# KD303
import keras
def train(models):
    models[0].compile(loss="mse", optimizer="sgd")
    for each in [keras.Sequential([keras.layers.Dense(1)])]:
        each.fit(x, workers=4)

# KD310
import keras
class Mine:
    def __init__(self):
        self.net = keras.Sequential([keras.layers.Dense(1)])
    def run(self, data):
        self.net.fit_generator(data, samples_per_epoch=3)

# KD207
import keras
def build():
    global shape
    shape = keras.Input((4,)).shape
def look():
    size = shape[-1]
    again = size
    return again.value

# KD207
import keras
class Base(keras.layers.Layer): pass
class Mine(Base):
    def compute_output_shape(self, given):
        inner = given[1:]
        return inner[:1].as_list()

# KD207
import keras
class Base(keras.layers.Layer): pass
class Mine(Base):
    def compute_output_shape(me, given):
        again = given["left"]
        last = again
        return last.dims

# KD207
import keras
class Mine(keras.layers.Layer):
    def build(self, given):
        one = given[1][-1]
        self.size = one.value

# KD207
import keras
class Mine(keras.layers.Layer):
    def build(self, input_shape):
        self.kept = input_shape
    def width(this):
        part = this.kept[1:]
        return part[0].value + this.kept.rank

# KD207
import keras
class Mine(keras.layers.Layer):
    def build(self, shapes):
        for each in shapes:
            print(each.as_list())

# KD207
import keras
batch, width = x.shape
print(width.value)

# KD207
from keras import layers
def size(x):
    return x[0].get_shape().as_list()

# KD506
import tensorflow as tf
class Mine(tf.keras.layers.Layer):
    def call(self, x):
        return tf.Session()

# KD402
import keras
import tensorflow as tf
made = keras.layers.Dense(2)
other = made
other.scale = (tf.Variable(1.0), 3)

# KD402
import keras
import tensorflow as tf
class Mine(keras.Model):
    def more(self):
        self.all += [tf.Variable(1.0)]

# KD432
import keras
import numpy as np
import tensorflow as tf
class Own(keras.layers.Layer): pass
def run():
    x: object = tf.Variable(np.ones((2, 2)))
    layer = Own()
    return layer(inputs=x)

# KD311
import keras
class Mine(keras.layers.Dense):
    def __init__(self, units, start, **options):
        (super(Mine, self)).__init__(units, weights=start, **options)

# KD311
from keras import layers
kinds = {"dense": layers.Dense}
Alias = layers.Dense
class Inner(Alias): pass
Other = Inner
made = [Alias(2, weights=None), Other]

# KD313
import keras
class Mine(keras.layers.Dense):
    def __init__(self, units):
        super().__init__(units, activation="mine")

# KD313
import keras
class Own(keras.layers.Dense): pass
def build():
    return Own(2, kernel_regularizer="mine")

# KD601
import keras
def keep(nets):
    for each in nets:
        each.compile(optimizer="sgd", loss="mse")
        each.save_weights("a.h5")

# KD603
from keras import saving
model = keras.Sequential()
def write(path, net):
    saving.save_model(net, path, save_format="tf")

# KD604
import keras
class Mine(keras.Model):
    def keep(self):
        super().save("folder")

# KD605
import keras
from keras.models import save_model as write
write(made(), "a.keras", save_traces=True)

# KD605
import keras
nets = {"a": 1}
(keras.Sequential([keras.layers.Dense(1)])).save("a.keras", signatures=None)

# KD606
import keras
class Net(keras.Model):
    def read(self, path):
        net = self
        net.load_weights(path, True)

# KD105
from keras import optimizers as o
name = o.legacy
made = name.SGD
class Mine(Base, made): pass
made(0.1)

# KD106
import keras
def build():
    from keras_contrib.layers import *

# KD107
import keras
import keras_applications.vgg16

# KD702
import keras
from efficientnet import keras as efn

# KD701
import keras
def build():
    import segmentation_models.losses as losses

# KD424
import keras
shaped = keras.Input(batch_shape=[2, None, 3])
y = keras.layers.TimeDistributed(keras.layers.Dense(2))(shaped)

# KD424
from keras.layers import *
import keras
net = keras.Sequential([Dense(2, input_shape=(None, 3)), TimeDistributed(Flatten())])

# KD425
import keras
class Words(keras.layers.Embedding): pass
def build():
    x = keras.Input((4,))
    embed = Words(9, 3, mask_zero=True)
    words = keras.layers.Dropout(0.5)(embed(x))
    both = (words, keras.layers.Embedding(9, 3)(inputs=x))
    return keras.layers.Add()(both)

# KD425
from keras.layers import Add, Embedding as E, Input as I
merge = Add()
merge(inputs=[*[I((4, 3))], I((4, 3)), E(9, 3, None, None, None, True)(I((4,)))])

# KD305
import keras
from tensorflow.keras.losses import Reduction as R, MeanSquaredError
given = R
MeanSquaredError(reduction=given.AUTO)
keras.losses.Huber(reduction=("au" "to"))

# KD401
from keras.optimizers import *
SGD(0.1, decay=1e-3)

# KD405
from keras import layers as l, regularizers
r = regularizers
made = r.l1_l2
made(0.1)

# KD305
from keras import layers as l
made = l.Dense
made(3, kernel_constraint="maxnorm")

# KD305
import keras
keras.layers.LSTM(3, recurrent_regularizer="l1_l2")

# KD305
import keras
class Mine(keras.Model):
    def train(self, x, y):
        fitted = self.fit(x, y, class_weight=("balanced"))
        return fitted

# KD408
import keras as k
Stop = k.callbacks.EarlyStopping
Stop(monitor="dice")

# KD414
from keras import optimizers as o
make = o.SGD
make(0.01, 0.9, 1e-6, True)

# KD306
import keras
class Mine(keras.layers.Layer):
    def build(self, given):
        size: int = 3
        layer = self
        self.w = layer.add_weight(shape=(size))

# KD306
import keras
class Mine(keras.Model):
    def __init__(self, sizes):
        super().__init__()
        width = size = 3
        self.inner = keras.layers.Dense(2)
        self.inner.add_weight(size, *sizes)

# KD306
from keras import layers as l
from tensorflow import VariableAggregation
Base = l.Layer
class Mine(Base):
    def build(self, given):
        kinds = VariableAggregation
        super().add_weight((3,), aggregation=(kinds.SUM))

# KD409
import keras
def fed():
    received = yield [images, [labels]]
class Held(keras.Model):
    def train(self):
        given: object = (fed)()
        self.evaluate(x=given)

# KD409
import keras
async def fed():
    yield [[True], "a"], labels
nets = [keras.Sequential([keras.layers.Dense(1)])]
for net in nets: net.fit_generator(data, validation_data=fed(1, k=2))

# KD409
from keras import utils as u
Base = u.Sequence
class Data(Other, Base):
    def __getitem__(self, index):
        parts = [self.a, -1]
        for each in self.all:
            if each: return each, (parts)

# KD410
import keras
class Net(keras.Model):
    def train(self):
        data: list = [True, 2.0]
        super().fit(images, data, **options)

# KD410
import keras
nets = [keras.Sequential([keras.layers.Dense(1)])]
words = given = ["a" "b", 'c']
for net in nets: net.evaluate(y=[[[0x1], [1_0]],  # one
                                 [[-3]]], x=(words), *more)

# KD412
import keras
class Mine(keras.layers.Layer):
    def build(self, given):
        self.w = self.add_weight(shape=(3,))
        assert (self.w.name).endswith((":" "0"))

# KD412
from keras import Variable as V
V(1.0).name.split(sep="/", *most)

# KD412
import keras
model = keras.Sequential([keras.layers.Dense(1)])
model.weights[0].name == other != "a:0"

# KD415
from keras import layers as l
from tensorflow import TensorShape as S
given = l.Input((3,))
isinstance(l.Dense(3)(given).shape[:], S)

# KD415
import keras
def f(x: "keras.KerasTensor"):
    if [1] == x.shape == known: return [y] + (x.shape)[:-1]

# KD419
from keras.random import *
from keras import Model as M
class Noise(M):
    def call(self, x):
        draw = uniform
        return x + draw((2,), seed=(1), **options)

# KD419
import keras
def loss(y_true, y_pred):
    drawn = keras.random
    seed: bool = True
    return drawn.dropout(y_true, 0.5, seed=seed)

# KD423
import keras
x = keras.Input((4,))
both = [x, x]
keras.layers.MultiHeadAttention(2, 2)(*both, training=(True))

# KD423
from keras import Input as I, layers as l
Base = l.Layer
class Mine(Base): pass
mine = Mine()
mine((I((3,)), 3), training=False)

# KD423
import keras
class Built:
    def __init__(self):
        self.base = keras.applications.VGG16()
        self.base(keras.ops.stack([keras.Input((3,))]), None, training=False)

# KD433
import inspect as i
import keras
ask = i.getfullargspec
kind = keras.layers.Dense
ask(func=kind)

# KD433
import inspect
from keras.layers import *
import pytest
@pytest.mark.parametrize("layer", [Dense, "other"])
def look(layer):
    inspect.signature(layer)

# KD508
import keras
import tensorflow as tf
fast = tf.function
def build(x):
    @fast(jit_compile=True)
    async def both(y, z): return y
    pair = [keras.layers.Dense(2)(x), x]
    return both(*pair)

# KD508
import tensorflow.keras as k
import tensorflow as tf
@tf.function
def double(y, z): return y
double(1, z=(k.Input((2,)), 2))

# KD459
import keras
model = keras.Sequential()
model.compile("sgd", "mse")
def trained(data): return model.fit(data, steps_per_epoch=1)
trained(zip([], []))

# KD459
import itertools as tools
import keras
class Trainer:
    def __init__(self, pairs):
        self.pairs = tools.cycle(pairs)
        self.model = keras.Sequential()
    def run(self): self.model.fit(x=self.pairs, steps_per_epoch=1)

# KD459
import keras
model = keras.Sequential()
def both(a, b):
    pairs = zip(a, b)
    return pairs, len(a)
pairs, number = both([], [])
model.fit(validation_data=pairs, x=[[1]], y=[1])

# KD459
import keras
model = keras.Sequential()
held = [filter(None, []), 3]
model.evaluate(held[0])

# KD468
from tensorflow import math as m
from tensorflow.keras.callbacks import LearningRateScheduler as Rate
halved = lambda epoch: (0.1 * m.exp(-1.0))
Rate(schedule=halved)

# KD468
import keras
from keras.optimizers.schedules import CosineDecay as Decay
class Trainer:
    def __init__(self): self.callbacks = [keras.callbacks.LearningRateScheduler(Decay(0.1, 3))]

# KD309
from tensorflow import Variable as V
from tensorflow.keras import optimizers as opt
rate = V(0.1)
opt.Adam(learning_rate=rate)

# KD478
from keras.losses import MeanSquaredError as MSE
from numpy import ones
class Told:
    def __init__(self): self.loss = MSE()
    def told(self):
        wanted = (1.0, 2.0)
        return self.loss(y_pred=ones(2), y_true=wanted)

# KD479
from numpy import asarray as made
import tensorflow as tf
model = tf.keras.models.load_model("m.keras")
part = "a"
texts = [part + "b", f"{part}c"]
rows = made(texts)
inputs = {"text": rows}
model.predict(x=inputs)
"""


@pytest.mark.parametrize(("code", "source"), _cases(SNEAKY))
def test_what_is_written_in_an_unusual_way_is_found_behind_the_gate(code, source):
    scan_options = ScanOptions(newest_target(), codes=(code,), diffs=False, anchors=False)
    found = Examiner(scan_options).examine("nowhere/f.py", source.encode()).scan.findings
    assert {each.code for each in found} == {code}


@pytest.mark.parametrize("style", ["keras", "tf"])
def test_no_file_of_modern_code_is_opened(style):
    """All of the benchmark's chunks without findings in one file, where any word meets any other."""
    modern = [*templates("any"), *templates(style)]
    source = "\n\n".join([_HEADS[style], *(filled(each, Random(1)) for each in modern)])  # noqa: S311
    opened_by = _GATE.may_fire("nowhere/f.py", source, ast.parse(source))
    assert {*opened_by} == {"KD710"}  # which is not asked without `--namespace`


OWN = """
import tensorflow as tf
from inspect import signature as ask
from keras import Input as symbol, random as draw
from keras.layers import Dense, Dropout as Drop, Layer as Base
from keras.random import normal as noise
from keras.utils import Sequence as Fed
from tensorflow import TensorShape as Shape, function as graph, VariableAggregation as How
"""
BEHIND_OWN_NAMES = """
# KD306
from own import Base, How
class Mine(Base):
    def build(self, given):
        self.w = self.add_weight((3,), aggregation=How.MEAN)

# KD306
import own
class Mine(own.Base):
    def build(self, given):
        self.w = self.add_weight(3)

# KD409
from own import Fed
class Data(Fed):
    def __getitem__(self, index):
        return [self.a, self.b], self.c

# KD410
from own import Dense
from keras import Sequential
Sequential([Dense(1)]).predict([1, 2])

# KD412
from own import Dense
for each in Dense(3).weights: each.name.rpartition("/")

# KD415
from own import symbol
symbol((4,)).shape != [None, 4]

# KD415
import own as o
isinstance(o.symbol((4,)).shape, o.Shape)

# KD419
from own import Base, noise
class Noise(Base):
    def call(self, x):
        return x + noise((2,), seed=1)

# KD419
import own
class Noise(own.Base):
    def call(self, x):
        return x + own.draw.normal((2,), seed=1)

# KD423
from own import *
def build():
    return Drop(0.5)(inputs=symbol((3,)), training=True)

# KD433
from own import Dense, ask
ask(Dense.__init__)

# KD433
from own import Dense
from inspect import getfullargspec
getfullargspec(Dense)

# KD508
from own import graph as fast, symbol
@fast
def double(y): return y
double(symbol((3,)))
"""


@pytest.mark.parametrize(("code", "source"), _cases(BEHIND_OWN_NAMES))
def test_what_a_module_of_the_project_brings_in_is_found_behind_the_gate(code, source, tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "own.py").write_text(OWN)
    scan_options = ScanOptions(newest_target(), codes=(code,), diffs=False, anchors=False)
    found = Examiner(scan_options).examine(str(tmp_path / "f.py"), source.encode()).scan.findings
    assert {each.code for each in found} == {code}


# Keras or Python refuse them: what is passed cannot be told, and nothing is said of it.
SENSELESS = """
# KD412
import keras
model = keras.Sequential([keras.layers.Dense(1)])
model.weights[0].name.split(*"/")

# KD415
import keras
import tensorflow as tf
x = keras.Input((4,))
isinstance(x.shape, cls=tf.TensorShape)
isinstance(*x.shape, tf.TensorShape)

# KD433
import inspect
import keras
inspect.signature(*keras.layers.Dense)
"""


@pytest.mark.parametrize(("code", "source"), _cases(SENSELESS))
def test_what_cannot_be_told_is_found_neither_behind_the_gate_nor_without_it(code, source):
    scan_options = ScanOptions(
        newest_target(), codes=(code,), gate=False, diffs=False, anchors=False
    )
    assert not Examiner(scan_options).examine("nowhere/f.py", source.encode()).scan.findings
