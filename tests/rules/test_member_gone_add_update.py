"""What `add_update` was given is done where it stands."""

import pytest

from kdoctor.engine import fix

LAYER = """import keras


class Counting(keras.layers.Layer):
    def call(self, x, update):
        def more():
            return self.count.assign_add(1)

        less = lambda: self.count.assign_sub(1)
        {}
        return x
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.add_update(more)", "more()"),
        ("self.add_update([more, less])", "more()\n        less()"),
        ("self.add_update(less, inputs=x)", "less()"),
        ("self.add_update((self.count, 3))", "self.count.assign(3)"),
        ("self.add_update(update)", "update"),
        (
            "self.add_update([\n            self.count.assign(1), self.count.assign(\n x,\n),\n        ])",
            "self.count.assign(1)\n        self.count.assign(\n x,\n)",
        ),
    ],
)
def test_each_update_is_a_line_and_a_function_is_called(before, after):
    source = LAYER.format(before)
    done = fix(["-"], stdin=source.encode(), unsafe=True)
    assert done.files[0].after.decode() == LAYER.format(after)
