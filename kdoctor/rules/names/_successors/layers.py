"""Layers that another layer stands for."""

from __future__ import annotations

from kdoctor.rewrite import given, not_given, rewrite
from kdoctor.rules.names._successors.successor import Successor
from kdoctor.rules.rule import Example

_CUDNN = (
    "the CuDNN layers had two biases, so their saved weights do not load; for the same weights the "
    "outputs are the same"
)
_GATES = (
    "kernel_initializer='glorot_uniform', recurrent_initializer='orthogonal', "
    "bias_initializer='zeros', {forget}kernel_regularizer=None, recurrent_regularizer=None, "
    "bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, "
    "recurrent_constraint=None, bias_constraint=None, return_sequences=False, return_state=False, "
    "go_backwards=False, stateful=False, **kwargs"
)
_PRIVATE = "it is private in Keras 3, and any release may remove it"


def _by_keyword(parameters: str) -> str:
    """Return `a=1, **kwargs` as what passes it on: `a=a, **kwargs`."""
    names = [each.strip().partition("=")[0] for each in parameters.split(", ")]
    return ", ".join(name if name.startswith("*") else f"{name}={name}" for name in names)


_LSTM = _GATES.format(forget="unit_forget_bias=True, ")
_GRU = _GATES.format(forget="")

ROWS = (
    Successor(
        rewrite(
            f"keras.layers.CuDNNLSTM(units, {_LSTM})",
            f"keras.layers.LSTM(units, {_by_keyword(_LSTM)})",
        ),
        unsafe_because=_CUDNN,
    ),
    Successor(rewrite("keras.layers.CuDNNLSTM", "keras.layers.LSTM"), unsafe_because=_CUDNN),
    Successor(
        rewrite(
            f"keras.layers.CuDNNGRU(units, {_GRU})",
            f"keras.layers.GRU(units, {_by_keyword(_GRU)})",
        ),
        unsafe_because=_CUDNN,
    ),
    Successor(rewrite("keras.layers.CuDNNGRU", "keras.layers.GRU"), unsafe_because=_CUDNN),
    Successor(
        rewrite(
            "keras.layers.experimental.SyncBatchNormalization(axis=-1, momentum=0.99, "
            "epsilon=0.001, center=True, scale=True, beta_initializer='zeros', "
            "gamma_initializer='ones', moving_mean_initializer='zeros', "
            "moving_variance_initializer='ones', beta_regularizer=None, gamma_regularizer=None, "
            "beta_constraint=None, gamma_constraint=None, **kwargs)",
            "keras.layers.BatchNormalization(axis=axis, momentum=momentum, epsilon=epsilon, "
            "center=center, scale=scale, beta_initializer=beta_initializer, "
            "gamma_initializer=gamma_initializer, "
            "moving_mean_initializer=moving_mean_initializer, "
            "moving_variance_initializer=moving_variance_initializer, "
            "beta_regularizer=beta_regularizer, gamma_regularizer=gamma_regularizer, "
            "beta_constraint=beta_constraint, gamma_constraint=gamma_constraint, "
            "synchronized=True, **kwargs)",
        ),
        unsafe_because="its behaviour on several devices was not tested",
    ),
    Successor(
        rewrite("keras.layers.AbstractRNNCell", "keras.layers.Layer"),
        unsafe_because="a cell must define state_size, output_size and get_initial_state itself",
    ),
    *(
        Successor(
            rewrite(f"keras.layers.{old}", f"keras.src.layers.{new}"), unsafe_because=_PRIVATE
        )
        for old, new in (
            ("convolutional.Conv", "convolutional.base_conv.BaseConv"),
            ("convolutional._Conv", "convolutional.base_conv.BaseConv"),
            ("convolutional.base_conv.Conv", "convolutional.base_conv.BaseConv"),
            ("merge._Merge", "merging.base_merge.Merge"),
            ("merging.base_merge._Merge", "merging.base_merge.Merge"),
            ("pooling._GlobalPooling1D", "pooling.base_global_pooling.BaseGlobalPooling"),
            ("pooling._GlobalPooling2D", "pooling.base_global_pooling.BaseGlobalPooling"),
            ("pooling._Pooling1D", "pooling.base_pooling.BasePooling"),
            ("pooling._Pooling2D", "pooling.base_pooling.BasePooling"),
            ("pooling._Pooling3D", "pooling.base_pooling.BasePooling"),
        )
    ),
    *(
        Successor(
            rewrite(
                "keras.models.model_from_config(config, custom_objects=None)",
                # A class without a module is looked for among the layers only, and the public
                # Functional is none that can be read: `keras.Model` reads what it wrote.
                f"keras.layers.deserialize({{'module': 'keras', **config}}, custom_objects={own})",
                when,
            ),
            unsafe_because="a configuration that Keras 2 saved loads if its layers have the same "
            "arguments in Keras 3: `time_major` of an LSTM is gone, and a Sequential in a "
            "functional model does not load",
        )
        for own, when in (
            ("{'Functional': keras.Model}", not_given("custom_objects")),
            (
                "{'Functional': keras.Model, **(custom_objects or {})}",
                given("custom_objects"),
            ),
        )
    ),
)

