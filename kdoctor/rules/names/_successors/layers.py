"""Layers that another layer stands for."""

from __future__ import annotations

from kdoctor.rewrite import given, not_given, rewrite
from kdoctor.rules.names._successors.successor import Successor

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
