"""KD234: every layer that Keras 2 named with a slash, or in capitals, is found by its new name."""

import pytest

from kdoctor import scan
from tests.frameworks import keras, tf_keras

MADE_BY_OPERATORS = ("tf.", "multiply", "re_lu", "input_")
"""Sums, products and activations without a name: counted, and fewer on Keras 3."""


@pytest.mark.frameworks
@pytest.mark.parametrize("name", ["DenseNet121", "MobileNetV3Small", "MobileNetV3Large"])
def test_each_old_name_is_told_the_name_that_the_layer_has_now(name):
    tf_keras.backend.clear_session()  # names are counted from the first model of the process
    keras.utils.clear_session()
    old = [each.name for each in getattr(tf_keras.applications, name)(weights=None).layers]
    new = {each.name for each in getattr(keras.applications, name)(weights=None).layers}
    gone = [each for each in old if each not in new and not each.startswith(MADE_BY_OPERATORS)]
    assert len(gone) >= 3
    lines = [f"base.get_layer({each!r})" for each in gone]
    source = "\n".join(["import keras", f"base = keras.applications.{name}(weights=None)", *lines])
    found = scan(["-"], stdin=source.encode(), select=["KD234"]).findings
    assert len(found) == len(gone)
    told = [each.fix.edits[0].parts[0].strip("'") for each in found]
    assert set(told) <= new
