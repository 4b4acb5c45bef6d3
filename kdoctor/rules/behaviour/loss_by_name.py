"""The loss of a `Sequential` is given as a dict keyed by its output's name.

## What it does
Reports `{"out": loss}` as the `loss` that a `Sequential` is compiled with.

## Why it breaks
Keras 2 looked up the loss by the output's name, even if there was only one output. In Keras 3 a
functional model has output names and accepts the dict; a `Sequential` has none. The first batch of
`fit`, `evaluate` and the like raises `TypeError: 'NoneType' object is not iterable`.

## What to write instead
The loss without a dict, `model.compile("adam", loss="mse")`. Dicts for metrics and loss weights can
stay.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, with and without an `Input`, for `fit`, `evaluate` and
`train_on_batch`. All seven releases tried from 3.1 to 3.15 reject it (3.0 was not run).
"""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, Instance, calls
from kdoctor.analysis.queries.forms import is_dict_of_one
from kdoctor.model import Finding, Severity
from kdoctor.rules.behaviour._output_dicts import take_out
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_REFUSED = "TypeError: 'NoneType' object is not iterable"


@rule(
    "KD452",
    severity=Severity.ERROR,
    since="3.1",
    look_for=calls("compile", on=Instance(Kind.MODEL, cls="Sequential")).argument(
        "loss", 1, where=is_dict_of_one
    ),
)
def check(loss: Argument) -> Finding:
    """Report each such dict."""
    return loss.finding(
        f"a `Sequential` has no output names: {_REFUSED}",
        symbol="keras.Sequential.compile",
        help="Pass the loss without a dict.",
        fix=loss.fix("Take the loss out of the dict", take_out(loss)),
    )


_MODEL = (
    "import keras\nimport numpy as np\n\nmodel = keras.Sequential(\n"
    "    [keras.layers.Dense(1, input_shape=(2,), kernel_initializer='ones', name='out')]\n)\n"
)
_FIT = "images, labels = np.ones((4, 2)), np.ones((4, 1))\n"

VALID = [
    _MODEL + "model.compile('sgd', loss='mse', metrics={'out': 'mae'}, loss_weights={'out': 2})\n",
    _MODEL + "model.compile('sgd', ['mse'])\n",
    # A functional model knows the name.
    (
        "import keras\n\nx = keras.Input((2,))\n"
        "model = keras.Model(x, keras.layers.Dense(1, name='out')(x))\n"
        "model.compile('sgd', {'out': 'mse'})\n"
    ),
    # Another model; and one whose class may do otherwise.
    (
        "import keras\nfrom mine import Sequential\n\n"
        "model = Sequential([keras.layers.Dense(1)])\nmodel.compile('sgd', {'out': 'mse'})\n"
    ),
    (
        "import keras\n\n\nclass Named(keras.Sequential):\n    output_names = ['out']\n\n\n"
        "Named([keras.layers.Dense(1)]).compile('sgd', {'out': 'mse'})\n"
    ),
    _MODEL + "losses = {'out': 'mse'}\nif new:\n    losses = 'mse'\nmodel.compile('sgd', losses)\n",
    _MODEL.replace("keras", "tf_keras") + "model.compile('sgd', {'out': 'mse'})\n",
]
INVALID = [
    Example(
        before=f"{_MODEL}model.compile('sgd', loss={{'out': 'mse'}})\n{_FIT}"
        "loss = model.evaluate(images, labels, verbose=0)\n",
        after=f"{_MODEL}model.compile('sgd', loss='mse')\n{_FIT}"
        "loss = model.evaluate(images, labels, verbose=0)\n",
        raises=_REFUSED,
        on_keras_2=True,
        same="float(loss)",
    ),
    # By position, as any expression, and with comments.
    Example(
        before=f"{_MODEL}model.compile(\n    'sgd',  # slow\n"
        "    {'out': lambda a, b: keras.losses.mean_squared_error(a, b) * 2},  # twice\n"
        f"    metrics={{'out': 'mae'}},\n)\n{_FIT}model.fit(images, labels, verbose=0)\n",
        after=f"{_MODEL}model.compile(\n    'sgd',  # slow\n"
        "    lambda a, b: keras.losses.mean_squared_error(a, b) * 2,  # twice\n"
        f"    metrics={{'out': 'mae'}},\n)\n{_FIT}model.fit(images, labels, verbose=0)\n",
        raises=_REFUSED,
        on_keras_2=True,
    ),
    Example(
        before="import keras\nimport numpy as np\n\nlosses = {'out': 'mse'}\n"
        "model = keras.models.Sequential()\nmodel.add(keras.Input((2,)))\n"
        "model.add(keras.layers.Dense(1, name='out'))\nmodel.compile('sgd', loss=losses)\n"
        f"{_FIT}model.train_on_batch(images, labels)\n",
        after="import keras\nimport numpy as np\n\nlosses = {'out': 'mse'}\n"
        "model = keras.models.Sequential()\nmodel.add(keras.Input((2,)))\n"
        "model.add(keras.layers.Dense(1, name='out'))\nmodel.compile('sgd', loss=losses['out'])\n"
        f"{_FIT}model.train_on_batch(images, labels)\n",
        raises=_REFUSED,
        on_keras_2=True,
    ),
]
