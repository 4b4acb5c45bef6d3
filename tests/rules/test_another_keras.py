"""Beside a Keras 2 that stays one, rules are silent; beside mere helpers of it they are not."""

import pytest

from kdoctor.engine import scan
from kdoctor.keras_api import knowledge, newest_target, tables
from kdoctor.keras_api.surface import PRIVATE_ROOT
from kdoctor.rules.roots import _HELPERS, _MAKERS

COPY = "import tensorflow as tf\nfrom tensorflow.python.keras{}\n\n"
LAYER = (
    "class Mine(tf.keras.layers.Layer):\n    def build(self, shape):\n"
    "        self.gain = self.add_weight('gain', shape=(3,))\n\n\n"
    "rate = tf.keras.optimizers.SGD(lr=0.1).lr\n"
)


def told(source):
    found = scan(["-"], stdin=source.encode(), select=["KD2", "KD3"]).findings
    return [each.code for each in found]


@pytest.mark.parametrize(
    "helper",
    [
        ".saving import hdf5_format\n\nhdf5_format.save_attributes_to_hdf5_group(a, 'b', c)",
        ".utils import conv_utils as cu, tf_utils\n\ncu.normalize_tuple(3, 2, 'strides')",
        ".utils.conv_utils import normalize_tuple\n\nnormalize_tuple(3, 2, 'strides')",
        ".engine.input_spec import InputSpec\n\nInputSpec(ndim=3)",
        " import initializers, regularizers\n\nregularizers.get(initializers.get('ones'))",
    ],
)
def test_helpers_of_tensorflows_copy_silence_nothing(helper):
    assert told(COPY.format(helper) + LAYER) == ["KD212", "KD206", "KD303"]


@pytest.mark.parametrize(
    "maker",
    [
        ".layers import Dense",
        " import layers",
        ".utils import *\nfrom tensorflow.python.keras import models",
        ".saving import hdf5_format\n\nhdf5_format.load_model_from_hdf5('old.h5')",
        ".utils.multi_gpu_utils import Model",
        ".utils import multi_gpu_utils\n\nmulti_gpu_utils.multi_gpu_model(model)",
    ],
)
def test_what_may_make_a_model_of_the_copy_silences(maker):
    assert told(COPY.format(maker) + LAYER) == []


def test_no_helper_makes_an_object_whose_members_rules_know():
    known = knowledge(newest_target())
    names = tables.names_table(PRIVATE_ROOT).names
    helpers = [each for each in names if f"{each}.".startswith(_HELPERS)]
    makers = {
        each
        for each in helpers
        if known.class_type(f"{PRIVATE_ROOT}.{each}") or known.result_type(f"{PRIVATE_ROOT}.{each}")
    }
    assert len(helpers) > 500
    assert makers == {
        *("utils.multi_gpu_utils.Lambda", "utils.multi_gpu_utils.Model", "utils.multi_gpu_model")
    }
    # What is not known of a function, its name tells.
    assert {each for each in helpers if "load" in each and "model" in each} <= {
        each for each in helpers if _MAKERS.search(each)
    }
