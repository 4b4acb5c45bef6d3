"""Examples of metrics with one-dimensional or non-float targets, and of correct ones."""

from __future__ import annotations

from kdoctor.rules.rule import Example

_HEAD = "import keras\nimport numpy as np\n\nx = np.linspace(-1, 1, 24).reshape(8, 3)\n"
_FLAT = "y = np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0])\n"
_WHOLE = "y = np.array([[0], [1], [0], [1], [1], [0], [1], [1]])\n"
_COLUMN_GIVEN = "y = np.ones((8, 1))\n"
_METRIC = "\n\ndef both(y_true, y_pred):\n{}    return {}\n\n\n"
_MODEL = "model = keras.Sequential([keras.layers.Dense({}, kernel_initializer='ones')])\n"
_COMPILE = "model.compile('sgd', {}, metrics={})\nresult = model.evaluate(x, y, verbose=0)\n"
_ONE = _MODEL.format(1) + _COMPILE.format("'mse'", "[both]")
_SHAPED = "    y_true = keras.ops.reshape(y_true, keras.ops.shape(y_pred))\n"
_COLUMN = "    y_true = keras.ops.reshape(y_true, (-1, 1))\n"
_CAST = "    y_true = keras.ops.cast(y_true, y_pred.dtype)\n"
_SHAPED_AND_CAST = (
    "    y_true = keras.ops.cast("
    "keras.ops.reshape(y_true, keras.ops.shape(y_pred)), y_pred.dtype)\n"
)
_UNLIKE = "TypeError: Input 'y' of 'Mul' Op has type float32 that does not match type int64"
_MASKS = "y = np.zeros((8, 1), dtype=bool)\ny[2:5] = True\n"
_DICE = (
    "import tensorflow as tf\n\n\ndef both(y_true, y_pred):\n{}"
    "    masks = tf.reshape(y_true, [-1])\n"
    "    return tf.reduce_sum(tf.cast(masks * tf.reshape(y_pred, [-1]), 'float32'))\n\n\n"
)
_METRIC_CLASS = (
    "\n\nclass Error(keras.metrics.Metric):\n    def __init__(self):\n"
    "        super().__init__(name='error')\n"
    "        self.total = self.add_weight(name='total', initializer='zeros')\n\n"
    "    def update_state(self, y_true, y_pred, sample_weight=None):\n{}"
    "        self.total.assign_add((y_true - y_pred)[7, 0])\n\n"
    "    def result(self):\n        return self.total + 0.0\n\n\n"
)
_LOSS_CLASS = (
    "\n\nclass Squares(keras.losses.Loss):\n    def call(self, y_true, y_pred):\n{}"
    "        return (y_true - y_pred) ** 2\n\n\n"
)
_TWO = (
    '\n\ndef both(y_true, y_pred):\n    """Tell how often both are one."""\n'
    "    return hits(y_true, y_pred) / 2\n\n\n"
    "def hits(labels, scores, threshold=0.5):\n{}    found = scores - threshold\n"
    "    return found * -labels\n\n\n"
)
_BUILT = (
    "\n\ndef build():\n    inputs = keras.Input((3,))\n"
    "    outputs = keras.layers.Dense(1, kernel_initializer='ones')(inputs)\n"
    "    model = keras.Model(inputs, outputs)\n"
    "    model.compile('sgd', 'mse', metrics=[both])\n    return model\n\n\n"
    "def tested(model, targets):\n    return model.evaluate(x, targets, verbose=0)\n\n\n"
    "result = tested(build(), y)\n"
)
_DATASET = (
    "import tensorflow as tf\n\ndata = tf.data.Dataset.from_tensor_slices(\n"
    "    (x, y.astype('float32'))).batch(8)\n"
    + _MODEL.format(1)
    + "model.compile('sgd', 'mse', metrics=[both])\n"
    "result = model.evaluate(data.prefetch(1), verbose=0)\n"
)
_SAME = "round(float(result[1]), 4)"
_LOSS = "round(float(result if isinstance(result, float) else result[0]), 4)"

