"""KD409 where the file itself takes batches, also of what a function of it is given."""

import pytest

from kdoctor.engine import fix
from kdoctor.model import Applicability

TRAINING = (
    "import keras\nimport numpy as np\n\n\ndef batches():\n    while True:\n"
    "        yield [np.ones((2, 2)), np.ones((2, 1))]\n\n\n{}\n\n\n"
    "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
    "model.fit(batches(), steps_per_epoch=2)\n{}\n"
)
WEIGHTED = "def weighted(given):\n    for batch in given:\n        yield batch + [1.0]"
HELD = (
    "class Held:\n    def __init__(self, given):\n        self.given = given\n\n"
    "    def more(self):\n        batch = next(self.given)\n        batch.append(1.0)"
)
TRAINED = "def trained(model, given):\n    model.fit(given, steps_per_epoch=2)"


@pytest.mark.parametrize(
    ("defined", "used", "applicability"),
    [
        ("", "", Applicability.SAFE),
        (TRAINED, "trained(model, batches())", Applicability.SAFE),
        ("", "print(batches())", Applicability.SAFE),
        (WEIGHTED, "model.fit(weighted(batches()), steps_per_epoch=2)", Applicability.UNSAFE),
        (HELD, "Held(batches()).more()", Applicability.UNSAFE),
        ("from elsewhere import weighted", "weighted(batches())", Applicability.UNSAFE),
    ],
)
def test_it_is_safe_where_nothing_else_takes_batches(tmp_path, defined, used, applicability):
    (tmp_path / "train.py").write_text(TRAINING.format(defined, used))
    found = fix([tmp_path / "train.py"], select=["KD409"]).found.findings
    assert {each.fix.applicability for each in found} == {applicability}