EXAMPLES = (
    Example(
        before="from keras.layers import LSTM, CuDNNLSTM\n\n"
        "layer = CuDNNLSTM(3, return_sequences=True, name='memory')\n",
        after="from keras.layers import LSTM\n\n"
        "layer = LSTM(3, return_sequences=True, name='memory')\n",
        raises="ImportError: cannot import name 'CuDNNLSTM' from 'keras.layers'",
        unsafe=True,
        check="""
import numpy as np

# The CuDNN layer by its equations: two biases, gates i, f, c, o.
x = np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32")
y = layer(x).numpy()
kernel, recurrent, bias = layer.get_weights()
sigmoid = lambda z: 1 / (1 + np.exp(-z))
h = c = np.zeros((2, 3))
for t in range(5):
    z = x[:, t] @ kernel + 0.5 * bias + h @ recurrent + 0.5 * bias
    i, f, g, o = np.split(z, 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    np.testing.assert_allclose(y[:, t], h, atol=1e-5)
assert layer.name == "memory"
""",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.CuDNNGRU(3, 'glorot_normal', "
        "stateful=False)\n",
        after="import keras\n\nlayer = keras.layers.GRU(3, kernel_initializer='glorot_normal', "
        "stateful=False)\n",
        raises="AttributeError: module 'keras.layers' has no attribute 'CuDNNGRU'",
        unsafe=True,
        check="assert layer.reset_after and 'GlorotNormal' in type(layer.cell."
        "kernel_initializer).__name__",
    ),
    Example(
        before="from keras.layers.merge import _Merge\n\n\n"
        "class Difference(_Merge):\n"
        "    def _merge_function(self, inputs):\n"
        "        return inputs[0] - inputs[1]\n",
        raises="ModuleNotFoundError: No module named 'keras.layers.merge'",
    ),
    Example(
        before="from keras.models import model_from_config\n\nmodel = model_from_config(config)\n",
        after="from keras import Model, layers\n\n"
        "model = layers.deserialize({'module': 'keras', **config}, "
        "custom_objects={'Functional': Model})\n",
        raises="ImportError: cannot import name 'model_from_config' from 'keras.models'",
        unsafe=True,
        prelude="import keras\nconfig = keras.saving.serialize_keras_object("
        "keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)]))\n",
        check="assert model.output_shape == (None, 3)",
    ),
    Example(
        before="import keras\n\n\ndef copy_of(model, custom_objects={}):\n    config = {\n"
        "        'class_name': model.__class__.__name__,\n"
        "        'config': model.get_config(),\n    }\n"
        "    return keras.models.model_from_config(config, custom_objects=custom_objects)\n\n\n"
        "copy = copy_of(model)\n",
        after="import keras\n\n\ndef copy_of(model, custom_objects={}):\n    config = {\n"
        "        'class_name': model.__class__.__name__,\n"
        "        'config': model.get_config(),\n    }\n"
        "    return keras.layers.deserialize("
        "{'module': 'keras', **config}, custom_objects={'Functional': keras.Model, "
        "**(custom_objects or {})})\n\n\n"
        "copy = copy_of(model)\n",
        raises="AttributeError: module 'keras.models' has no attribute 'model_from_config'",
        unsafe=True,
        prelude="import keras\nx = keras.Input((2,))\n"
        "model = keras.Model(x, keras.Sequential([keras.layers.Dense(3)])(x))\n",
        check="assert copy.output_shape == (None, 3)",
    ),
)
