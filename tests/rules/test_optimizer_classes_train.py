"""Optimizers for Keras 2 train on Keras 3, rewritten, as they did before."""

import pytest

from kdoctor.engine import fix

pytestmark = pytest.mark.frameworks

ADAM = '''
import tensorflow as tf
from tensorflow.keras.optimizers import Optimizer


class Mine(Optimizer):
    """Adam with a warm-up, and its own way with embeddings."""

    def __init__(self, learning_rate=0.05, beta_1=0.9, beta_2=0.99, amsgrad=False, warmup=4.0,
                 name="Mine", **kwargs):
        super(Mine, self).__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self._set_hyper("warmup", warmup)
        self._set_hyper("decay", self._initial_decay)
        self.epsilon = 1e-7
        self.amsgrad = amsgrad

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")
            self.add_slot(var, "v", initializer="zeros")
            if self.amsgrad:
                self.add_slot(var, "vhat")

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super(Mine, self)._prepare_local(var_device, var_dtype, apply_state)
        step = tf.cast(self.iterations + 1, var_dtype)
        beta_1_t = tf.identity(self._get_hyper("beta_1", var_dtype))
        beta_2_t = tf.identity(self._get_hyper("beta_2", var_dtype))
        corrected = tf.sqrt(1 - tf.pow(beta_2_t, step)) / (1 - tf.pow(beta_1_t, step))
        warm = tf.minimum(1.0, step / self._get_hyper("warmup", var_dtype))
        rate = apply_state[(var_device, var_dtype)]["lr_t"] * corrected * warm
        apply_state[(var_device, var_dtype)].update(
            dict(rate=rate, beta_1_t=beta_1_t, beta_2_t=beta_2_t)
        )

    def _resource_apply_dense(self, grad, var, apply_state=None):
        var_device, var_dtype = var.device, var.dtype.base_dtype
        coefficients = ((apply_state or {}).get((var_device, var_dtype))
                        or self._fallback_apply_state(var_device, var_dtype))
        m = self.get_slot(var, "m")
        v = self.get_slot(var, "v")
        beta_1_t, beta_2_t = coefficients["beta_1_t"], coefficients["beta_2_t"]
        m_t = m.assign(beta_1_t * m + (1 - beta_1_t) * grad, use_locking=self._use_locking)
        v_t = v.assign(beta_2_t * v + (1 - beta_2_t) * grad * grad, use_locking=self._use_locking)
        if self.amsgrad:
            vhat = self.get_slot(var, "vhat")
            v_t = vhat.assign(tf.maximum(vhat, v_t))
        step = coefficients["rate"] * m_t / (tf.sqrt(v_t) + self.epsilon)
        return var.assign_sub(step, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        # Rows of which nothing is known stay as they are.
        rate = self._decayed_lr(var.dtype.base_dtype)
        v = self.get_slot(var, "v")
        v_t = self._resource_scatter_add(v, indices, grad * grad)
        step = rate * grad / (tf.sqrt(tf.gather(v_t, indices)) + self.epsilon)
        return self._resource_scatter_add(var, indices, -step)

    def get_config(self):
        config = super(Mine, self).get_config()
        config.update({
            "learning_rate": self._serialize_hyperparameter("learning_rate"),
            "beta_1": self._serialize_hyperparameter("beta_1"),
            "beta_2": self._serialize_hyperparameter("beta_2"),
            "warmup": self._serialize_hyperparameter("warmup"),
            "decay": self._serialize_hyperparameter("decay"),
            "amsgrad": self.amsgrad,
        })
        return config
'''
NAMED = '''
import re
import tensorflow as tf
from tensorflow.python.ops import state_ops


class Mine(tf.keras.optimizers.Optimizer):
    """Decays the weights, but for those that are left out by name."""

    _HAS_AGGREGATE_GRAD = True

    def __init__(self, learning_rate=0.05, weight_decay=0.1, exclude=("bias",), name="Mine",
                 **kwargs):
        super().__init__(name=name, **kwargs)
        if isinstance(learning_rate, str):
            learning_rate = float(learning_rate)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("weight_decay", weight_decay)
        self.exclude = exclude

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "acc", tf.constant_initializer(0.1))

    def _decays(self, var):
        return not any(re.search(each, var.name) for each in self.exclude)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        var_dtype = var.dtype.base_dtype
        lr_t = self._decayed_lr(var_dtype)
        acc = self.get_slot(var, "acc")
        if self._decays(var):
            grad += self._get_hyper("weight_decay", var_dtype) * var
        acc_t = state_ops.assign(acc, acc + grad * grad, use_locking=self._use_locking)
        with tf.control_dependencies([acc_t]):
            return tf.raw_ops.ResourceApplyAdagradV2(
                var=var.handle, accum=acc.handle, lr=lr_t, epsilon=0.0, grad=grad,
                update_slots=False, use_locking=self._use_locking,
            )

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        dense = tf.scatter_nd(indices[:, None], grad, tf.cast(tf.shape(var), indices.dtype))
        return self._resource_apply_dense(dense, var)

    def get_config(self):
        config = {
            "learning_rate": self._serialize_hyperparameter("learning_rate"),
            "weight_decay": self._serialize_hyperparameter("weight_decay"),
            "exclude": self.exclude,
        }
        return {**super().get_config(), **config}
'''
UPDATES = '''
from keras import backend as K
from keras.legacy import interfaces
from keras.optimizers import Optimizer


class Mine(Optimizer):
    """As Keras 2.3 wrote its own."""

    def __init__(self, learning_rate=0.05, beta_1=0.9, beta_2=0.99, amsgrad=False, **kwargs):
        self.initial_decay = kwargs.pop("decay", 0.0)
        learning_rate = kwargs.pop("lr", learning_rate)
        super(Mine, self).__init__(**kwargs)
        with K.name_scope(self.__class__.__name__):
            self.iterations = K.variable(0, dtype="int64", name="iterations")
            self.learning_rate = K.variable(learning_rate, name="learning_rate")
            self.beta_1 = K.variable(beta_1, name="beta_1")
            self.beta_2 = K.variable(beta_2, name="beta_2")
            self.decay = K.variable(self.initial_decay, name="decay")
        self.amsgrad = amsgrad

    @interfaces.legacy_get_updates_support
    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]

        lr = self.learning_rate
        if self.initial_decay > 0:
            lr = lr * (1. / (1. + self.decay * K.cast(self.iterations, K.dtype(self.decay))))

        t = K.cast(self.iterations, K.floatx()) + 1
        lr_t = lr * (K.sqrt(1. - K.pow(self.beta_2, t)) / (1. - K.pow(self.beta_1, t)))

        ms = [K.zeros(K.int_shape(p), dtype=K.dtype(p), name="m_" + str(i))
              for (i, p) in enumerate(params)]
        vs = [K.zeros(K.int_shape(p), dtype=K.dtype(p), name="v_" + str(i))
              for (i, p) in enumerate(params)]
        if self.amsgrad:
            vhats = [K.zeros(K.int_shape(p), dtype=K.dtype(p), name="vhat_" + str(i))
                     for (i, p) in enumerate(params)]
        else:
            vhats = [K.zeros(1, name="vhat_" + str(i)) for i in range(len(params))]
        self.weights = [self.iterations] + ms + vs + vhats

        for p, g, m, v, vhat in zip(params, grads, ms, vs, vhats):
            m_t = (self.beta_1 * m) + (1. - self.beta_1) * g
            v_t = (self.beta_2 * v) + (1. - self.beta_2) * K.square(g)
            if self.amsgrad:
                vhat_t = K.maximum(vhat, v_t)
                p_t = p - lr_t * m_t / (K.sqrt(vhat_t) + 1e-7)
                self.updates.append(K.update(vhat, vhat_t))
            else:
                p_t = p - lr_t * m_t / (K.sqrt(v_t) + 1e-7)

            self.updates.append(K.update(m, m_t))
            self.updates.append(K.update(v, v_t))
            new_p = p_t

            # Apply constraints.
            if getattr(p, "constraint", None) is not None:
                new_p = p.constraint(new_p)

            self.updates.append(K.update(p, new_p))
        return self.updates

    def get_config(self):
        config = {"learning_rate": float(K.get_value(self.learning_rate)),
                  "beta_1": float(K.get_value(self.beta_1)),
                  "beta_2": float(K.get_value(self.beta_2)),
                  "decay": float(K.get_value(self.decay)),
                  "amsgrad": self.amsgrad}
        base_config = super(Mine, self).get_config()
        return dict(list(base_config.items()) + list(config.items()))
'''


