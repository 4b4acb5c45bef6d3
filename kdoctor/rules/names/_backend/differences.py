"""What may differ where a function of ``keras.backend`` is written anew without a proof.

One sentence a function: it stands in the finding as the reason why the fix is not safe. What to
write by hand, where there is no fix, is told elsewhere (``BY_HAND``).
"""

from __future__ import annotations

from typing import Final

_NOT_BY_GRAPH: Final = (
    "what it gives is the new value, where Keras 2 gave the variable, or in a graph an operation "
    "that somebody had to run"
)
_DRAWN: Final = (
    "the numbers are others than those of Keras 2, and with an integer for a seed the same at "
    "every call, where Keras 2 went on to the next"
)
_NO_NUMBER: Final = (
    "of a scalar Keras 2 gave a NumPy number, which nothing changes and which can be a key; here "
    "it is an array without axes"
)
_A_VARIABLE: Final = (
    "Keras 2 gave a variable: a tensor cannot be assigned to, and a `keras.Variable` is trained "
    "and saved only where an attribute of a layer holds it"
)
_WIDER: Final = (
    "this file names integers of 8 or 16 bits: Keras 2 let them overflow, 200 + 100 being 44 in "
    "uint8, and Keras 3 gives wider integers"
)
_A_NAME: Final = "it is the module itself: what was set on `keras.backend` is not seen through it"

DIFFERENCES: Final = {
    "add": "`keras.ops.add` takes a column for a row where both fit: [[1, 1], [1, 1]] + [[1], [2]] "
    "gives [[2, 3], [2, 3]]",
    "arange": "of floats K.arange gave floats whatever `dtype` says; a range that runs away from "
    "its end was empty, and raises here",
    "batch_normalization": "`keras.ops.batch_normalization` takes mean and variance of one axis "
    "alone, and refuses those that kept all axes",
    "bias_add": "where `image_data_format` is channels_first the bias was added along the second "
    "axis, and is along the last here",
    "binary_crossentropy": "Keras 2 took the logarithm of p + epsilon: at probabilities near 0 and "
    "1 the two are up to 0.7 apart",
    "cast_to_floatx": "of a NumPy array it gives a tensor, where Keras 2 gave an array",
    "clip": "a bound that turns out to be None is refused; at NaN and infinity the gradient of a "
    "bound is another",
    "divide": "of integers `keras.ops.divide` gives float32, where `tf.divide` gave float64",
    "dot": "where x has two axes and y has more, `keras.ops.matmul` multiplies along other axes",
    "dropout": _DRAWN,
    "eval": _NO_NUMBER,
    "gather": "a negative index was refused on a CPU and gave zeros on a GPU, and counts from the "
    "end here",
    "get_value": _NO_NUMBER,
    "l2_normalize": "for an `axis` that turns out to be None `keras.ops.normalize` takes the last "
    "one, K.l2_normalize took all",
    "moving_average_update": _NOT_BY_GRAPH,
    "cast": "of a variable that has the type Keras 2 gave the variable itself, which goes on "
    "changing; `keras.ops.cast` gives a tensor that keeps the value",
    "ndim": "of a symbolic tensor it is a symbolic number, where Keras 2 gave an int",
    "np": _A_NAME,
    "ones": _A_VARIABLE,
    "placeholder": "a `keras.Input` is an input of a model: it has a rank, and what was fed "
    "through `K.function` goes to a model now",
    "prod": _WIDER,
    "random_bernoulli": _DRAWN,
    "random_binomial": _DRAWN,
    "random_normal": _DRAWN,
    "random_uniform": _DRAWN,
    "relu": "at infinite numbers, with a `threshold`, Keras 2 gave NaN and this gives 0",
    "repeat_elements": "of an axis that counts from the end, and whose size a graph does not know, "
    "Keras 2 repeated along another one",
    "separable_conv1d": "the old function failed in each case that was tried, so that nothing "
    "could be compared",
    "set_value": "what is set must be a variable: a hyperparameter of a Keras 3 optimizer may be "
    "a plain number, which has no `assign`",
    "shape": "it is a tuple here, and was a tensor: what calculates with it as a whole, or reads "
    "its dtype, fails",
    "stop_gradient": "of a list of tensors it makes one tensor, where Keras 2 gave a list",
    "sum": _WIDER,
    "switch": "a condition with fewer axes lined up with the first axes of the branches, and does "
    "with the last here; a branch that turns out to be a function is not called",
    "tf": _A_NAME,
    "tile": "a tensor for `n` is taken apart, which fails in a graph",
    "truncated_normal": _DRAWN,
    "update": _NOT_BY_GRAPH,
    "update_add": _NOT_BY_GRAPH,
    "update_sub": _NOT_BY_GRAPH,
    "variable": "a `keras.Variable` is trained and saved only where an attribute of a layer holds "
    "it, and its name must not have a slash in it",
    "while_loop": _A_NAME,
    "zeros": _A_VARIABLE,
}
