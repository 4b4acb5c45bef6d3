"""KD516 beyond its examples: the rate is passed on where Keras' own class takes it."""

import pytest

from kdoctor.engine import fix
from tests.rules.optimizer_steps import made, stepped

HEAD = "import keras\n\n\n"
OWN = "class {}({}):\n    def update_step(self, gradient, variable):\n        {}\n"
CALL = "super().update_step(gradient, variable)"


def mended(source: str) -> str | None:
    files = fix(["-"], stdin=source.encode(), select=["KD516"], unsafe=True).files
    return files[0].after.decode() if files else None


def test_each_class_right_below_keras_passes_the_rate_on():
    bases = "Adam", "SGD"
    source = HEAD + "\n\n".join(OWN.format(e, f"keras.optimizers.{e}", CALL) for e in bases)
    after = mended(source)
    assert after.count(CALL.replace("variable)", "variable, learning_rate)")) == len(bases)
    assert after.count("if isinstance(gradient, tf.IndexedSlices):") == len(bases)
    assert after.count("import tensorflow as tf\n") == 1


@pytest.mark.frameworks
@pytest.mark.parametrize("base", ["Adam", "RMSprop", "SGD"])
def test_it_steps_to_the_same_weights_when_rows_occur_twice(base):
    tf_keras = pytest.importorskip("tf_keras")
    import keras  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    own = OWN.format("Mine", f"tf.keras.optimizers.{base}", CALL)
    source = f"import tensorflow as tf\n\n\n{own}"
    start = [np.full((4, 3), 0.5, "float32"), np.full(3, -0.5, "float32")]
    old = made(source, tf_keras, "Mine", {"learning_rate": 0.05})
    new = made(mended(source), keras, "Mine", {"learning_rate": 0.05})
    theirs = stepped(tf_keras, old, [tf.Variable(each) for each in start])
    ours = stepped(keras, new, [keras.Variable(each) for each in start])
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    assert not np.allclose(ours[0], start[0])


@pytest.mark.parametrize(
    "below",
    [
        "class Mine(Own):\n    def update_step(self, gradient, variable, rate):\n        {}\n",
        "class Mine(Own):\n    def update_step(self, gradient, variable):\n        {}\n",
    ],
)
def test_what_a_subclass_in_the_file_calls_keeps_its_parameters(below):
    own = OWN.format("Own", "keras.optimizers.Optimizer", "variable.assign_sub(gradient)")
    assert mended(f"{HEAD}{own}\n\n{below.format(CALL)}") is None


@pytest.mark.parametrize(
    "call",
    [
        "super().update_step(gradient, variable=variable)",
        "super().update_step(*[gradient, variable])",
        "super().update_step(gradient, variable, self.learning_rate)",
    ],
)
def test_a_call_that_passes_more_or_hides_it_is_left(call):
    assert mended(HEAD + OWN.format("Mine", "keras.optimizers.Adam", call)) is None
