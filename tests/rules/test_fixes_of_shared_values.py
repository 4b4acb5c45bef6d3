"""A safe fix changes what one call gets, not what others read of the same thing."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability

BATCHES = (
    "import keras\nimport numpy as np\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n\n\n"
    "def batches():\n    for _ in range(3):\n        yield np.ones((2, 3))\n\n\n"
)
MODEL = (
    "import keras\n\nx = keras.layers.Input((2,))\nweights = {'a': 0.5}\n"
    "a, b = (keras.layers.Dense(1, name=name)(x) for name in 'ab')\n"
    "keras.Model(x, [a, b]).compile('sgd', {'a': 'mse', 'b': 'mse'}, loss_weights=weights)\n"
)


def fix_of(source, code):
    [finding] = scan(["-"], stdin=source.encode(), select=[code]).findings
    return finding.fix and finding.fix.applicability


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("model.predict(batches())\n", Applicability.SAFE),
        ("given = batches()\nmodel.predict(given)\n", Applicability.SAFE),
        ("given = batches()\nfirst = next(given)\nmodel.predict(given)\n", Applicability.UNSAFE),
        ("show(batches)\nmodel.predict(batches())\n", Applicability.UNSAFE),
    ],
)
def test_a_generator_that_is_drawn_from_elsewhere(use, expected):
    assert fix_of(f"{BATCHES}{use}", "KD455") is expected


@pytest.mark.parametrize(
    ("use", "expected"), [("", Applicability.SAFE), ("total = sum(weights.values())\n", None)]
)
def test_weights_that_are_read_elsewhere(use, expected):
    assert fix_of(f"{MODEL}{use}", "KD320") is expected


def test_a_name_that_hides_the_list_of_python():
    source = (
        "import keras\n\nx = keras.Input((3, 4))\nlist = [x]\n"
        "states = keras.layers.LSTM(2, return_state=True)(x)\nboth = [x] + states[1:]\n"
    )
    assert fix_of(source, "KD454") is None
