"""Where an argument goes that a rule adds by itself."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix

_METRIC = (
    "import keras\n\n\nclass Own(keras.metrics.Metric):\n    def __init__(self):\n"
    "        super().__init__()\n        self.total = self.add_weight({})\n"
)
_OWN_LINES = '\n            name="total",{}\n        '


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('name="total"', 'name="total", initializer="zeros"'),
        (_OWN_LINES.format(""), _OWN_LINES.format('\n            initializer="zeros",')),
        # A comment stays with the argument that it is about.
        (
            '\n            name="total",  # of all\n        ',
            '\n            name="total", initializer="zeros",  # of all\n        ',
        ),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_it_has_a_line_of_its_own_where_each_argument_has_one(before, after, ending):
    source = _METRIC.format(before).replace("\n", ending)
    (fixed,) = fix(["-"], stdin=source.encode(), select=["KD212"], unsafe=True).files
    assert fixed.after.decode() == _METRIC.format(after).replace("\n", ending)
