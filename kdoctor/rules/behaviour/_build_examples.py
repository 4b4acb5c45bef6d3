"""Models of one's own that are built by a shape, and asked for their weights."""

from __future__ import annotations

from kdoctor.rules.rule import Example

_HEAD = "import keras\nimport numpy as np\n\n\n"
_INIT = (
    "    def __init__(self):\n        super().__init__()\n"
    "        self.first = keras.layers.Dense(4)\n        self.last = keras.layers.Dense(1)\n"
)
_CALL = "\n    def call(self, x):\n        return self.last(self.first(x))\n"
_CLASS = f"{_HEAD}class Net(keras.Model):\n{_INIT}{_CALL}"
_MADE = "\n\nmodel = Net()\n"
_BUILD = "model.build((None, 3))\n"
_CALLED = "model(keras.Input(batch_shape=(None, 3)))\n"
_COUNT = "found = len(model.get_weights())\n"
_BUILT = f"{_CLASS}{_MADE}{_BUILD}"

# One that is trained by hand, and copied.
_TRAINING = _CALL.replace("(self, x)", "(self, inputs, training=False, mask=None)").replace(
    "(x)", "(inputs)"
)
_COPIED = (
    f"{_HEAD}class Base(keras.Model):\n{_INIT}\n\nclass Net(Base):{_TRAINING}\n\n"
    "def copied(given):\n    other = Net()\n    other.compile('sgd', 'mse')\n    {}\n"
    "    other.set_weights(given)\n    return other\n\n\n"
    "given = [np.ones((3, 4)), np.ones(4), np.ones((4, 1)), np.ones(1)]\n"
    "found = [each.tolist() for each in copied(given).get_weights()]\n"
)
# What `call` uses is used by another method; a member that is called like the model.
_HELPED = _CLASS.replace(
    "(self, x):", "(self, x):\n        return self.helped(x)\n\n    def helped(self, x):"
) + ("\n    def own(self):\n        return self.model\n")
# The layers stand in the base.
_DERIVED = (
    f"{_CLASS}\n\nclass More(Net):\n    def __init__(self, scale):\n"
    "        super().__init__()\n        self.scale = scale\n\n\nmodel = More(2)\n"
)
_LOOPED = (
    f"{_BUILT.replace('(None, 3)', 'input_shape=[8, 3]')}"
    "for each in model.trainable_variables:\n    each.assign(each * 0.0)\n"
    "found = float(np.sum(model(np.ones((2, 3))) ** 2))\n"
)

VALID = [
    # Nothing asks for the weights before the model has seen a batch.
    f"{_BUILT}model.compile('sgd', 'mse')\nmodel.fit(np.ones((4, 3)), np.ones((4, 1)))\n{_COUNT}",
    f"{_BUILT}model(np.ones((4, 3)))\n{_COUNT}",
    _BUILT,
    # It was called before, was handed to someone, or is built once it is asked.
    f"{_CLASS}{_MADE}model(np.ones((4, 3)))\n{_BUILD}{_COUNT}",
    f"{_CLASS}{_MADE}model.predict(np.ones((4, 3)))\n{_BUILD}{_COUNT}",
    f"{_CLASS}{_MADE}train(model)\n{_BUILD}{_COUNT}",
    f"{_BUILT}train(model)\n{_COUNT}",
    f"{_CLASS}{_MADE}print(model.name)\n{_COUNT}{_BUILD}",
    f"{_CLASS}{_MADE}{_CALLED}{_COUNT}",
    (
        f"{_CLASS}{_MADE}\n\ndef run(x):\n    return model(x)\n\n\nrun(np.ones((4, 3)))\n"
        f"{_BUILD}{_COUNT}"
    ),
    f"{_CLASS}{_MADE}run = lambda: model(np.ones((4, 3)))\nrun()\n{_BUILD}{_COUNT}",
    # It may be another model by then.
    f"{_CLASS}{_MADE}if ready:\n    model = load()\n{_BUILD}{_COUNT}",
    # The class builds its layers, in `build` or before.
    (
        f"{_HEAD}class Net(keras.Model):\n{_INIT}{_CALL}\n    def build(self, shape):\n"
        "        self.first.build(shape)\n        self.last.build((shape[0], 4))\n"
        f"{_MADE}{_BUILD}{_COUNT}"
    ),
    (
        f"{_HEAD}class Net(keras.Model):\n{_INIT}        self.first.build((None, 3))\n"
        f"        self.last.build((None, 4))\n{_CALL}{_MADE}{_BUILD}{_COUNT}"
    ),
    (
        f"{_HEAD}class Net(keras.Model):\n{_INIT}        self(keras.Input((3,)))\n"
        f"{_CALL}{_MADE}{_BUILD}{_COUNT}"
    ),
    # No layer with weights that is used, or a model that is made of tensors.
    f"{_BUILT}{_COUNT}".replace("Dense(4)", "Flatten()").replace("Dense(1)", "Flatten()"),
    f"{_BUILT}{_COUNT}".replace("self.last(self.first(x))", "x"),
    f"{_BUILT}{_COUNT}".replace("super().__init__()", "super().__init__(inputs=i, outputs=o)"),
    f"{_BUILT}{_COUNT}".replace("Net()", "Net(inputs=i, outputs=o)"),
    # Keras' own models build themselves, and so do those of Keras 2.
    f"{_BUILT}{_COUNT}".replace("keras.Model", "keras.Sequential"),
    (f"import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n{_BUILD}{_COUNT}"),
    f"{_BUILT}{_COUNT}".replace("import keras", "import tf_keras as keras"),
    f"{_BUILT}{_COUNT}".replace("keras.Model", "Mine"),
    # A class that is a layer.
    f"{_BUILT}{_COUNT}".replace("keras.Model", "keras.layers.Layer"),
    # It is for Keras 2 alone.
    f"{_CLASS}{_MADE}if keras.__version__ < '3':\n    {_BUILD}{_COUNT}",
]
INVALID = [
    Example(before=f"{_BUILT}{_COUNT}", after=f"{_CLASS}{_MADE}{_CALLED}{_COUNT}", same="found"),
    Example(
        before=f"{_BUILT}model.summary()\nfound = model.count_params()\n",
        after=f"{_CLASS}{_MADE}{_CALLED}model.summary()\nfound = model.count_params()\n",
        same="found",
    ),
    Example(
        before=_LOOPED,
        after=_LOOPED.replace(
            "model.build(input_shape=[8, 3])", "model(keras.Input(batch_shape=[8, 3]))"
        ),
        same="found",
    ),
    Example(
        before=f"{_HELPED}{_MADE}{_BUILD}{_COUNT}",
        after=f"{_HELPED}{_MADE}{_CALLED}{_COUNT}",
        same="found",
    ),
    Example(
        before=f"{_DERIVED}{_BUILD}{_COUNT}", after=f"{_DERIVED}{_CALLED}{_COUNT}", same="found"
    ),
    # The shape is put together; `call` has more that it does not need; a base has the layers.
    Example(
        before=_COPIED.format("other.build((None,) + (3,))"),
        after=_COPIED.format("other(keras.Input(batch_shape=(None,) + (3,)))"),
        raises="ValueError: You called `set_weights(weights)` on layer",
    ),
    # What is not one shape that is written has no fix.
    Example(
        before=_CLASS.replace("self.first(x)", "self.first(x[0] + x[1])")
        + _MADE
        + f"model.build([(None, 3), (None, 3)])\n{_COUNT}",
        same="found",
    ),
    Example(before=f"{_CLASS}{_MADE}shape = (None, 3)\nmodel.build(shape)\n{_COUNT}", same="found"),
]
