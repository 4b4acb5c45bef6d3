"""Symbolic results keep their structure on Keras 2 and Keras 3."""

from __future__ import annotations

import numpy as np
import pytest

from kdoctor.verify import frameworks
from kdoctor.verify.values import Array

pytestmark = pytest.mark.frameworks


def _kind_of(side, call):
    given = {"x": Array(np.ones((1, 2), "float32"))}
    return frameworks.run(side, "symbolic", call, given).result.kind


@pytest.mark.parametrize("side", [frameworks.OLD, frameworks.NEW], ids=["Keras 2", "Keras 3"])
def test_a_list_of_one_tensor_stays_a_list(side):
    """A model of Keras 2 gives the tensor that is alone in its list of outputs."""
    alone = _kind_of(side, lambda given: given["x"] * 2)
    listed = _kind_of(side, lambda given: [given["x"] * 2])
    assert (alone, listed) == ("tensor", "list")
