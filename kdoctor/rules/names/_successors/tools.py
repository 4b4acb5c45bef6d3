"""Functions of the old `keras.utils` and of private modules."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rules.names._successors.successor import Successor
from kdoctor.rules.rule import Example

_PRIVATE = "it is private in Keras 3 and may go with any release"
_SHAPES = "keras.src.applications.imagenet_utils"
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
        unsafe_because="the old function also refused a value that it did not know",
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
        after="from keras.src.applications.imagenet_utils import obtain_input_shape as "
        "_obtain_input_shape\n\n"
        "shape = _obtain_input_shape(None, 224, 32, 'channels_last', require_flatten=True)\n",
        raises="ImportError: cannot import name '_obtain_input_shape' from "
        "'keras.applications.imagenet_utils'",
        check="assert shape == (224, 224, 3)",
        unsafe=True,
    ),
)
