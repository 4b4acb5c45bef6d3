"""Functions of the old `keras.utils` that one expression stands for, where none is written."""

from __future__ import annotations

from kdoctor.rewrite import equals, one_of, rewrite
from kdoctor.rules.names._successors.successor import Successor

_WIDENED = "{'valid': -1, 'full': 1}.get(padding, 0)"
_TWICE = "a weight that is in the list twice counts twice now"

ROWS = (
    Successor(
        rewrite(
            "keras.utils.layer_utils.count_params(weights)",
            "sum([math.prod(weight.shape) for weight in weights])",
        ),
        unsafe_because=_TWICE,
    ),
    Successor(
        rewrite(
            "keras.utils.conv_utils.normalize_data_format(value)",
            "value or keras.config.image_data_format()",
        ),
        unsafe_because="the old function also rejected unknown values",
    ),
    *(
        Successor(
            rewrite(
                f"keras.utils.{module}.conv_output_length("
                "input_length, filter_size, padding, stride, dilation=1)",
                f"{length} if input_length is not None else None",
                guard,
            ),
            unsafe_because="the old function also rejected unknown paddings",
        )
        for module in ("conv_utils", "np_utils")
        for guard, length in (
            (one_of("padding", "same", "causal"), "-(-input_length // stride)"),
            (
                equals("padding", "valid"),
                "-(-(input_length - dilation * (filter_size - 1)) // stride)",
            ),
            (
                None,
                f"-(-(input_length + {_WIDENED} * dilation * (filter_size - 1)) // stride)",
            ),
        )
    ),
)
