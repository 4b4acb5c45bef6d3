"""A definition of an add-on is safe with the arguments alone that a record of its package covers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdoctor import engine
from kdoctor.model import Applicability


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ("from tensorflow_addons.metrics import RSquare\nr = RSquare(num_regressors=2)\n", ""),
        (
            "import tensorflow_addons.metrics as m\nr = m.RSquare(multioutput='raw_values')\n",
            "multioutput",
        ),
        ("from keras_contrib.layers import CRF\nc = CRF(3, sparse_target=True)\n", ""),
        ("from keras_contrib.layers import CRF\nc = CRF(3, activation='linear')\n", ""),
        ("from keras_contrib.layers import CRF\nc = CRF(3, use_bias=False)\n", "use_bias"),
        (
            "from keras_contrib.layers import CRF\nc = CRF(3, chain_regularizer='l2')\n",
            "chain_regularizer",
        ),
    ],
)
def test_what_was_not_compared_with_the_package_is_unsafe(
    tmp_path: Path, use: str, reason: str
) -> None:
    path = tmp_path / "code.py"
    path.write_text(f"import keras\n{use}")
    findings = engine.scan([path], target="keras==3.15.1", isolated=True).findings
    found = [each.fix for each in findings if each.fix]
    assert found
    for each in found:
        assert (each.applicability is Applicability.UNSAFE) is bool(reason), each.unsafe_because
        assert not reason or f"`{reason}` it was not compared" in each.unsafe_because
