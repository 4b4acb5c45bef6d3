"""Possible differences between TensorFlow functions and ``keras.ops``, by function name.

Each was seen where the proof of the rewrite failed.
"""

from __future__ import annotations

from typing import Final

_OF_INTEGERS: Final = "for integers it returns float32, TensorFlow returned float64"
_OF_HALVES: Final = "for bfloat16 and a number it returns float32, TensorFlow kept bfloat16"

DIFFERENCES: Final = {
    "add": "`keras.ops.add` treats a column as a row if both fit: [[1, 1], [1, 1]] + [[1], [2]] "
    "is [[2, 3], [2, 3]]",
    "add_n": "for bools it returns integers, TensorFlow returned bools",
    "atan2": _OF_HALVES,
    "cast": "a variable that has that type stays the variable in TensorFlow, here it is a tensor",
    "divide": _OF_INTEGERS,
    "divide_no_nan": _OF_INTEGERS,
    "floormod": _OF_HALVES,
    "gather": "a negative index raised on a CPU and gave zeros on a GPU, here it counts from the "
    "end",
    "linspace": "between integers it returns float32, TensorFlow returned float64",
    "moments": "in half precision large numbers overflow at a different point",
    "norm": "for integers it returns floats, TensorFlow returned integers",
    "rank": "it is a number, in TensorFlow it was a tensor",
    "reduce_mean": "for integers it returns floats, TensorFlow truncated the mean to an integer",
    "resize": "for float64 it returns float64, TensorFlow returned float32",
    "rgb_to_grayscale": "for float64 it computes in float32: results differ by 1e-7",
    "sort": "NaN and equal numbers are ordered differently in descending order",
    "squeeze": "while a model is built the batch size is unknown and the axis is kept; "
    "TensorFlow dropped a batch of one",
    "top_k": "it returns a plain tuple, without `.values` and `.indices`",
    "truediv": _OF_INTEGERS,
}
