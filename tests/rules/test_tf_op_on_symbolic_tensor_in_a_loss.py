"""KD503: a function that is handed on may be a loss, and run with values; then no fix is safe."""

import pytest

from kdoctor.engine import scan

HEAD = "import keras\nimport tensorflow as tf\n\nx = keras.Input((4,))\n"


def applicability(source: str) -> list[str]:
    result = scan(["-"], stdin=(HEAD + source).encode(), select=["KD503"], target="keras==3.15.1")
    return [each.fix.applicability.value for each in result.findings if each.fix is not None]


@pytest.mark.parametrize(
    "source",
    [
        "def mixed(a, b):\n    return a + tf.square(x)\n\n\nuse(mixed)\n",
        "mixed = lambda a, b: a + tf.square(x)\nuse(mixed)\n",
        # Nobody knows who calls what calls it, or what calls itself.
        (
            "def part(a):\n    return a + tf.square(x)\n\n\n"
            "def mixed(a, b):\n    return part(a)\n\n\nuse(mixed)\n"
        ),
        ("def mixed(a, b):\n    return mixed(b, a) if b else a + tf.square(x)\n\n\nuse(mixed)\n"),
        # The tensor comes by a name of the function.
        "def mixed(a, b):\n    c = x\n    return a + tf.square(c)\n\n\nuse(mixed)\n",
    ],
)
def test_no_fix_is_safe_in_what_may_be_a_loss(source: str) -> None:
    assert applicability(source) == ["unsafe"]


@pytest.mark.parametrize(
    "source",
    [
        "y = tf.square(x)\n",
        # It takes nothing, or the tensor itself.
        "def made():\n    return tf.square(x)\n\n\nuse(made)\n",
        "def made(a):\n    return tf.square(a)\n\n\nmade(x)\n",
        # It is called while the model is built, by whatever name.
        "def made(a):\n    return a + tf.square(x)\n\n\nmade(1)\n",
        "made = lambda a: a + tf.square(x)\nmade(1)\n",
        # It makes layers.
        "def made(a):\n    return keras.layers.Dense(a)(tf.square(x))\n\n\nuse(made)\n",
    ],
)
def test_a_fix_is_safe_in_what_runs_while_a_model_is_built(source: str) -> None:
    assert applicability(source) == ["safe"]
