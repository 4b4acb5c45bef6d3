"""Overlap losses for binary masks, channels last."""
from keras import backend as K
from keras import ops
from keras.losses import binary_crossentropy

SMOOTH = 1.


def dice_coefficient(y_true, y_pred):
    y_true_f = ops.reshape(y_true, (-1,))
    y_pred_f = ops.reshape(y_pred, (-1,))
    intersection = ops.sum(y_true_f * y_pred_f)
    return (2. * intersection + SMOOTH) / (
        ops.sum(y_true_f) + ops.sum(y_pred_f) + SMOOTH
    )


def dice_loss(y_true, y_pred):
    return 1. - dice_coefficient(y_true, y_pred)


def jaccard_coefficient(y_true, y_pred, axis=(1, 2, 3)):
    """Mean over the batch of intersection over union."""
    intersection = ops.sum(ops.abs(y_true * y_pred), axis=axis)
    total = ops.sum(ops.square(y_true), axis) + ops.sum(ops.square(y_pred), axis)
    union = total - intersection  # soft: both masks may be probabilities
    return ops.mean((intersection + SMOOTH) / (union + SMOOTH), axis=0)


def jaccard_loss(y_true, y_pred):
    return 1. - jaccard_coefficient(y_true, y_pred)


def bce_dice_loss(y_true, y_pred):
    return ops.mean(binary_crossentropy(y_true, y_pred)) + dice_loss(y_true, y_pred)


def focal_loss(gamma=2., alpha=.25):
    def focal_loss_fixed(y_true, y_pred):
        y_pred = ops.clip(y_pred, K.epsilon(), 1. - K.epsilon())
        # the probability given to the class that is there
        p_t = y_true * y_pred + (1. - y_true) * (1. - y_pred)
        weight = y_true * alpha + (1. - y_true) * (1. - alpha)
        return -ops.mean(weight * ops.power(1. - p_t, gamma) * ops.log(p_t), axis=-1)
    return focal_loss_fixed


def hard_example_loss(y_true, y_pred):
    """Binary crossentropy of the pixels on the wrong side of one half only."""
    wrong = ops.greater(ops.abs(y_true - y_pred), 0.5)
    loss = ops.expand_dims(binary_crossentropy(y_true, y_pred), axis=-1)
    return ops.sum(K.switch(wrong, loss, ops.zeros_like(loss)))


def pixel_accuracy(y_true, y_pred):
    matches = ops.equal(ops.round(y_pred), y_true)
    return ops.mean(ops.cast(matches, K.floatx()))
