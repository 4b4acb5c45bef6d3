"""What `docs/migration.md` says trains otherwise on Keras 3, run on both."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

STEPS = """
import json
import keras, tf_keras
import numpy as np
import tensorflow as tf

def embedding(keras, optimizer):
    model = keras.Sequential([keras.layers.Embedding(4, 1), keras.layers.GlobalAveragePooling1D()])
    model.compile(optimizer, "mse")
    tokens = np.array([[0, 0, 0, 1]])
    model.predict(tokens, verbose=0)
    before = np.array([[0.1], [0.2], [0.3], [0.4]], "float32")
    model.set_weights([before])
    model.train_on_batch(tokens, np.ones((1, 1)))
    moved = (model.get_weights()[0] - before).ravel()
    return float(moved[0] / moved[1])

def rmsprop(variable, optimizer):
    for _ in range(10):
        optimizer.apply_gradients([(tf.constant([1e-4]), variable)])
    return abs(float(np.array(variable)[0]))

def variance(keras, shape):
    images = np.random.default_rng(0).normal(size=shape).astype("float32")
    norm = keras.layers.BatchNormalization(momentum=0.0)
    norm(images, training=True)
    return np.array(norm.moving_variance).tolist()

few, many = (2, 1, 1, 3), (32, 7, 7, 3)
names = ("adam", "rmsprop", "adagrad", "adadelta", "sgd", "adamax")
print(json.dumps({
    "keras 2": {name: embedding(tf_keras, name) for name in names},
    "keras 3": {name: embedding(keras, name) for name in names},
    "old": rmsprop(tf.Variable([0.0]), tf_keras.optimizers.legacy.RMSprop(0.001)),
    "2.11": rmsprop(tf.Variable([0.0]), tf_keras.optimizers.RMSprop(0.001)),
    "3": rmsprop(keras.Variable([0.0]), keras.optimizers.RMSprop(0.001)),
    "variance 2": [variance(tf_keras, few), variance(tf_keras, many)],
    "variance 3": [variance(keras, few), variance(keras, many)],
    "cured": rmsprop(keras.Variable([0.0]), keras.optimizers.RMSprop(0.001, epsilon=1e-14)),
}))
"""
# How far the token that comes three times goes, by how far the other does: their gradients are 3
# to 1. Adam divides by their size; SGD does not; Adagrad starts from 0.1.
TOGETHER = {"adam": 1.0, "rmsprop": 1.0, "adagrad": 1.2, "adadelta": 1.0, "sgd": 3.0, "adamax": 1.0}
APART = {**TOGETHER, "adam": 3**0.5, "rmsprop": 3**0.5, "adagrad": 1.97, "adadelta": 3**0.5}


@pytest.mark.frameworks
def test_both_are_as_the_page_says():
    run = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=True)
    told = json.loads(run.stdout.splitlines()[-1])
    assert told["keras 2"] == pytest.approx(TOGETHER, rel=0.01)
    assert told["keras 3"] == pytest.approx(APART, rel=0.01)
    assert told["2.11"] == pytest.approx(told["3"], rel=1e-3)
    assert told["old"] / told["3"] == pytest.approx(5.6, rel=0.02)
    assert told["cured"] == pytest.approx(told["old"], rel=0.01)
    for old, new, times in zip(told["variance 2"], told["variance 3"], (2, 1.0006), strict=True):
        assert old == pytest.approx([times * each for each in new], rel=1e-4)
