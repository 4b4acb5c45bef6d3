"""What may differ where a function of TensorFlow is written with ``keras.ops``, by its last name.

Each was seen where the proof of the rewrite failed.
"""

from __future__ import annotations

from typing import Final

_OF_INTEGERS: Final = "of integers it gives float32, where TensorFlow gave float64"
_OF_HALVES: Final = "of bfloat16 and a number it gives float32, where TensorFlow kept bfloat16"

DIFFERENCES: Final = {
    "add": "`keras.ops.add` takes a column for a row where both fit: [[1, 1], [1, 1]] + [[1], [2]] "
    "gives [[2, 3], [2, 3]]",
    "add_n": "of bools it gives integers, where TensorFlow gave bools",
    "atan2": _OF_HALVES,
    "divide": _OF_INTEGERS,
    "divide_no_nan": _OF_INTEGERS,
    "floormod": _OF_HALVES,
    "gather": "a negative index was refused on a CPU and gave zeros on a GPU, and counts from the "
    "end here",
    "moments": "in half precision large numbers overflow at another place",
    "norm": "of integers it gives floats, where TensorFlow gave integers",
    "rank": "it is a number, and was a tensor",
    "reduce_mean": "of integers it gives floats, where TensorFlow cut the mean to an integer",
    "resize": "of float64 it gives float64, where TensorFlow gave float32",
    "rgb_to_grayscale": "of float64 it calculates with float32: results are 1e-7 apart",
    "sort": "NaN and equal numbers stand in another order when it sorts downwards",
    "squeeze": "while a model is built its batch has no size and stays; TensorFlow dropped a batch "
    "of one",
    "top_k": "it gives a plain tuple, without `.values` and `.indices`",
    "truediv": _OF_INTEGERS,
}
