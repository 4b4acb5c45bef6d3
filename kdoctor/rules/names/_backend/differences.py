"""What may differ where a function of ``keras.backend`` is written anew without a proof.

One sentence a function: it stands in the finding as the reason why the fix is not safe. What to
write by hand, where there is no fix, is told elsewhere (``BY_HAND``).
"""

from __future__ import annotations

from typing import Final

_NOT_BY_GRAPH: Final = (
    "it returns the new value, where Keras 2 returned the variable, or in a graph an operation "
    "that had to be run"
)
_DRAWN: Final = (
    "the random numbers differ from those of Keras 2, and an integer seed gives the same numbers "
    "at every call, where Keras 2 drew the next ones"
)
_NO_NUMBER: Final = (
    "for a scalar Keras 2 returned a NumPy number, which is immutable and hashable; here it is an "
    "array without axes"
)
_A_VARIABLE: Final = (
    "Keras 2 returned a variable: a tensor cannot be assigned to, and a `keras.Variable` is "
    "trained and saved only if it is an attribute of a layer"
)
_WIDER: Final = (
    "this file uses 8- or 16-bit integers: in Keras 2 they overflow (200 + 100 is 44 in uint8), "
    "Keras 3 returns wider integers"
)
_IN_FLOAT32: Final = (
    "this file changes the default float type: for booleans the result is float32 here, and had "
    "that type in Keras 2"
)
_A_NAME: Final = (
    "it is the module itself: attributes set on `keras.backend` are not visible through it"
)

DIFFERENCES: Final = {
    "add": "`keras.ops.add` broadcasts a column as a row where both fit: [[1, 1], [1, 1]] + [[1], "
    "[2]] gives [[2, 3], [2, 3]]",
    "arange": "K.arange returned floats for floats whatever `dtype` says; a range that moves away "
    "from its end was empty, and raises here",
    "batch_normalization": "`keras.ops.batch_normalization` accepts only one-dimensional mean and "
    "variance, and rejects those that keep all axes",
    "bias_add": "for channels_first the bias was added along the second axis also where it has "
    "several axes, or where only `image_data_format` says so",
    "binary_crossentropy": "Keras 2 took the logarithm of p + epsilon: near probabilities 0 and 1 "
    "the two differ by up to 0.7",
    "cast_to_floatx": "for a NumPy array it returns a tensor, where Keras 2 returned an array",
    "clip": "a bound of None is rejected; at NaN and infinity the gradient of a bound differs",
    "divide": "for integers `keras.ops.divide` returns float32, where `tf.divide` returned float64",
    "dot": "where x has two axes and y has more, `keras.ops.matmul` contracts other axes",
    "dropout": _DRAWN,
    "eval": _NO_NUMBER,
    "gather": "a negative index was rejected on a CPU and gave zeros on a GPU; here it counts from "
    "the end",
    "get_graph": "names are unique in TensorFlow's graph, where layers of Keras 3 enter none",
    "get_value": _NO_NUMBER,
    "l2_normalize": "for an `axis` of None `keras.ops.normalize` uses the last one, K.l2_normalize "
    "used all",
    "moving_average_update": _NOT_BY_GRAPH,
    "cast": "for a variable that already has the dtype Keras 2 returned the variable itself, which "
    "may still change; `keras.ops.cast` returns a tensor with the current value",
    "ndim": "for a symbolic tensor it is a symbolic number, where Keras 2 returned an int",
    "np": _A_NAME,
    "ones": _A_VARIABLE,
    "placeholder": "a `keras.Input` is an input of a model: it has a fixed rank, and what was fed "
    "through `K.function` is now passed to a model",
    "prod": _WIDER,
    "random_bernoulli": _DRAWN,
    "random_binomial": _DRAWN,
    "random_normal": _DRAWN,
    "random_uniform": _DRAWN,
    "relu": "for infinite values with a `threshold`, Keras 2 returned NaN and this returns 0",
    "repeat_elements": "for a negative axis whose size is unknown in a graph, Keras 2 repeated "
    "along another axis",
    "separable_conv1d": "the old function failed in every case that was tried, so nothing could be "
    "compared",
    "set_value": "what is set must be a variable: a hyperparameter of a Keras 3 optimizer may be "
    "a plain number, which has no `assign`",
    "shape": "it is a tuple here, and was a tensor: arithmetic on it as a whole, or reading its "
    "dtype, fails",
    "std": _IN_FLOAT32,
    "stop_gradient": "it turns a list of tensors into one tensor, where Keras 2 returned a list",
    "sum": _WIDER,
    "switch": "a condition with fewer axes was aligned with the first axes of the branches, here "
    "with the last; a branch that is a function is not called",
    "tf": _A_NAME,
    "tile": "a tensor `n` is iterated over, which fails in a graph",
    "truncated_normal": _DRAWN,
    "update": _NOT_BY_GRAPH,
    "update_add": _NOT_BY_GRAPH,
    "update_sub": _NOT_BY_GRAPH,
    "var": _IN_FLOAT32,
    "variable": "a `keras.Variable` is trained and saved only if it is an attribute of a layer, "
    "and its name must not contain a slash",
    "while_loop": _A_NAME,
    "zeros": _A_VARIABLE,
}