def mended(source):
    result = fix(["-"], stdin=source.encode(), unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode()


def made(source, arguments):
    namespace = {}
    exec(source, namespace)  # noqa: S102 - the sources above
    first = namespace["Mine"](**arguments)
    return namespace["Mine"].from_config(first.get_config())


def weights_of(layers):
    import numpy as np  # noqa: PLC0415

    draw = np.random.default_rng(0)
    shapes = [(6, 4), (4, 3), (3,)] if layers == "embedding" else [(2, 3), (3,)]
    return [draw.normal(size=shape).astype("float32") for shape in shapes]


def data(layers):
    import numpy as np  # noqa: PLC0415

    draw = np.random.default_rng(1)
    x = draw.normal(size=(40, 2)).astype("float32")
    if layers == "embedding":
        x = draw.integers(0, 6, (40, 2))
    return x, draw.random((40, 3)).astype("float32")


def trained(keras, optimizer, layers):
    parts = [keras.layers.Dense(3, activation="tanh", name="dense")]
    if layers == "embedding":
        parts = [keras.layers.Embedding(6, 4), keras.layers.GlobalAveragePooling1D(), *parts]
    x, y = data(layers)
    model = keras.Sequential(parts)
    model(x[:1])
    model.set_weights(weights_of(layers))
    model.compile(optimizer, "mse")
    model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    return model.get_weights()


def assert_same(ours, theirs, rtol):
    import numpy as np  # noqa: PLC0415

    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("layers", ["dense", "embedding"])
@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        (ADAM, {}),
        (ADAM, {"amsgrad": True, "decay": 0.1, "learning_rate": 0.1}),
        (ADAM, {"clipnorm": 0.1}),
        (NAMED, {}),
        (NAMED, {"exclude": ["dense"], "learning_rate": "0.2"}),
    ],
)
def test_an_optimizer_of_tf_keras_trains_to_the_same_weights(source, arguments, layers):
    pytest.importorskip("tf_keras")
    import keras  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    from kdoctor.verify.keras_2 import keras_2  # noqa: PLC0415

    with keras_2():
        theirs = trained(tf.keras, made(source, arguments), layers)
    assert_same(trained(keras, made(mended(source), arguments), layers), theirs, rtol=1e-6)


