"""Losses of keras_contrib."""

import keras


def jaccard_distance(y_true, y_pred, smooth=100):
    """Return the Jaccard distance over the last axis, smoothed and scaled."""
    common = keras.ops.sum(keras.ops.abs(y_true * y_pred), axis=-1)
    every = keras.ops.sum(keras.ops.abs(y_true) + keras.ops.abs(y_pred), axis=-1)
    return (1 - (common + smooth) / (every - common + smooth)) * smooth


class DSSIMObjective:
    """Half of what structural similarity lacks of one, over patches."""

    def __init__(self, k1=0.01, k2=0.03, kernel_size=3, max_value=1.0):
        self.__name__ = "DSSIMObjective"
        self.kernel_size, self.max_value = kernel_size, max_value
        self.k1, self.k2 = k1, k2
        self.c1, self.c2 = (k1 * max_value) ** 2, (k2 * max_value) ** 2
        self.dim_ordering = keras.config.image_data_format()

    def patches(self, images):
        """Return the pixels of each patch in one row."""
        if self.dim_ordering == "channels_first":
            images = keras.ops.transpose(images, (0, 2, 3, 1))
        size = self.kernel_size
        rows, columns, channels = (
            images.shape[1] // size,
            images.shape[2] // size,
            images.shape[3],
        )
        images = images[:, : rows * size, : columns * size]
        images = keras.ops.reshape(images, (-1, rows, size, columns, size, channels))
        images = keras.ops.transpose(images, (0, 1, 3, 2, 4, 5))
        return keras.ops.reshape(images, (-1, rows, columns, size * size * channels))

    def __call__(self, y_true, y_pred):
        """Return the mean over all patches."""
        y_pred = keras.ops.convert_to_tensor(y_pred)
        shape = (-1, *y_pred.shape[1:])
        true = self.patches(
            keras.ops.reshape(keras.ops.cast(y_true, y_pred.dtype), shape)
        )
        pred = self.patches(keras.ops.reshape(y_pred, shape))
        mean_true, mean_pred = (
            keras.ops.mean(true, axis=-1),
            keras.ops.mean(pred, axis=-1),
        )
        both = keras.ops.mean(true * pred, axis=-1) - mean_true * mean_pred
        alike = (2 * mean_true * mean_pred + self.c1) * (2 * both + self.c2)
        means = keras.ops.square(mean_true) + keras.ops.square(mean_pred) + self.c1
        variances = (
            keras.ops.var(pred, axis=-1) + keras.ops.var(true, axis=-1) + self.c2
        )
        return keras.ops.mean((1.0 - alike / (means * variances)) / 2.0)
