"""Layers of tensorflow_addons that pool to a size, and what undoes a pooling."""

import keras


def as_sizes(size, count):
    """Return a size for each of ``count`` axes, of one that is for all."""
    sizes = (size,) * count if isinstance(size, int) else tuple(size)
    if len(sizes) != count or not all(each > 0 for each in sizes):
        raise ValueError(f"there are {count} sizes above 0, not {size}")
    return sizes


def pooled(inputs, sizes, reduce, channels_last):
    """Return what is left of equal parts of each axis, ``sizes`` of them."""
    inputs = keras.ops.convert_to_tensor(inputs)
    first = 1 if channels_last else 2
    shape, axes = list(keras.ops.shape(inputs)), []
    for number, size in enumerate(sizes):
        at = first + 2 * number
        if isinstance(shape[at], int) and shape[at] % size:
            raise ValueError(f"{shape[at]} cannot be split into {size} equal parts")
        shape[at : at + 1] = [size, shape[at] // size]
        axes.append(at + 1)
    return reduce(keras.ops.reshape(inputs, shape), axis=tuple(axes))


class AdaptivePooling(keras.layers.Layer):
    """What pools each axis to a size, which must divide it."""

    def __init__(self, rank, output_size, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format or keras.config.image_data_format()
        self.output_size = as_sizes(output_size, rank)

    def reduce(self, inputs, axis):
        """Return the mean of some axes."""
        return keras.ops.mean(inputs, axis=axis)

    def call(self, inputs):
        """Return what is left of each part."""
        channels_last = self.data_format == "channels_last"
        return pooled(inputs, self.output_size, self.reduce, channels_last)

    def compute_output_shape(self, input_shape):
        """Return the shape with the sizes that are asked for."""
        if self.data_format == "channels_last":
            return (input_shape[0], *self.output_size, input_shape[-1])
        return (*input_shape[:2], *self.output_size)

    def get_config(self):
        """Return the arguments."""
        own = {"output_size": self.output_size, "data_format": self.data_format}
        return {**super().get_config(), **own}


class AdaptiveMaximum(AdaptivePooling):
    """The same with the maximum."""

    def reduce(self, inputs, axis):
        """Return the maximum of some axes."""
        return keras.ops.max(inputs, axis=axis)


@keras.saving.register_keras_serializable("Addons", "AdaptiveAveragePooling1D")
class AdaptiveAveragePooling1D(AdaptivePooling):
    """Pool a sequence to a size: the mean of each part."""

    def __init__(self, output_size, data_format=None, **kwargs):
        super().__init__(1, output_size, data_format, **kwargs)


@keras.saving.register_keras_serializable("Addons", "AdaptiveMaxPooling1D")
class AdaptiveMaxPooling1D(AdaptiveMaximum):
    """Pool a sequence to a size: the maximum of each part."""

    def __init__(self, output_size, data_format=None, **kwargs):
        super().__init__(1, output_size, data_format, **kwargs)


@keras.saving.register_keras_serializable("Addons", "AdaptiveAveragePooling2D")
class AdaptiveAveragePooling2D(AdaptivePooling):
    """Pool images to a size: the mean of each part."""

    def __init__(self, output_size, data_format=None, **kwargs):
        super().__init__(2, output_size, data_format, **kwargs)


@keras.saving.register_keras_serializable("Addons", "AdaptiveMaxPooling2D")
class AdaptiveMaxPooling2D(AdaptiveMaximum):
    """Pool images to a size: the maximum of each part."""

    def __init__(self, output_size, data_format=None, **kwargs):
        super().__init__(2, output_size, data_format, **kwargs)


@keras.saving.register_keras_serializable("Addons", "AdaptiveAveragePooling3D")
class AdaptiveAveragePooling3D(AdaptivePooling):
    """Pool volumes to a size: the mean of each part."""

    def __init__(self, output_size, data_format=None, **kwargs):
        super().__init__(3, output_size, data_format, **kwargs)


@keras.saving.register_keras_serializable("Addons", "AdaptiveMaxPooling3D")
class AdaptiveMaxPooling3D(AdaptiveMaximum):
    """Pool volumes to a size: the maximum of each part."""

    def __init__(self, output_size, data_format=None, **kwargs):
        super().__init__(3, output_size, data_format, **kwargs)


@keras.saving.register_keras_serializable("Addons", "SpatialPyramidPooling2D")
class SpatialPyramidPooling2D(keras.layers.Layer):
    """The means of images that are split into parts again and again, in one list."""

    def __init__(self, bins, data_format=None, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.bins = [as_sizes(each, 2) for each in bins]
        self.data_format = data_format or keras.config.image_data_format()

    def call(self, inputs):
        """Return the means, of what is left once the rest is cut off."""
        inputs = keras.ops.convert_to_tensor(inputs)
        channels_last = self.data_format == "channels_last"
        if not channels_last:
            inputs = keras.ops.transpose(inputs, (0, 2, 3, 1))
        batch, height, width, channels = keras.ops.shape(inputs)
        found = []
        for rows, columns in self.bins:
            kept = inputs[:, : height - height % rows, : width - width % columns]
            means = pooled(kept, (rows, columns), keras.ops.mean, True)
            found.append(keras.ops.reshape(means, (batch, rows * columns, channels)))
        found = keras.ops.concatenate(found, axis=1)
        return found if channels_last else keras.ops.transpose(found, (0, 2, 1))

    def compute_output_shape(self, input_shape):
        """Return the shape with one number for each part."""
        count = sum(rows * columns for rows, columns in self.bins)
        if self.data_format == "channels_last":
            return (input_shape[0], count, input_shape[-1])
        return (*input_shape[:2], count)

    def get_config(self):
        """Return the arguments."""
        own = {"bins": self.bins, "data_format": self.data_format}
        return {**super().get_config(), **own}


def put_back(updates, mask, size):
    """Return images with the updates where the mask says, added up, else 0."""
    updates = keras.ops.convert_to_tensor(updates)
    height, width, channels = size
    rows = keras.ops.shape(updates)[0]
    places = keras.ops.cast(mask, "int32") // channels
    places = places * channels + keras.ops.arange(channels, dtype="int32")
    numbers = keras.ops.cumsum(keras.ops.ones_like(places[:, :1, :1, :1]), axis=0) - 1
    places = places + numbers * (height * width * channels)
    flat = keras.ops.segment_sum(
        keras.ops.reshape(updates, (-1,)),
        keras.ops.reshape(places, (-1,)),
        num_segments=rows * height * width * channels,
    )
    return keras.ops.reshape(flat, (rows, height, width, channels))


@keras.saving.register_keras_serializable("Addons", "MaxUnpooling2D")
class MaxUnpooling2D(keras.layers.Layer):
    """Put maxima back where ``tf.nn.max_pool_with_argmax`` took them from."""

    def __init__(self, pool_size=(2, 2), strides=(2, 2), padding="SAME", **kwargs):
        super().__init__(**kwargs)
        if padding not in {"SAME", "VALID"}:
            raise ValueError('Padding must be a string from: "SAME", "VALID"')
        self.pool_size, self.strides = as_sizes(pool_size, 2), as_sizes(strides, 2)
        self.padding = padding

    def sizes(self, sizes):
        """Return how high and wide images are that were pooled to these sizes."""
        if self.padding == "SAME":
            known = zip(sizes, self.strides)
            return [None if each is None else each * stride for each, stride in known]
        known = zip(sizes, self.strides, self.pool_size)
        return [
            None if each is None else (each - 1) * stride + pool
            for each, stride, pool in known
        ]

    def call(self, updates, mask):
        """Return the images."""
        _, height, width, channels = keras.ops.shape(updates)
        return put_back(updates, mask, (*self.sizes((height, width)), channels))

    def compute_output_shape(self, updates_shape, mask_shape=None):
        """Return the shape of the images."""
        first, height, width, channels = updates_shape
        return (first, *self.sizes((height, width)), channels)

    def get_config(self):
        """Return the arguments."""
        own = {"pool_size": self.pool_size, "strides": self.strides}
        return {**super().get_config(), **own, "padding": self.padding}


@keras.saving.register_keras_serializable("Addons", "MaxUnpooling2DV2")
class MaxUnpooling2DV2(keras.layers.Layer):
    """Put maxima back into images of a size, with that of the batch in it."""

    def __init__(self, output_size, **kwargs):
        super().__init__(**kwargs)
        self.output_size = as_sizes(output_size, 4)

    def call(self, updates, mask):
        """Return the images."""
        return put_back(updates, mask, self.output_size[1:])

    def compute_output_shape(self, updates_shape, mask_shape=None):
        """Return the shape of the images."""
        return self.output_size

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "output_size": self.output_size}
