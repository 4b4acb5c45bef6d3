"""Beside a Keras 2 that stays one, rules tell of what surely is of Keras 3, and of nothing else."""

import re

import pytest

from kdoctor.analysis.roots import _HELPERS, _MAKERS
from kdoctor.engine import scan
from kdoctor.keras_api import newest_target, oracle, tables
from kdoctor.keras_api.surface import PRIVATE_ROOT
from kdoctor.rules import all_rules

COPY = "import tensorflow as tf\nfrom tensorflow.python.keras{}\n\n"
LAYER = (
    "class Mine(tf.keras.layers.Layer):\n    def build(self, shape):\n"
    "        self.gain = self.add_weight('gain', shape=(3,))\n\n\n"
    "rate = tf.keras.optimizers.SGD(lr=0.1).lr\n"
)
# Which Keras made the model, nobody knows: it is told by use.
BY_USE = (
    "\n\ndef train(model, data):\n    model.compile(optimizer='sgd', loss='mse')\n"
    "    model.fit_generator(data)\n"
)


def told(source, select=("KD2", "KD3"), target=None):
    found = scan(["-"], stdin=source.encode(), select=list(select), target=target).findings
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
    assert told(COPY.format(helper) + LAYER + BY_USE) == ["KD212", "KD206", "KD303", "KD205"]


@pytest.mark.parametrize(
    "maker",
    [
        ".layers import Dense",
        ".layers.convolutional import Conv",
        " import layers",
        ".utils import *\nfrom tensorflow.python.keras import models",
        ".saving import hdf5_format\n\nhdf5_format.load_model_from_hdf5('old.h5')",
        ".utils.multi_gpu_utils import Model",
        ".utils import multi_gpu_utils\n\nmulti_gpu_utils.multi_gpu_model(model)",
    ],
)
def test_what_may_make_a_model_of_the_copy_silences_what_may_be_of_it(maker):
    assert told(COPY.format(maker) + LAYER + BY_USE) == ["KD212", "KD206", "KD303"]


OLD = "    from tensorflow.python.keras.layers import Dense\n"


@pytest.mark.parametrize(
    ("choice", "is_silenced"),
    [
        (
            "if tf.__version__ >= '2':\n    from tensorflow.keras.layers import Dense\nelse:\n"
            + OLD,
            False,
        ),
        ("if version.parse(tf.__version__) < version.parse('2.6'):\n" + OLD, False),
        ("if somebody.asks_for_it:\n" + OLD, True),
        ("try:\n" + OLD + "except ImportError:\n    from keras.layers import Dense\n", True),
    ],
)
def test_an_import_that_the_target_never_gets_to_silences_nothing(choice, is_silenced):
    source = f"import tensorflow as tf\nfrom packaging import version\n{choice}\nDense(1)\n{LAYER}{BY_USE}"
    assert ("KD205" not in told(source)) is is_silenced


OF_THE_OTHER = (
    "import tf_keras\nimport keras\nfrom tf_keras.layers import Layer as Other\n\n"
    "class Mine(Other):\n    def build(self, shape):\n"
    "        self.gain = self.add_weight('gain', shape=(3,))\n\n\n"
    "rate = tf_keras.optimizers.SGD(lr=0.1).lr\n"
    "model = tf_keras.Sequential([Mine()])\nmodel.compile('sgd', 'mse')\n"
    "model.save_weights('net.h5')\nmodel.save('net')\ntf_keras.models.load_model('net')\n"
    "tf_keras.callbacks.ModelCheckpoint('net.hdf5')\n"
    "here = keras.Sequential([keras.layers.Dense(1)])\n"
)


def test_objects_of_the_other_keras_are_left_alone():
    assert told(OF_THE_OTHER, ("KD2", "KD3", "KD4", "KD5", "KD6")) == []


def turned(source, other):
    """Return code of Keras 3 as code of another Keras, None where it is not written plainly."""
    if re.search(r"^\s*import (?:tensorflow\.)?keras[.,]", source, re.MULTILINE):
        return None
    for old, new in (
        (r"^(\s*)from (?:tensorflow\.)?keras\b", rf"\1from {other}"),
        (r"^(\s*)import (?:tensorflow\.)?keras$", rf"\1import {other} as keras"),
        (r"^(\s*)import (?:tensorflow\.)?keras as", rf"\1import {other} as"),
        (r"^(\s*)from tensorflow import keras", rf"\1import {other} as keras"),
        (r"\btf\.keras\b", "turned"),
    ):
        source = re.sub(old, new, source, flags=re.MULTILINE)
    return f"import {other} as turned\nimport keras as third\n\nthird.layers.Dense(1)\n{source}"


# These tell of TensorFlow itself, be it of what it lends of Keras 3 (`tf.optimizers`).
OF_TENSORFLOW = {"KD202", "KD203", "KD506", "KD509"}
LENT = re.compile(r"tf\.optimizers|from tensorflow import optimizers")


def test_no_rule_takes_the_other_keras_for_keras_3():
    judged = ("members", "arguments", "behaviour", "idioms", "saving")
    rules = [
        rule for rule in all_rules() if rule.family in judged and rule.code not in OF_TENSORFLOW
    ]
    cases = [
        (rule.code, source, each.on)
        for rule in rules
        for each in rule.invalid
        if (source := turned(each.before, "tf_keras")) is not None
        if not LENT.search(source)
    ]
    assert len(cases) > 800
    wrong = [(code, source) for code, source, on in cases if told(source, [code], on)]
    assert wrong == []


def test_no_helper_makes_an_object_whose_members_rules_know():
    known = oracle(newest_target())
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
