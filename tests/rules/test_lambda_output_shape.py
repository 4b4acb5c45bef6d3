"""KD330 beyond its examples: which shapes contradict a function, and which fixes are made."""

import pytest

from kdoctor.engine import fix, scan

HEAD = "import keras\nimport tensorflow as tf\n\nx = keras.Input((6, 4))\n"


def told(layer: str, tensor: str = "x") -> list[str]:
    source = f"{HEAD}y = keras.layers.Lambda({layer})({tensor})\n"
    return [each.message for each in scan(["-"], stdin=source.encode(), select=["KD330"]).findings]


@pytest.mark.parametrize(
    ("layer", "said", "made"),
    [
        ("lambda t: t[:, 1:], output_shape=(6, 4)", "(None, 6, 4)", "(None, 5, 4)"),
        ("lambda t: t[:, ::2], output_shape=(6, 4)", "(None, 6, 4)", "(None, 3, 4)"),
        ("lambda t: t[..., -1], output_shape=(6, 1)", "(None, 6, 1)", "(None, 6)"),
        ("lambda t: tf.reduce_sum(t, 1), output_shape=(None, 4)", "(None, None, 4)", "(None, 4)"),
        ("lambda t: t * 2, output_shape=lambda s: (s[0], s[2])", "(None, 4)", "(None, 6, 4)"),
    ],
)
def test_a_shape_that_contradicts_the_function_is_told_with_both(layer, said, made):
    (message,) = told(layer)
    assert f"it says {said}, but the function returns a tensor of shape {made}" in message


@pytest.mark.parametrize(
    "layer",
    [
        "lambda t: t[:, 1:], output_shape=(None, 4)",
        "lambda t: t[:, :n], output_shape=(3, 4)",
        "lambda t: t[:, 1:], output_shape=shape",
        "lambda t: t[:, 1:], output_shape=None",
        "lambda t, n: t[:, :n], output_shape=(3, 4), arguments={'n': 3}",
        "lambda t: t * 2, output_shape=lambda s: s[:-1] + (4,)",
    ],
)
def test_what_may_be_right_is_not_told(layer):
    assert not told(layer)


def test_a_layer_that_gets_values_is_not_asked():
    assert not told("lambda t: t[:, 1:], output_shape=(6, 4)", "tf.ones((2, 6, 4))")


@pytest.mark.parametrize(
    ("layer", "fixed"),
    [
        ("lambda t: t[:, 1:], (6, 4)", "lambda t: t[:, 1:]"),
        ("lambda t: t[:, 1:], (6, 4), None", None),
        ("lambda t: t[:, 1:], output_shape=(6, 4), name='a'", "lambda t: t[:, 1:], name='a'"),
        ("function=lambda t: t[:, 1:], output_shape=[5, 4]", "function=lambda t: t[:, 1:]"),
    ],
)
def test_the_shape_is_removed_where_no_other_argument_moves(layer, fixed):
    source = f"{HEAD}y = keras.layers.Lambda({layer})(x)\n"
    files = fix(["-"], stdin=source.encode(), select=["KD330"]).files
    after = files[0].after.decode() if files else None
    assert after == (None if fixed is None else source.replace(layer, fixed))
