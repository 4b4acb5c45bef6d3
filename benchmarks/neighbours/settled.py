"""Make what programs draw the same on each Keras: weights, the order of batches, what is dropped.

Runs on Python 3.7 beside keras 2.2.4, too.
"""

import types
import zlib

import numpy as np


def settle(*packages):
    """Patch each Keras of ``packages``; what is drawn for a shape is always the same."""
    for keras in packages:
        for each in _random(keras.initializers):
            each.__call__ = _drawn
        for dropout in (keras.layers.Dropout, keras.layers.SpatialDropout1D):
            dropout.call = lambda self, inputs, *_, **__: inputs
        model = keras.Sequential([keras.layers.Dense(1)]).__class__
        for each in {base for base in model.__mro__ if "fit" in vars(base)}:
            each.fit = _in_order(each.fit)
    np.random.seed(0)


def _random(initializers):
    names = ("VarianceScaling", "RandomUniform", "RandomNormal", "TruncatedNormal", "Orthogonal")
    return {getattr(initializers, each) for each in names}


def _drawn(self, shape, dtype=None, **_):
    shape = tuple(int(each) for each in shape)
    seed = zlib.crc32(repr(shape).encode())
    scale = 1 / np.sqrt(max(1, np.prod(shape[:-1])))
    return (np.random.RandomState(seed).normal(size=shape) * scale).astype("float32")


def _in_order(fit):
    def fit_in_order(self, *args, **kwargs):
        kwargs["shuffle"] = False
        kwargs["verbose"] = 0
        return fit(self, *args, **kwargs)

    return fit_in_order


def image(seed, *shape):
    """Return pixels that are drawn."""
    return np.random.RandomState(seed).randint(0, 256, shape).astype("uint8")


def module(name, **members):
    """Return a module that stands for one that is not installed."""
    made = types.ModuleType(name)
    vars(made).update(members)
    return made
