"""What feeds a training is told of once, whatever it is given for."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan

HEAD = (
    "import keras\nimport numpy as np\n\n\ndef batches():\n    while True:\n"
    "        yield np.ones((4, 2)), np.ones((4, 1))\n\n\n"
    "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
)


@pytest.mark.parametrize(
    ("fit", "codes"),
    [
        ("both = batches()\nmodel.fit(both, validation_data=both, epochs=2, class_weight={0: 1.0})",
         ["KD322", "KD462"]),
        ("model.fit(batches(), validation_data=batches(), epochs=2, class_weight={0: 1.0})",
         ["KD322", "KD462"]),
        ("model.fit(x, y, validation_data=batches(), epochs=2, class_weight={0: 1.0})", ["KD462"]),
        ("model.fit(batches(), validation_data=(x, y), epochs=2, class_weight={0: 1.0})", ["KD322"]),
    ],
)  # fmt: skip
def test_a_generator_is_told_of_once(fit, codes):
    found = scan(["-"], stdin=f"{HEAD}{fit}\n".encode(), select=["KD322", "KD462"]).findings
    assert sorted(each.code for each in found) == codes
