"""The metrics of the TensorFlow branch of this project: `tf.keras.backend` still has all of these."""
from tensorflow.keras import backend as K


def recall(y_true, y_pred):
    found = K.sum(K.round(K.clip(y_true * y_pred, 0, 1)))
    there = K.sum(K.round(K.clip(y_true, 0, 1)))
    return found / (there + K.epsilon())


def precision(y_true, y_pred):
    found = K.sum(K.round(K.clip(y_true * y_pred, 0, 1)))
    claimed = K.sum(K.round(K.clip(y_pred, 0, 1)))
    return found / (claimed + K.epsilon())
