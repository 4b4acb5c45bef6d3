"""Slashes in the names of layers, by way of variables and functions."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan

_BLOCK = (
    "import keras\n\n\ndef block(x, name):\n    return keras.layers.Dense(3, name=name)(x)\n\n\n"
    "x = keras.Input((3,))\n"
)
_TURNS = "".join(
    f"x = block(x, prefix + str({priority}))\nprefix = prefix + '{priority}'\n"
    for priority in range(100)
)


@pytest.mark.parametrize(("sign", "found"), [("/", 100), ("_", 0)])
def test_what_is_bound_again_and_again_is_followed_once(sign, found):
    source = f"{_BLOCK}prefix = 'stage{sign}'\n{_TURNS}"
    result = scan(["-"], stdin=source.encode(), select=["KD305"], isolated=True)
    assert len(result.findings) == found


_OF_A_GONE_HOME = (
    "from {} import Layer\n\n\nclass Own(Layer):\n    def __init__(self, n, **rest):\n"
    "        self.n = n\n        super().__init__(**rest)\n\n\nlayer = Own(3, name='a/b')\n"
)


@pytest.mark.parametrize("home", ["keras.layers", "keras.layers.core", "keras.engine.topology"])
def test_a_base_that_moved_is_the_layer_that_it_was(home):
    source = _OF_A_GONE_HOME.format(home)
    result = scan(["-"], stdin=source.encode(), select=["KD305"], isolated=True)
    assert len(result.findings) == 1
