"""``keras.ops.clip`` refuses what ``K.clip`` made a tensor of: numbers and lists."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability


def fixes_of(code):
    source = f"from keras import backend as K\n\n{code}\n"
    found = scan(["-"], stdin=source.encode(), select=["KD101"]).findings
    return [each.fix and each.fix.applicability for each in found]


@pytest.mark.parametrize(
    "code",
    [
        "K.clip(0.5, 0, 1)",
        "K.clip([0.5, 2.0], 0, 1)",
        "K.clip((0.5, 2.0), 0, 1)",
        "w = [0.5, 2.0]\nK.clip(w, 0, 1)",
        "K.clip([0.5] * 3, 0, 1)",
        "K.clip([x / 2 for x in range(3)], 0, 1)",
        "K.clip(list(range(3)), 0, 1)",
        "w = 2.5\nK.clip(x=w, min_value=0, max_value=1)",
    ],
)
def test_of_a_number_there_is_no_fix(code):
    assert fixes_of(code) == [None]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x, rate=0.5):\n    return K.clip(rate, 0, 1) * x",
        (
            "class A:\n    def __init__(self, rate=0.5):\n        self.rate = rate\n\n"
            "    def f(self):\n        return K.clip(self.rate, 0, 1)"
        ),
    ],
)
def test_of_what_may_be_a_number_the_fix_is_unsafe(code):
    assert fixes_of(code) == [Applicability.UNSAFE]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    return K.clip(x, 0, 1)",
        "K.clip(0.5, None, 1)",
        "K.clip(y * [1.0, 2.0], 0, 1)",
    ],
)
def test_of_all_else_it_is_safe(code):
    assert fixes_of(code) == [Applicability.SAFE]


def test_an_attribute_that_many_lines_set_from_itself_takes_no_time():
    lines = "".join(
        f"    def f{each}(self):\n        self.v = self.v or g()\n        K.clip(self.v, 0, 1)\n"
        for each in range(100)
    )
    assert set(fixes_of(f"class A:\n{lines}")) == {Applicability.SAFE}
