"""`K.variable(0.)` that begins a sum becomes a tensor; what is used as a variable stays one."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix
from kdoctor.model import Applicability

HEAD = "from keras import backend as K\n\n"
A_SUM = [
    "loss = K.variable(0.)\nfor each in parts:\n    loss = loss + weight * each\n",
    "loss = K.variable(0)\nfor each in parts:\n    loss += each\n",
    (
        "def total(parts):\n    sum_ = K.variable(0.)\n    for each in parts:\n"
        "        sum_ = sum_ - each + 1\n    return sum_\n"
    ),
]
A_VARIABLE = [
    "loss = K.variable(0.)\n",
    "loss = K.variable(0.)\nother = loss + part\n",
    "loss = K.variable(0.)\nloss = part + loss\n",
    "loss = K.variable(0.)\nloss = loss + part\nK.update(loss, 1.)\n",
    "loss = K.variable(0.)\nloss = loss + part\nprint(loss.name)\n",
    "loss = K.variable(0.)\nloss = other\nloss += part\n",
    "loss = K.variable(0., name='loss')\nloss += part\n",
    "loss = K.variable(start)\nloss += part\n",
    "self.loss = K.variable(0.)\nself.loss += part\n",
    (
        "def loss(y_true, y_pred):\n    total = K.variable(0.)\n    total += K.sum(y_pred)\n"
        "    return total\n"
    ),
    "import keras\nloss = K.variable(0.)\nloss = loss + keras.Input(())\n",
]


def fix_of(source: str):
    found = fix(["-"], stdin=(HEAD + source).encode(), target="keras==3.15.1").found.findings
    return next(each.fix for each in found if each.symbol.endswith("variable"))


@pytest.mark.parametrize("source", A_SUM)
def test_the_beginning_of_a_sum_is_a_tensor(source) -> None:
    made = fix_of(source)
    assert "convert_to_tensor" in made.title
    assert made.applicability is Applicability.UNSAFE


@pytest.mark.parametrize("source", A_VARIABLE)
def test_what_may_be_a_variable_stays_one(source) -> None:
    assert "convert_to_tensor" not in fix_of(source).title
