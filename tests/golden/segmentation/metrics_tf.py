"""The metrics of the TensorFlow branch of this project: `tf.keras.backend` still has all of these."""
from tensorflow.keras import backend as K
from tensorflow.keras import ops


def recall(y_true, y_pred):
    found = ops.sum(ops.round(ops.clip(y_true * y_pred, 0, 1)))
    there = ops.sum(ops.round(ops.clip(y_true, 0, 1)))
    return found / (there + K.epsilon())


def precision(y_true, y_pred):
    found = ops.sum(ops.round(ops.clip(y_true * y_pred, 0, 1)))
    claimed = ops.sum(ops.round(ops.clip(y_pred, 0, 1)))
    return found / (claimed + K.epsilon())