VALID = [
    _HEAD + _COLUMN_GIVEN + _METRIC.format("", "y_true * y_pred") + _ONE,
    # What the targets are is not known.
    _HEAD + "y = load()\n" + _METRIC.format("", "y_true * y_pred") + _ONE,
    _HEAD + "y = np.load('y.npy')\n" + _METRIC.format("", "y_true * y_pred") + _ONE,
    # Nor by whom the metric is measured.
    _HEAD + _FLAT + _METRIC.format("", "y_true * y_pred") + "model.compile('sgd', metrics=[both])\n"
    "model.fit(x, y)",
    # Both in one shape, or each by itself.
    _HEAD + _FLAT + _METRIC.format("", "keras.ops.ravel(y_true) * keras.ops.ravel(y_pred)") + _ONE,
    _HEAD + _FLAT + _METRIC.format(_SHAPED, "y_true * y_pred") + _ONE,
    _HEAD + _FLAT + _METRIC.format("", "keras.ops.sum(y_true) / keras.ops.sum(y_pred)") + _ONE,
    _HEAD + _WHOLE + _METRIC.format(_CAST, "y_true * y_pred") + _ONE,
    # Keras' own functions take both as they are.
    _HEAD + _WHOLE + _METRIC.format("", "keras.ops.multiply(y_true, y_pred)") + _ONE,
    _HEAD + _MASKS + _METRIC.format("", "keras.losses.mean_squared_error(y_true, y_pred)") + _ONE,
    # The predictions are made whole, too.
    _HEAD + _WHOLE + _METRIC.format("", "y_true * keras.ops.cast(y_pred > 0.5, 'int64')") + _ONE,
    # As a loss, a function gets the targets in the shape of one column, and cast.
    _HEAD + _FLAT + _METRIC.format("", "y_true * y_pred") + _MODEL.format(1)
    + _COMPILE.format("both", "['mae']"),
    _HEAD + _WHOLE + _METRIC.format("", "y_true * y_pred") + _MODEL.format(3)
    + _COMPILE.format("both", "['mae']"),
    _HEAD + _FLAT + _METRIC.format("", "y_true * y_pred") + _MODEL.format("units")
    + _COMPILE.format("both", "['mae']"),
    # Two axes, though by an index.
    _HEAD + "rows = np.ones((8, 4))\ny = rows[:, 3:]\n" + _METRIC.format("", "y_true * y_pred")
    + _ONE,
    # What ends with something else may have one axis.
    _HEAD + _FLAT + _METRIC.format("", "y_true * y_pred")
    + "model = keras.Sequential([keras.layers.Dense(1), keras.layers.Reshape(())])\n"
    + _COMPILE.format("'mse'", "[both]"),
    # Another model is given them.
    _HEAD + _FLAT + _METRIC.format("", "y_true * y_pred") + "other = keras.Sequential()\n"
    + _MODEL.format(1) + "model.compile('sgd', 'mse', metrics=[both])\nother.fit(x, y)\n",
    # A Series is a column.
    "import keras\nimport pandas as pd\n\nx = pd.read_csv('x.csv')\ny = x['y']\n"
    + _METRIC.format("", "y_true * y_pred") + _ONE,
    (_HEAD + _FLAT + _METRIC.format("", "y_true * y_pred") + _ONE).replace(
        "import keras", "import tf_keras as keras"
    ),
]  # fmt: skip


def _example(  # noqa: PLR0913, PLR0917 - the parts of a program
    data: str,
    measured: str,
    first: str,
    used: str = _ONE,
    raises: str | None = None,
    same: str = _SAME,
    needs: tuple[str, ...] = (),
    *,
    unsafe: bool = False,
) -> Example:
    """Return a program whose metric gets its ``first`` line by the fix."""
    return Example(
        before=_HEAD + data + measured.replace("{}", "") + used,
        after=_HEAD + data + measured.replace("{}", first) + used,
        raises=raises,
        on_keras_2=True,
        same=same,
        needs=needs,
        unsafe=unsafe,
    )


_PRODUCT = _METRIC.format("{}", "y_true * y_pred")
_IN_A_METHOD = f"    {_SHAPED}"
INVALID = [
    _example(_FLAT, _PRODUCT, _SHAPED),
    _example(_WHOLE, _PRODUCT, _CAST, raises=_UNLIKE),
    _example(
        "y = (np.arange(8) % 3 == 0).astype(int)\n", _PRODUCT, _SHAPED_AND_CAST, raises=_UNLIKE
    ),
    _example(
        _FLAT, _TWO, "    labels = keras.ops.reshape(labels, keras.ops.shape(scores))\n", _BUILT
    ),
    _example(
        _FLAT, _METRIC_CLASS, _IN_A_METHOD, _MODEL.format(1) + _COMPILE.format("'mse'", "[Error()]")
    ),
    _example(
        _FLAT,
        _LOSS_CLASS,
        _IN_A_METHOD,
        _MODEL.format(1) + _COMPILE.format("Squares()", "['mae']"),
        same=_LOSS,
    ),
    _example(_FLAT, _PRODUCT, _SHAPED_AND_CAST, _DATASET, needs=("tensorflow",)),
    _example(_MASKS, _DICE, _CAST, needs=("tensorflow",)),
    _example(
        _MASKS,
        _METRIC.format("{}", "abs(y_true - y_pred)"),
        _CAST,
        raises="TypeError: Value passed to parameter 'x' has DataType bool not in list of allowed",
    ),
    # It is called elsewhere, too.
    _example(_FLAT, _PRODUCT, _SHAPED, _ONE + "other = both(x, x)\n", unsafe=True),
    # A loss that is a function, beside several columns: with as many rows nothing raises.
    _example(
        _FLAT, _PRODUCT, _COLUMN, _MODEL.format(8) + _COMPILE.format("both", "['mae']"),
        same=_LOSS, unsafe=True,
    ),
]  # fmt: skip
