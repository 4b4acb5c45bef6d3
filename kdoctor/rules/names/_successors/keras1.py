"""Names of Keras 1, and of the first releases of Keras 2 that still knew them."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.rewrite import equals, given, not_given, rewrite
from kdoctor.rules.names._successors.successor import Successor
from kdoctor.rules.rule import Example

_MERGE = (
    "keras.layers.merge(inputs, mode='sum', concat_axis=-1, dot_axes=-1, output_shape=None, "
    "output_mask=None, arguments=None, name=None)"
)
_OTHERS = ("dot_axes", "output_shape", "output_mask", "arguments")
_MODES = {"sum": "add", "mul": "multiply", "ave": "average", "max": "maximum"}

_MERGED = Example(
    before="from keras.layers import merge\n\n"
    "total = merge([a, b], mode='sum')\n"
    "both = merge([a, b], mode='concat', concat_axis=1, name='both')\n",
    after="from keras import layers\n\n"
    "total = layers.add([a, b])\n"
    "both = layers.concatenate([a, b], axis=1, name='both')\n",
    raises="ImportError: cannot import name 'merge' from 'keras.layers'",
    prelude="import keras\na, b = keras.Input((2,)), keras.Input((2,))\n",
    check="""
import numpy as np
x, y = np.array([[1.0, 2.0]]), np.array([[3.0, 5.0]])
sums, joined = keras.Model([a, b], [total, both])([x, y])
np.testing.assert_allclose(sums, x + y)
np.testing.assert_allclose(joined, np.concatenate([x, y], axis=1))
for mode, expected in (("multiply", x * y), ("average", (x + y) / 2), ("maximum", [[3, 5]])):
    np.testing.assert_allclose(getattr(keras.layers, mode)([x, y]), expected)
""",
)
_REGULARIZED = Example(
    before="import keras\n\nregularizer = keras.regularizers.l1l2(l2=0.1)\n",
    after="import keras\n\nregularizer = keras.regularizers.L1L2(l2=0.1, l1=0.01)\n",
    raises="AttributeError: module 'keras.regularizers' has no attribute 'l1l2'",
    check="""
import numpy as np
x = np.array([1.0, -2.0, 3.0], "float32")
np.testing.assert_allclose(regularizer(x), 0.01 * 6 + 0.1 * 14, rtol=1e-5)
""",
)


def _merge_rows() -> Iterator[Successor]:
    for name, passed in (("", not_given("name")), (", name=name", given("name"))):
        for mode, function in _MODES.items():
            fits = equals("mode", mode) & not_given("concat_axis", *_OTHERS) & passed
            new = f"keras.layers.{function}(inputs{name})"
            yield Successor(rewrite(_MERGE, new, fits), _MERGED)
        fits = equals("mode", "concat") & not_given(*_OTHERS) & passed
        new = f"keras.layers.concatenate(inputs, axis=concat_axis{name})"
        yield Successor(rewrite(_MERGE, new, fits), _MERGED)


ROWS = (
    *_merge_rows(),
    Successor(
        rewrite(
            "keras.utils.visualize_util.plot(model, to_file='model.png', show_shapes=False, "
            "show_layer_names=True)",
            "keras.utils.plot_model(model, to_file=to_file, show_shapes=show_shapes, "
            "show_layer_names=show_layer_names)",
        ),
        unsafe_because="the picture looks another way; it needs pydot and graphviz as before",
    ),
    Successor(
        rewrite("keras.utils.visualize_util.plot", "keras.utils.plot_model"),
        unsafe_because="the picture looks another way; it needs pydot and graphviz as before",
    ),
    Successor(
        rewrite("keras.utils.visualize_util.model_to_dot", "keras.utils.model_to_dot"),
        unsafe_because="the picture looks another way; it needs pydot and graphviz as before",
    ),
    Successor(
        rewrite(
            "keras.regularizers.l1l2(l1=0.01, l2=0.01)", "keras.regularizers.L1L2(l1=l1, l2=l2)"
        ),
        _REGULARIZED,
    ),
    Successor(
        rewrite("keras.regularizers.activity_l1(l=0.01)", "keras.regularizers.L1(l1=l)"),
        unsafe_because="it was passed as activity_regularizer; the loss of Keras 1 summed it over "
        "the batch, Keras 3 divides by the batch's size",
    ),
    Successor(
        rewrite("keras.regularizers.activity_l2(l=0.01)", "keras.regularizers.L2(l2=l)"),
        unsafe_because="it was passed as activity_regularizer; the loss of Keras 1 summed it over "
        "the batch, Keras 3 divides by the batch's size",
    ),
)
