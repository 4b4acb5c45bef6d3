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
    ],
)
def test_a_function_is_called_where_it_was_handed_over(before, after):
    source = LAYER.format(before)
    done = fix(["-"], stdin=source.encode(), unsafe=True)
    assert done.files[0].after.decode() == LAYER.format(after)
