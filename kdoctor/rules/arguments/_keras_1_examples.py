"""Examples of ``keras_1_argument``: convolutions, keywords in a partial, and in a dict."""

from __future__ import annotations

from kdoctor.rules.rule import Example

_PARTIAL = "from functools import partial\n\nimport keras\n\n"
GIVEN_IN_A_PARTIAL = [
    Example(
        before=f"{_PARTIAL}conv = partial(keras.layers.Conv2D, kernel_size=3, border_mode='same')\n"
        "layer = conv(8)\n",
        after=f"{_PARTIAL}conv = partial(keras.layers.Conv2D, kernel_size=3, padding='same')\n"
        "layer = conv(8)\n",
        raises="ValueError: Unrecognized keyword arguments passed to Conv2D: "
        "{'border_mode': 'same'",
        check="assert layer(keras.ops.ones((1, 6, 6, 3))).shape == (1, 6, 6, 8)",
    ),
    Example(
        before=f"{_PARTIAL}dense = partial(keras.layers.Dense, output_dim=3, bias=False)\n"
        "layer = dense(activation='relu')\n",
        after=f"{_PARTIAL}dense = partial(keras.layers.Dense, units=3, use_bias=False)\n"
        "layer = dense(activation='relu')\n",
        raises="TypeError: Dense.__init__() missing 1 required positional argument: 'units'",
        check="assert layer.units == 3 and not layer.use_bias",
    ),
    Example(
        before=f"{_PARTIAL}conv = partial(keras.layers.Conv2D, 8, 3, 5, subsample=(2, 2))\n"
        "layer = conv(padding='same')\n",
        after=f"{_PARTIAL}conv = partial(keras.layers.Conv2D, 8, (3, 5), strides=(2, 2))\n"
        "layer = conv(padding='same')\n",
        raises="ValueError: Unrecognized keyword arguments passed to Conv2D: {'subsample': ",
        check="assert layer.kernel_size == (3, 5) and layer.strides == (2, 2)",
    ),
]
_IMPORTS = "import keras\nfrom keras.layers import Conv2D, Convolution2D\n\n"
_SIDES = "kernel_size = (3, 5)\n"
_OLD = "first = Convolution2D(8, {}border_mode='same')\n"
_TODAY = "first = Convolution2D(8, {}padding='same')\n"
_TRANSPOSED = "import keras\n\nlayer = keras.layers.Conv2DTranspose(8, {})\n"
OF_CONVOLUTIONS = [
    Example(
        before="from keras.layers import Convolution2D\n\n"
        "layer = Convolution2D(8, 3, 5, border_mode='same', subsample=(2, 2), dim_ordering='tf')\n",
        after="from keras.layers import Convolution2D\n\n"
        "layer = Convolution2D(8, (3, 5), padding='same', strides=(2, 2), "
        "data_format='channels_last')\n",
        raises="ValueError: Unrecognized keyword arguments passed to Conv2D: "
        "{'border_mode': 'same'",
        prelude="import keras",
        check="assert layer(keras.ops.ones((1, 8, 8, 3))).shape == (1, 4, 4, 8)\n"
        "assert layer.kernel.shape == (3, 5, 3, 8)",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Conv2D(nb_filter=8, nb_row=3, nb_col=5)\n",
        after="import keras\n\nlayer = keras.layers.Conv2D(filters=8, kernel_size=(3, 5))\n",
        raises="TypeError: Conv2D.__init__() missing 2 required positional arguments: 'filters' "
        "and 'kernel_size'",
        check="assert layer.kernel_size == (3, 5)",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Conv1D(nb_filter=8, filter_length=3, "
        "subsample_length=2)\n",
        after="import keras\n\nlayer = keras.layers.Conv1D(filters=8, kernel_size=3, strides=2)\n",
        raises="TypeError: Conv1D.__init__() missing 2 required positional arguments: 'filters' "
        "and 'kernel_size'",
        check="assert layer.filters == 8 and layer.kernel_size == (3,) and layer.strides == (2,)",
    ),
    Example(
        before="from keras.layers import Convolution2D\n\nlayer = Convolution2D(8, 3, 3)\n",
        after="from keras.layers import Convolution2D\n\nlayer = Convolution2D(8, (3, 3))\n",
        unsafe=True,
        check="assert layer.kernel_size == (3, 3) and layer.strides == (1, 1)",
    ),
    # The sides of a kernel out of a tuple: what Keras' own examples wrote.
    Example(
        before=_IMPORTS + _SIDES + _OLD.format("kernel_size[0], kernel_size[1],\n    "),
        after=_IMPORTS + _SIDES + _TODAY.format("(kernel_size[0], kernel_size[1]),\n    "),
        raises="ValueError: Unrecognized keyword arguments passed to Conv2D: "
        "{'border_mode': 'same'",
        check="assert first.kernel_size == (3, 5) and first.strides == (1, 1)",
    ),
    Example(
        before=_IMPORTS + _SIDES + "layer = Convolution2D(8, kernel_size[0], kernel_size[1])\n",
        after=_IMPORTS + _SIDES + "layer = Convolution2D(8, (kernel_size[0], kernel_size[1]))\n",
        unsafe=True,
        check="assert layer.kernel_size == (3, 5) and layer.strides == (1, 1)",
    ),
    Example(
        before=_IMPORTS + "side = 3\nlayer = Convolution2D(8, side, side, activation='relu')\n",
        after=_IMPORTS + "side = 3\nlayer = Convolution2D(8, (side, side), activation='relu')\n",
        unsafe=True,
        check="assert layer.kernel_size == (3, 3) and layer.strides == (1, 1)",
    ),
    # The output's shape stood behind the kernel.
    Example(
        before=_TRANSPOSED.format("3, 3, (None, 8, 8, 8), border_mode='same', subsample=(2, 2)"),
        after=_TRANSPOSED.format("(3, 3), padding='same', strides=(2, 2)"),
        raises="ValueError: Unrecognized keyword arguments passed to Conv2DTranspose: "
        "{'border_mode': 'same'",
        unsafe=True,
        check="assert layer(keras.ops.ones((1, 4, 4, 3))).shape == (1, 8, 8, 8)\n"
        "assert layer.kernel_size == (3, 3)",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Embedding(9, 4, dropout=0.2)\n",
        after="import keras\n\nlayer = keras.layers.Embedding(9, 4)\n",
        raises="ValueError: Unrecognized keyword arguments passed to Embedding: {'dropout': 0.2",
        unsafe=True,
        check="assert layer(keras.ops.ones((1, 3))).shape == (1, 3, 4)",
    ),
]
# One keyword of Keras 1 says how all of the file is to be read.
_CHECK = (
    "assert all(each.kernel_size == (3, 3) and each.strides == (1, 1) for each in (first, second))"
)
BESIDE_KEYWORDS = [
    Example(
        before=f"{_IMPORTS}{_OLD.format('3, 3, ')}second = Convolution2D(8, 3, 3)\n",
        after=f"{_IMPORTS}{_TODAY.format('(3, 3), ')}second = Convolution2D(8, (3, 3))\n",
        raises="ValueError: Unrecognized keyword arguments passed to Conv2D: "
        "{'border_mode': 'same'",
        findings=2,
        check=_CHECK,
    ),
    Example(
        before=f"{_IMPORTS}side = 3\nsecond = Conv2D(8, side, side, activation='relu')\n"
        "first = Conv2D(8, 3, 3, bias=False)\n",
        after=f"{_IMPORTS}side = 3\nsecond = Conv2D(8, (side, side), activation='relu')\n"
        "first = Conv2D(8, (3, 3), use_bias=False)\n",
        raises="ValueError: Unrecognized keyword arguments passed to Conv2D: {'bias': ",
        findings=2,
        check=_CHECK,
    ),
]
_MODEL = (
    "import keras\nimport numpy as np\n\n"
    "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])\n"
    "model.compile('sgd', 'mse')\n"
)
_FIT = "history = model.fit(np.ones((2, 4)), np.ones((2, 3)), **options)\n"
_CONVOLUTION = "layer = keras.layers.Conv2D(8, 3, **options)\n"
HELD_BY_A_DICT = [
    Example(
        before=f"import keras\n\noptions = dict(border_mode='same', init='one')\n{_CONVOLUTION}",
        after="import keras\n\noptions = dict(padding='same', kernel_initializer='one')\n"
        f"{_CONVOLUTION}",
        raises="ValueError: Unrecognized keyword arguments passed to Conv2D: "
        "{'border_mode': 'same'",
        findings=2,
        check="assert layer.padding == 'same'\n"
        "assert type(layer.kernel_initializer).__name__ == 'Ones'",
    ),
    Example(
        before=f"{_MODEL}options = {{'nb_epoch': 2, 'verbose': 0}}\n{_FIT}",
        after=f"{_MODEL}options = {{'epochs': 2, 'verbose': 0}}\n{_FIT}",
        raises="TypeError: TensorFlowTrainer.fit() got an unexpected keyword argument 'nb_epoch'",
        check="assert history.epoch == [0, 1]",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(**{'output_dim': 3, 'bias': False})\n",
        after="import keras\n\nlayer = keras.layers.Dense(**{'units': 3, 'use_bias': False})\n",
        raises="TypeError: Dense.__init__() missing 1 required positional argument: 'units'",
        findings=2,
        check="assert layer.units == 3 and not layer.use_bias",
    ),
    # Two calls get it.
    Example(
        before="import keras\n\noptions = {'border_mode': 'same'}\n"
        "first = keras.layers.Conv2D(8, 3, **options)\n"
        "second = keras.layers.Conv2D(4, 3, **options)\n",
        raises="ValueError: Unrecognized keyword arguments passed to Conv2D: "
        "{'border_mode': 'same'",
    ),
    Example(
        before="import keras\n\noptions = {'dim_ordering': 'tf'}\n"
        "layer = keras.layers.MaxPooling2D(2, **options)\n",
        raises="ValueError: Unrecognized keyword arguments passed to MaxPooling2D: "
        "{'dim_ordering': 'tf'",
    ),
]
