"""The members of `tf.DType` are those that a string has not."""

import pytest

from kdoctor.rules.members.dtype_is_a_text import OF_A_DTYPE


@pytest.mark.frameworks
def test_the_members_are_those_of_the_installed_tensorflow():
    import tensorflow as tf  # noqa: PLC0415

    asked = {each for each in dir(tf.DType) if not each.startswith("_")}
    assert asked - set(dir(str)) == OF_A_DTYPE
