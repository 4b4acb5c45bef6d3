"""A fix that writes `float`, `int` or `getattr` is none where the file calls something else so."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan

HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\n\nx = keras.Input((3,))\n"
MODEL = "model = keras.Sequential([keras.layers.Dense(1)])\n"
CODE = [
    ("KD235", "getattr", MODEL + "ready = model.optimizer is None\n"),
    ("KD309", "float", "made = keras.optimizers.SGD(np.float32(0.1))\n"),
    (
        "KD468",
        "float",
        "made = keras.callbacks.LearningRateScheduler(lambda epoch: tf.exp(-1.0 * epoch))\n",
    ),
    (
        "KD468",
        "float",
        (
            "rate = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)\n"
            "made = keras.callbacks.LearningRateScheduler(rate)\n"
        ),
    ),
    ("KD523", "float", "y = np.sqrt(2.0) * x\n"),
]


@pytest.mark.parametrize(("code", "name", "program"), CODE)
@pytest.mark.parametrize("is_hidden", [False, True])
def test_what_is_hidden_is_not_written(
    code: str,
    name: str,
    program: str,
    is_hidden: bool,  # noqa: FBT001
) -> None:
    hiding = f"from somewhere import {name}\n" if is_hidden else ""
    source = f"{hiding}{HEAD}{program}".encode()
    (found,) = scan(["-"], stdin=source, select=[code], target="keras==3.15.1").findings
    assert (found.fix is None) is is_hidden
    assert (found.no_fix_because == f"`{name}` is something else in this file") is is_hidden
