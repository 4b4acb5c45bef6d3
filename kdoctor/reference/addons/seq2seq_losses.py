"""Losses of sequences, and batches for beams, of tensorflow_addons."""

import keras
import tensorflow as tf


def sequence_loss(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    average_across_batch=True,
    sum_over_timesteps=False,
    sum_over_batch=False,
    softmax_loss_function=None,
    name=None,
):
    """Return the weighted crossentropy of sequences of logits."""
    if len(logits.shape) != 3 or len(weights.shape) != 2:
        raise ValueError("Logits must be of rank 3, and weights of rank 2")
    if len(targets.shape) not in (2, 3):
        raise ValueError("Targets must be of rank 2, or one-hot of rank 3")
    if (average_across_timesteps or average_across_batch) and (
        sum_over_timesteps or sum_over_batch
    ):
        raise ValueError("To average and to sum cannot be asked for at same time.")
    logits = keras.ops.convert_to_tensor(logits)
    shape = keras.ops.shape(logits)
    flat = keras.ops.reshape(logits, (-1, shape[2]))
    if len(targets.shape) == 3 and softmax_loss_function is None:
        labels = keras.ops.cast(keras.ops.reshape(targets, (-1, shape[2])), flat.dtype)
        losses = keras.ops.categorical_crossentropy(labels, flat, from_logits=True)
    else:
        labels = keras.ops.reshape(targets, (-1,))
        find = softmax_loss_function or sparse_loss
        losses = find(labels=labels, logits=flat)
    weights = keras.ops.convert_to_tensor(weights)
    losses = losses * keras.ops.reshape(weights, (-1,))
    if sum_over_timesteps or sum_over_batch:
        weights = keras.ops.cast(weights != 0, losses.dtype)
    over_time = average_across_timesteps or sum_over_timesteps
    over_batch = average_across_batch or sum_over_batch
    if over_time and over_batch:
        total, size = keras.ops.sum(losses), keras.ops.sum(weights)
        return keras.ops.divide_no_nan(total, size)
    losses = keras.ops.reshape(losses, shape[:2])
    if not over_time and not over_batch:
        return losses
    axis = 0 if over_batch else 1
    total = keras.ops.sum(losses, axis=axis)
    return keras.ops.divide_no_nan(total, keras.ops.sum(weights, axis=axis))


def sparse_loss(labels, logits):
    """Return the crossentropy of each row of logits."""
    return keras.ops.sparse_categorical_crossentropy(labels, logits, from_logits=True)


class SequenceLoss(keras.losses.Loss):
    """The weighted crossentropy of sequences of logits."""

    def __init__(
        self,
        average_across_timesteps=False,
        average_across_batch=False,
        sum_over_timesteps=True,
        sum_over_batch=True,
        softmax_loss_function=None,
        name=None,
    ):
        super().__init__(reduction="none", name=name)
        self.average_across_timesteps = average_across_timesteps
        self.average_across_batch = average_across_batch
        self.sum_over_timesteps = sum_over_timesteps
        self.sum_over_batch = sum_over_batch
        self.softmax_loss_function = softmax_loss_function

    def __call__(self, y_true, y_pred, sample_weight=None):
        """Return the loss; there have to be weights."""
        return sequence_loss(
            y_pred,
            y_true,
            sample_weight,
            average_across_timesteps=self.average_across_timesteps,
            average_across_batch=self.average_across_batch,
            sum_over_timesteps=self.sum_over_timesteps,
            sum_over_batch=self.sum_over_batch,
            softmax_loss_function=self.softmax_loss_function,
        )

    def call(self, y_true, y_pred):
        """Do nothing: to call the loss does it all."""


def tile_batch(t, multiplier, name=None):
    """Return each row of some tensors as often as there are beams."""

    def tiled(tensor):
        tensor = tf.convert_to_tensor(tensor)
        times = [1, multiplier] + [1] * (len(tensor.shape) - 1)
        several = tf.tile(tensor[:, None], times)
        shape = tf.concat([[-1], tf.shape(tensor)[1:]], axis=0)
        several = tf.reshape(several, shape)
        static = tensor.shape[0]
        known = None if static is None else static * multiplier
        several.set_shape([known, *tensor.shape[1:]])
        return several

    return tf.nest.map_structure(tiled, t)
