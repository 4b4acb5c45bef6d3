from keras import Input, ops
from keras.models import Model


def dice_loss(y_true, y_pred, smooth=1.0):
    overlap = ops.sum(
        ops.reshape(y_true, (-1,)) * ops.reshape(y_pred, (-1,))
    )  # foreground in both
    return 1 - (2 * overlap + smooth) / (ops.sum(y_true) + ops.sum(y_pred) + smooth)


image = Input(shape=(64, 64, 3))
model = Model(image, ops.mean(image, axis=-1))
model.optimizer.learning_rate = 0.01
