"""What NumPy and Python have dropped since, put back in every run alike.

Their rot is not Keras': a test that stops at ``np.float`` says nothing about Keras 3.
"""

import collections
import collections.abc
import inspect
import os
import sys
import warnings

import numpy as np

NUMPY = {
    **{kind.__name__: kind for kind in (bool, int, float, complex, object, str)},
    "float_": np.float64,
    "complex_": np.complex128,
    "string_": np.bytes_,
    "unicode_": np.str_,
    "Inf": np.inf,
    "infty": np.inf,
    "NaN": np.nan,
    "NAN": np.nan,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "sometrue": np.any,
    "alltrue": np.all,
    "row_stack": np.vstack,
    "in1d": np.isin,
    "trapz": getattr(np, "trapezoid", None),
    "asscalar": lambda array: np.asarray(array).item(),
    "asfarray": lambda array, dtype=np.float64: np.asarray(array, dtype),
    "mat": np.asmatrix,
    "sctypes": {
        "int": [np.int8, np.int16, np.int32, np.int64],
        "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "complex": [np.complex64, np.complex128, np.clongdouble],
        "others": [bool, object, bytes, str, np.void],
    },
}
COLLECTIONS = (
    "Callable",
    "Hashable",
    "Iterable",
    "Iterator",
    "Mapping",
    "MutableMapping",
    "Sequence",
)
OLD_ARGSPEC = collections.namedtuple("ArgSpec", "args varargs keywords defaults")  # noqa: PYI024 - as it was


def put_back():
    """Set every alias that is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in NUMPY.items():
            if value is not None and name not in vars(np):
                setattr(np, name, value)
    for name in COLLECTIONS:
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    if not hasattr(inspect, "getargspec"):
        inspect.getargspec = lambda function: OLD_ARGSPEC(*inspect.getfullargspec(function)[:4])
    if os.environ.get("TF_USE_LEGACY_KERAS") == "1":
        _give_tf_keras_its_version()


def _give_tf_keras_its_version():
    """``tf.keras.__version__`` was there up to TensorFlow 2.15; tf_keras' own face has none."""
    import tensorflow as tf
    import tf_keras

    for face in (tf.keras, *(sys.modules.get(n) for n in ("tf_keras.api._v2.keras",))):
        if face is not None and not hasattr(face, "__version__"):
            face.__version__ = tf_keras.__version__
