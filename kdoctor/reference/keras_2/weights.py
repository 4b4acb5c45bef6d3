"""Weights: what `layer_utils` of Keras 2 did with those of layers and models."""

import math

import numpy as np


def count_params(weights) -> int:
    """Return how many numbers there are in all weights, each counted once."""
    each_once = {id(weight): weight for weight in weights}.values()
    return sum(math.prod(weight.shape) for weight in each_once)


def convert_dense_weights_data_format(
    dense, previous_feature_map_shape, target_data_format: str = "channels_first"
) -> None:
    """Reorder the kernel behind a flattened image for the other data format."""
    if target_data_format not in {"channels_last", "channels_first"}:
        raise ValueError(f"there is no data format {target_data_format!r}")
    kernel, bias = dense.get_weights()
    one, two, three = previous_feature_map_shape
    is_first = target_data_format == "channels_first"
    shape = (two, three, one) if is_first else (three, one, two)
    axes = (2, 0, 1, 3) if is_first else (1, 2, 0, 3)
    moved = kernel.reshape(*shape, -1).transpose(axes).reshape(kernel.shape)
    dense.set_weights([moved, bias])


def convert_kernel(kernel) -> np.ndarray:
    """Return the kernel of a convolution with its rows and columns in reverse."""
    kernel = np.asarray(kernel)
    if not 3 <= kernel.ndim <= 5:
        raise ValueError(f"a kernel has 3 to 5 axes, not {kernel.ndim}")
    return np.flip(kernel, tuple(range(kernel.ndim - 2))).copy()


def convert_all_kernels_in_model(model) -> None:
    """Reverse the kernels of convolutions, known by their names, for Theano."""
    for layer in model.layers:
        if type(layer).__name__ in {"Conv1D", "Conv2D", "Conv2DTranspose", "Conv3D"}:
            layer.kernel.assign(convert_kernel(layer.kernel))
