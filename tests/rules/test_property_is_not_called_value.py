"""`weight.value()`: read on the spot, or copied where something may keep it while it changes."""

import pytest

from kdoctor.engine import fix

SOURCE = (
    "import keras\nimport tensorflow as tf\n\n{}"
    "weight = keras.layers.Dense(3).kernel\nx = {}\nprint(x)\n"
)


def mended(use: str, before: str = "") -> str:
    source = SOURCE.format(before, use).encode()
    (found,) = fix(["-"], stdin=source, select=["KD217", "KD205"]).files
    return found.after.decode().partition("\nx = ")[2].removesuffix("\nprint(x)\n")


@pytest.mark.parametrize("called", ["value()", "read_value()"])
@pytest.mark.parametrize(
    "use", ["weight.{} - 1", "-weight.{}", "weight.{} > 0", "weight.{}.shape", "weight.{}[0]",
            "float(weight.{})", "f'{{weight.{}}}'"],
)  # fmt: skip
def test_what_is_read_on_the_spot_needs_no_copy(use: str, called: str):
    assert mended(use.format(called)) == use.format("value")


@pytest.mark.parametrize("called", ["value()", "read_value()"])
@pytest.mark.parametrize(
    "use", ["{}", "[{}]", "keras.ops.cast({}, 'float32')", "tf.convert_to_tensor({})",
            "kept({})", "(lambda: {})()"],
)  # fmt: skip
def test_what_may_be_kept_is_copied(use: str, called: str):
    assert mended(use.format(f"weight.{called}")) == use.format("keras.ops.copy(weight)")


def test_a_function_that_is_only_called_like_a_builtin_may_keep_it():
    own = "def float(x):\n    return x\n\n\n"
    assert mended("float(weight.value())", own) == "float(keras.ops.copy(weight))"