def test_what_only_keras_2_had_is_told_apart():
    tf_keras = pytest.importorskip("tf_keras")
    import keras  # noqa: PLC0415

    from kdoctor.rules.idioms._optimizers.names import OF_KERAS_2  # noqa: PLC0415

    new = type("Mine", (keras.optimizers.Optimizer,), {})(0.1)
    old = dir(tf_keras.optimizers.legacy.Optimizer("old"))
    gone = {each for each in old if not hasattr(new, each) and not each.startswith("__")}
    assert {each for each in gone if "api_names" not in each} == OF_KERAS_2


class InTurn:
    """Keras' old backend, where updates wait until all is worked out, as in a graph."""

    def __init__(self, backend):
        self.backend = backend
        self.state = []
        self.writes = []
        self.asked = 0

    def __getattr__(self, name):
        return getattr(self.backend, name)

    def zeros(self, shape, dtype=None, name=None):
        del name
        if self.asked == len(self.state):
            self.state.append(self.backend.zeros(shape, dtype))
        self.asked += 1
        return self.state[self.asked - 1]

    def update(self, variable, value):
        self.writes.append((variable, value))

    def update_add(self, variable, value):
        self.writes.append((variable, variable + value))


def trained_by_updates(source, arguments, layers):
    import tensorflow as tf  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    class Base:
        def __init__(self, **kwargs):
            assert not kwargs

        def get_gradients(self, loss, params):
            return tape.gradient(loss, params)

    backend = InTurn(tf_keras.backend)
    body = source[source.index("class Mine") :].replace("    @interfaces.legacy_get", "    # ")
    namespace = {"K": backend, "Optimizer": Base}
    exec(body, namespace)  # noqa: S102 - the sources above
    optimizer = namespace["Mine"](**arguments)
    variables = [tf.Variable(each) for each in weights_of(layers)]
    x, y = data(layers)
    for start in [*range(0, 40, 4)] * 2:
        with tf.GradientTape() as tape:
            out = x[start : start + 4]
            if layers == "embedding":
                out = tf.reduce_mean(tf.gather(variables[0], out), axis=1)
            out = tf.tanh(out @ variables[-2] + variables[-1])
            loss = tf.reduce_mean(tf.square(out - y[start : start + 4]))
        backend.asked = 0
        backend.writes.clear()
        optimizer.get_updates(loss, variables)
        for variable, value in [(each, tf.identity(value)) for each, value in backend.writes]:
            variable.assign(tf.cast(value, variable.dtype))
    return [each.numpy() for each in variables]


@pytest.mark.parametrize("layers", ["dense", "embedding"])
@pytest.mark.parametrize("arguments", [{}, {"amsgrad": True, "decay": 0.1, "lr": 0.1}])
def test_an_optimizer_with_get_updates_trains_to_the_same_weights(arguments, layers):
    pytest.importorskip("tf_keras")
    import keras  # noqa: PLC0415

    theirs = trained_by_updates(UPDATES, arguments, layers)
    ours = trained(keras, made(mended(UPDATES), arguments), layers)
    # `1 - 0.99` was worked out in 32 bits.
    assert_same(ours, theirs, rtol=1e-4)
