"""Functions of the old `keras.utils` and of private modules."""

from __future__ import annotations

from kdoctor.rewrite import equals, one_of, rewrite
from kdoctor.rules.names._successors.successor import Successor
from kdoctor.rules.rule import Example

_PRIVATE = "it is private in Keras 3, and any release may remove it"
_CHECKS = "keras.src.utils.argument_validation"
_SHAPES = "keras.src.applications.imagenet_utils"
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
    Successor(
        rewrite("keras.utils.conv_utils.normalize_tuple", f"{_CHECKS}.standardize_tuple"),
        unsafe_because=_PRIVATE,
    ),
    Successor(
        rewrite("keras.utils.conv_utils.normalize_padding", f"{_CHECKS}.standardize_padding"),
        unsafe_because=_PRIVATE,
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
    *(
        Successor(
            rewrite(f"keras.applications.imagenet_utils.{old}", f"{_SHAPES}.{new}"),
            unsafe_because=_PRIVATE,
        )
        for old, new in (
            ("_obtain_input_shape", "obtain_input_shape"),
            ("obtain_input_shape", "obtain_input_shape"),
            ("correct_pad", "correct_pad"),
            ("validate_activation", "validate_activation"),
        )
    ),
)

EXAMPLES = (
    Example(
        before="from keras.utils.conv_utils import conv_output_length\n\n"
        "height = conv_output_length(length, 3, 'valid', 2)\n",
        after="height = -(-(length - 1 * (3 - 1)) // 2) if length is not None else None\n",
        raises="ModuleNotFoundError: No module named 'keras.utils.conv_utils'",
        prelude="length = 9\n",
        check="""
assert height == 4
from tf_keras.src.utils.conv_utils import conv_output_length as old
for length in (1, 5, 8, 9, None):
    for size in (1, 2, 3):
        for stride in (1, 2, 3):
            for dilation in (1, 2):
                for padding in ("same", "causal", "valid", "full"):
                    expected = old(length, size, padding, stride, dilation)
                    if length is None:
                        assert expected is None
                        continue
                    assert expected == -(-(length + {'valid': -1, 'full': 1}.get(padding, 0)
                                           * dilation * (size - 1)) // stride)
                    if padding == "valid":
                        assert expected == -(-(length - dilation * (size - 1)) // stride)
                    elif padding != "full":
                        assert expected == -(-length // stride)
""",
        unsafe=True,
    ),
    Example(
        before="from keras.utils.layer_utils import count_params\n\n"
        "number = count_params(layer.trainable_weights)\n",
        after="import math\n\n"
        "number = sum([math.prod(weight.shape) for weight in layer.trainable_weights])\n",
        raises="ModuleNotFoundError: No module named 'keras.utils.layer_utils'",
        prelude="import keras\nlayer = keras.layers.Dense(3)\nlayer.build((None, 4))\n",
        check="assert number == 15 == layer.count_params()",
        unsafe=True,
    ),
    Example(
        before="from keras.applications.imagenet_utils import _obtain_input_shape\n\n"
        "shape = _obtain_input_shape(None, 224, 32, 'channels_last', require_flatten=True)\n",
        raises="ImportError: cannot import name '_obtain_input_shape' from "
        "'keras.applications.imagenet_utils'",
    ),
    # What has these now is private.
    Example(
        before="from keras.applications import imagenet_utils\n\n"
        "imagenet_utils.validate_activation('softmax', None)\n",
        raises="AttributeError: module 'keras.applications.imagenet_utils' has no attribute "
        "'validate_activation'",
    ),
    Example(
        before="from keras.utils.conv_utils import normalize_tuple\n\n"
        "sizes = normalize_tuple(3, 2, 'kernel_size')\n",
        raises="ModuleNotFoundError: No module named 'keras.utils.conv_utils'",
    ),
)
