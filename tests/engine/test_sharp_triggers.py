"""A sharp trigger lets near misses by unparsed, and none of what is written in an unusual way."""

from __future__ import annotations

import re
from functools import partial

import pytest

from kdoctor.engine.examine import Examiner
from kdoctor.engine.gate import Gate
from kdoctor.engine.orders import Orders
from kdoctor.engine.package import ProjectPackage
from kdoctor.keras_api import knowledge, newest_target
from kdoctor.rules import all_rules
from kdoctor.rules.facts import Facts
from kdoctor.rules.triggers import trigger_of

_FACTS = Facts(newest_target())


def _holds(trigger, glimpse):
    return trigger.holds(glimpse, _FACTS)


def _cases(text):
    """Return what stands below each `# KD…`, with that code."""
    _, *parts = re.split(r"^# (KD\d+)\n", text, flags=re.MULTILINE)
    return list(zip(parts[::2], parts[1::2], strict=True))


_GATE = Gate(
    ["keras"],
    {rule.code: partial(_holds, trigger_of(rule.triggers)) for rule in all_rules()},
    ProjectPackage(knowledge(newest_target()).star_names),
)
NEAR_MISSES = """
# KD105
import keras
legacy = keras.optimizers.Adam()
legacy.build([])

# KD305
import keras
keras.Input(images.shape[1:])

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

# KD311
import keras
dict(weights=keras.layers.Dense(2).get_weights())

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
        self.low = [[], []]
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

# KD515
import keras
class Mine(keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight()
    def get(self):
        return self.inner.get_weights()

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
"""


@pytest.mark.parametrize(("code", "source"), _cases(NEAR_MISSES))
def test_a_near_miss_is_not_parsed_for_the_rule(code, source):
    assert code not in _GATE.may_fire("nowhere/f.py", source)


SNEAKY = """
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

# KD312
import keras
class Mine(keras.optimizers.Optimizer):
    def __init__(self):
        super(Mine, self).__init__()

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
"""


@pytest.mark.parametrize(("code", "source"), _cases(SNEAKY))
def test_what_is_written_in_an_unusual_way_is_found_behind_the_gate(code, source):
    orders = Orders(newest_target(), codes=(code,), diffs=False, anchors=False)
    found = Examiner(orders).examine("nowhere/f.py", source.encode()).scan.findings
    assert {each.code for each in found} == {code}
