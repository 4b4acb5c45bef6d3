"""The layer of tensorflow_addons that compares two images place by place."""

import keras


@keras.saving.register_keras_serializable("Addons", "CorrelationCost")
class CorrelationCost(keras.layers.Layer):
    """How alike each patch of one image is to those around it in another."""

    def __init__(
        self,
        kernel_size,
        max_displacement,
        stride_1,
        stride_2,
        pad,
        data_format,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if data_format not in {"channels_last", "channels_first"}:
            raise ValueError(f"unknown data_format {data_format!r}")
        if kernel_size % 2 == 0:
            raise ValueError("kernel_size must be odd")
        self.kernel_size, self.max_displacement = kernel_size, max_displacement
        self.stride_1, self.stride_2, self.pad = stride_1, stride_2, pad
        self.data_format = data_format

    def call(self, inputs):
        """Return a number for each place and displacement."""
        if not isinstance(inputs, list) or len(inputs) != 2:
            raise ValueError("Input must be a list of two Tensors to process")
        one, other = (keras.ops.convert_to_tensor(each) for each in inputs)
        if self.data_format == "channels_first":
            one, other = (keras.ops.transpose(e, (0, 2, 3, 1)) for e in (one, other))
        reach = self.max_displacement // self.stride_2 * self.stride_2
        around = ((0, 0), (self.pad, self.pad), (self.pad, self.pad), (0, 0))
        far = ((0, 0), (self.pad + reach,) * 2, (self.pad + reach,) * 2, (0, 0))
        one, other = keras.ops.pad(one, around), keras.ops.pad(other, far)
        height, width = keras.ops.shape(one)[1:3]
        moves = range(0, 2 * reach + 1, self.stride_2)
        found = [
            keras.ops.mean(one * other[:, y : y + height, x : x + width], axis=-1)
            for y in moves
            for x in moves
        ]
        most = self.max_displacement
        found = keras.ops.stack(found, axis=-1)[
            :, most : height - most, most : width - most
        ]
        found = keras.ops.average_pool(
            found,
            self.kernel_size,
            self.stride_1,
            "valid",
            data_format="channels_last",
        )
        if self.data_format == "channels_first":
            return keras.ops.transpose(found, (0, 3, 1, 2))
        return found

    def compute_output_shape(self, input_shape):
        """Return the shape: a channel for each displacement."""
        shape, count = input_shape[0], 2 * (self.max_displacement // self.stride_2) + 1
        is_first = self.data_format == "channels_first"
        border = self.max_displacement + (self.kernel_size - 1) // 2
        sizes = tuple(
            each and -(-(each + 2 * (self.pad - border)) // self.stride_1)
            for each in (shape[2:] if is_first else shape[1:3])
        )
        if is_first:
            return (shape[0], count**2, *sizes)
        return (shape[0], *sizes, count**2)

    def get_config(self):
        """Return the arguments."""
        own = {"kernel_size": self.kernel_size, "stride_1": self.stride_1}
        own |= {"max_displacement": self.max_displacement, "stride_2": self.stride_2}
        own |= {"pad": self.pad, "data_format": self.data_format}
        return {**super().get_config(), **own}
