"""KD409 in a file that others import: the one item of a list stays in a container."""

import pytest

from kdoctor.engine import fix
from kdoctor.model import Applicability

SEQUENCE = (
    "import keras\n\n\nclass Batches(keras.utils.Sequence):\n"
    "    def __init__(self, x):\n        super().__init__()\n        self.x = x\n\n"
    "    def __len__(self):\n        return 2\n\n"
    "    def __getitem__(self, index):\n        return [{}], self.x\n\n\n"
    "def flow(x):\n    return Batches(x)\n"
)


@pytest.mark.parametrize(
    ("other", "items", "batch", "applicability"),
    [
        ("", "self.x", "self.x, self.x", Applicability.SAFE),
        ("from batches import flow\n", "self.x", "(self.x,), self.x", Applicability.UNSAFE),
        (
            "from batches import flow\n",
            "self.x, index",
            "(self.x, index), self.x",
            Applicability.SAFE,
        ),
    ],
)
def test_who_takes_batches_elsewhere_finds_one_item_as_before(
    tmp_path, other, items, batch, applicability
):
    (tmp_path / "batches.py").write_text(SEQUENCE.format(items))
    (tmp_path / "test_batches.py").write_text(f"{other}import keras\n")
    result = fix([tmp_path / "batches.py"], unsafe=True, select=["KD409"])
    (finding,) = result.found.findings
    assert finding.fix.applicability is applicability
    assert f"return {batch}\n" in result.files[0].after.decode()
