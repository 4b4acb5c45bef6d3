"""What is converted returns on Keras 3 what the old file returns on Keras 2, with its weights."""

import pytest

from kdoctor.models.convert import convert, write_code
from tests.frameworks import keras, tf_keras
from tests.models.convert.made import TARGET
from tools.model_conversions import (
    ENDINGS,
    code_compared,
    code_of,
    compared,
    converted,
    run_old,
    save,
)
from tools.model_files import models
from tools.model_files.shaped import SHAPED

# One of each kind; `python -m tools.model_conversions` takes them all.
NAMES = [
    *("layer-Dense", "layer-Conv2D", "layer-SeparableConv2D", "layer-DepthwiseConv2D"),
    *("layer-BatchNormalization", "layer-LayerNormalization", "layer-Embedding", "layer-PReLU"),
    *("layer-LSTM", "layer-GRU", "layer-SimpleRNN", "layer-ConvLSTM2D", "layer-Normalization"),
    *("layer-ThresholdedReLU", "layer-LeakyReLU", "layer-EinsumDense"),
    *("layer-RandomFlip", "layer-UpSampling2D", "layer-Conv2DTranspose", "layer-Attention"),
    *("Bidirectional-LSTM", "Bidirectional-GRU", "TimeDistributed-Dense", "RNN-LSTMCell"),
    *("inner-BatchNormalization", "functional-BatchNormalization", "inner-LSTM"),
    *("layer-LocallyConnected1D", "functional-LocallyConnected2D", "inner-RandomCrop"),
    *("TimeDistributed-LocallyConnected2D", "layer-RandomHeight", "activations-layer-PReLU"),
    *(
        "constraints-RadialConstraint",
        "optimizers-Adam",
        "losses-BinaryCrossentropy",
        "metrics-AUC",
        "activations-hard_sigmoid",
    ),
]
OF_CODE = ("lambda", "own")


def checked(name, make, folder):
    save(name, make, folder)
    found = sorted(each for each in folder.iterdir() if each.is_file())
    if not found:
        pytest.skip("tf_keras does not write it")
    (folder / "converted").mkdir()
    (folder / "code").mkdir()
    for path in found:
        old = tf_keras.models.load_model(path)
        given, before = run_old(old)
        for ending in ENDINGS:
            to = converted(path, ending)
            made = convert(path, to, TARGET)
            assert made.refusals == (), path
            assert compared(old, given, before, to) == "", to
        write_code(path, code_of(path), TARGET)
        assert code_compared(path, given, before, converted(path, ".keras")) == "", path
    keras.backend.clear_session()


@pytest.mark.frameworks
@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", NAMES)
def test_a_converted_layer_is_equal(name, tmp_path):
    makers = dict(models.models(tf_keras))
    checked(name, makers[name], tmp_path)


@pytest.mark.frameworks
@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", [each for each, _ in SHAPED if not each.startswith(OF_CODE)])
def test_a_converted_model_is_equal(name, tmp_path):
    makers = dict(SHAPED)
    checked(name, lambda: makers[name](tf_keras), tmp_path)


@pytest.mark.frameworks
def test_layers_whose_order_keras_3_changes_keep_their_weights(tmp_path):
    layers = tf_keras.layers
    x, y = layers.Input((4,), name="x"), layers.Input((4,), name="y")
    left, right = layers.Dense(4, name="left"), layers.Dense(4, name="right")
    deep = layers.Dense(4, name="deep")(right(y))
    made = layers.Add()([layers.Add()([left(x), deep]), right(left(y))])
    checked("crossed", lambda: tf_keras.Model([y, x], made), tmp_path)


@pytest.mark.frameworks
def test_frozen_layers_in_a_model_keep_their_weights(tmp_path):
    layers = tf_keras.layers

    def make():
        inner = tf_keras.Sequential(
            [
                layers.Input((4,)),
                layers.Dense(4),
                layers.BatchNormalization(),
                layers.Dense(4, trainable=False),
                layers.BatchNormalization(trainable=False),
                layers.Dense(4),
            ]
        )
        x = layers.Input((4,))
        return tf_keras.Model(x, inner(x))

    checked("frozen", make, tmp_path)
