"""Keras 2 for the fixtures: tf_keras under the name and the module paths of the time.

Put this folder first on PYTHONPATH. Only paths that Keras 2 really had are here.
"""

import importlib
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tf_keras

PUBLIC = [
    "backend",
    "callbacks",
    "initializers",
    "layers",
    "losses",
    "models",
    "optimizers",
    "preprocessing",
    "preprocessing.sequence",
    "regularizers",
    "utils",
]
HISTORIC = {
    "engine": "layers",
    "engine.topology": "layers",
    "layers.convolutional": "layers",
    "layers.core": "layers",
    "layers.merge": "layers",
    "layers.normalization": "layers",
    "layers.pooling": "layers",
    "utils.np_utils": "utils",
}

tf_keras.models.Input = tf_keras.Input  # until 2.3
tf_keras.utils.np_utils = tf_keras.utils
sys.modules["keras"] = tf_keras
for path in PUBLIC:
    sys.modules[f"keras.{path}"] = importlib.import_module(f"tf_keras.{path}")
for path, home in HISTORIC.items():
    sys.modules[f"keras.{path}"] = importlib.import_module(f"tf_keras.{home}")
