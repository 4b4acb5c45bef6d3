"""Inputs that Keras 3 is known to reject although Keras 2 accepted them.

No guard can detect these in code (is the tensor empty?), and they mislead nobody: the new side may
only raise. A result that silently differs is a failure, here as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kdoctor.verify.generators.scene import OMITTED
from kdoctor.verify.values import FLOATS, arrays_in


@dataclass(frozen=True, slots=True)
class AcceptedRefusal:
    """A condition on the mode and arguments under which the new side may raise.

    ``raises`` is the class name of the error, if any other error would be a failure.
    """

    text: str
    met_by: Callable[[str, dict[str, Any]], bool]
    raises: str = ""

    def covers(self, error: Exception, mode: str, arguments: dict[str, Any]) -> bool:
        """Say whether this refusal applies to ``error``."""
        named = not self.raises or type(error).__name__ == self.raises
        return named and self.met_by(mode, arguments)


# Exceptions that no guard can detect and no generated input shows; no code relies on them.
EXCEPTIONS = {
    "clip": "max_value is below min_value: the gradient at the bounds",
    "argmax": "0.0 and -0.0 are both largest: Keras 3 may take the other",
    "argmin": "0.0 and -0.0 are both smallest: Keras 3 takes -0.0",
    "gather": "an index is negative: Keras 2 raises on a CPU and gives zeros on a GPU, Keras 3 "
    "counts from the end",
    "batch_dot": "float16 products that overflow: the order in which they are added decides "
    "whether their sum is infinite or NaN",
}


def limits_of(function: str, framework: str = "") -> tuple[AcceptedRefusal, ...]:
    """Return the accepted refusals of the replacement for ``function``.

    ``framework`` is JAX or PyTorch, where the function is one of theirs.
    """
    limits = _LIMITS.get(function, ())
    if not framework:
        return limits
    return (*limits, _NO_FLOATS if function in _ACTIVATIONS else _BOOLS)


def _is_empty(_: str, arguments: dict[str, Any]) -> bool:
    return any(not array.data.size for value in arguments.values() for array in arrays_in(value))


def _has_no_axes(_: str, arguments: dict[str, Any]) -> bool:
    return any(not array.data.shape for value in arguments.values() for array in arrays_in(value))


def _is_bfloat16_without_axes(_: str, arguments: dict[str, Any]) -> bool:
    return any(
        array.dtype == "bfloat16" and not array.data.shape
        for value in arguments.values()
        for array in arrays_in(value)
    )


def _squeezes_what_is_unknown(mode: str, arguments: dict[str, Any]) -> bool:
    of = arguments["x"] if "x" in arguments else arguments["input"]
    axis = arguments["axis"]
    axes = axis if isinstance(axis, list | tuple) else (axis,)
    if mode == "function_sizes":
        return True
    first = (0, -of.data.ndim, None, OMITTED)
    return mode.endswith("batch") and any(each in first for each in axes)


def _runs_backwards(_: str, arguments: dict[str, Any]) -> bool:
    start, stop = arguments["start"], arguments["stop"]
    step = 1 if arguments["step"] is OMITTED else arguments["step"]
    if stop is OMITTED or stop is None:
        start, stop = 0, start
    return bool((stop - start) * step < 0)


def _is_of_bools(_: str, arguments: dict[str, Any]) -> bool:
    return bool(arguments["dtype"] == "bool")


def _kernel_sticks_out(_: str, arguments: dict[str, Any]) -> bool:
    kernel = arguments.get("kernel") or arguments.get("depthwise_kernel")
    if arguments["padding"] not in (OMITTED, "valid") or kernel is None:
        return False
    rate = arguments["dilation_rate"]
    first = arguments["data_format"] == "channels_first"
    axes = arguments["x"].data.shape[2:] if first else arguments["x"].data.shape[1:-1]
    rates = (1,) * len(axes) if rate is OMITTED else (rate,) if isinstance(rate, int) else rate
    return any(
        size < (wide - 1) * each + 1
        for size, wide, each in zip(axes, kernel.data.shape, rates, strict=False)
    )


def _has_channels_first(_: str, arguments: dict[str, Any]) -> bool:
    return bool(arguments["data_format"] == "channels_first")


def _is_of_no_floats(_: str, arguments: dict[str, Any]) -> bool:
    arrays = [array for value in arguments.values() for array in arrays_in(value)]
    return any(array.dtype not in FLOATS for array in arrays)


def _has_bools(_: str, arguments: dict[str, Any]) -> bool:
    arrays = [array for value in arguments.values() for array in arrays_in(value)]
    return any(array.dtype == "bool" for array in arrays)


_ACTIVATIONS = frozenset({
    *("relu", "relu6", "sigmoid", "softmax", "log_softmax", "gelu", "elu", "selu", "silu"),
    *("softplus", "leaky_relu", "tanh"),
})  # fmt: skip
_NO_FLOATS = AcceptedRefusal("of whole numbers and bools an activation raises", _is_of_no_floats)
_BOOLS = AcceptedRefusal("of bools the new function may raise", _has_bools)
_EMPTY = AcceptedRefusal("of no elements at all the new function may raise", _is_empty)
_NO_OUTPUT = AcceptedRefusal(
    "a kernel larger than its input, which gives no output, raises", _kernel_sticks_out
)
_CHANNELS = AcceptedRefusal(
    'data_format="channels_first" raises on a CPU', _has_channels_first, "UnimplementedError"
)
_NUMBER = AcceptedRefusal("a bfloat16 tensor without axes raises", _is_bfloat16_without_axes)

_LIMITS = {
    **dict.fromkeys(
        (
            *("reduce_max", "reduce_min"),
            *("add", "subtract", "multiply", "max", "min", "batch_flatten", "reshape"),
            *("map_fn", "foldl", "foldr", "update_add", "update_sub", "moving_average_update"),
        ),
        (_EMPTY,),
    ),
    **dict.fromkeys(("eval", "get_value", "batch_get_value"), (_NUMBER,)),
    **dict.fromkeys(("conv1d", "conv2d"), (_NO_OUTPUT, _CHANNELS)),
    **dict.fromkeys(("depthwise_conv2d", "separable_conv2d"), (_NO_OUTPUT,)),
    "reverse": (AcceptedRefusal("a tensor without axes raises", _has_no_axes),),
    "squeeze": (
        AcceptedRefusal(
            "an axis of unknown size, as the batch may be, raises", _squeezes_what_is_unknown
        ),
    ),
    "arange": (
        AcceptedRefusal(
            "a range that runs away from its end, empty in Keras 2, raises", _runs_backwards
        ),
        AcceptedRefusal('dtype="bool" raises', _is_of_bools),
    ),
}
