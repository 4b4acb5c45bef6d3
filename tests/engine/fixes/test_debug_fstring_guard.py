"""What ``f"{K.sum(x)=}"`` prints is the expression itself: a fix there changes the output."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


@pytest.mark.parametrize(
    ("code", "fixes"),
    [
        ('print(f"{K.sum(x)=}")', [UNSAFE]),
        ('print(f"{K.sum(x) = }")', [UNSAFE]),
        ('print(f"{K.sum(x) = !r}")', [UNSAFE]),
        ('print(f"{K.sum(x)=:.2f} of {K.max(x)}")', [UNSAFE, SAFE]),
        ('print(f"sum={K.sum(x)}")', [SAFE]),
        ('print(f"{x=}", K.sum(x))', [SAFE]),
        ('print("{K.sum(x)=}", K.max(x))', [SAFE]),
    ],
)
def test_a_fix_in_a_text_that_is_shown_is_unsafe(code, fixes):
    source = f"from keras import backend as K\n\n\ndef show(x):\n    {code}\n"
    found = scan(["-"], stdin=source.encode(), target="keras==3.15.1").findings
    assert [each.fix.applicability for each in found] == fixes
    assert all(each.fix.unsafe_because for each in found if each.fix.applicability is UNSAFE)
