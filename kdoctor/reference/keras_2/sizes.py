"""Sizes and paddings: what `conv_utils` and `imagenet_utils` of Keras 2 computed."""

import warnings

import keras


def normalize_tuple(value, n: int, name: str, allow_zero: bool = False) -> tuple:
    """Return ``n`` sizes, made of one number or of ``n``."""
    least = 0 if allow_zero else 1
    problem = f"`{name}` must be {n} integers, each at least {least}, not {value!r}"
    try:
        sizes = (value,) * n if isinstance(value, int) else tuple(value)
        for size in sizes:
            int(size)
    except (TypeError, ValueError):
        raise ValueError(problem) from None
    too_small = [size < 0 or (size == 0 and not allow_zero) for size in sizes]
    if len(sizes) != n or any(too_small):
        raise ValueError(problem)
    return sizes


def normalize_data_format(value) -> str:
    """Return a data format in lower case, that of Keras for None."""
    data_format = (keras.config.image_data_format() if value is None else value).lower()
    if data_format not in {"channels_first", "channels_last"}:
        raise ValueError(f"there is no data format {value!r}")
    return data_format


def normalize_padding(value):
    """Return the name of a padding in lower case, sizes as they are."""
    if isinstance(value, (list, tuple)):
        return value
    if value.lower() not in {"valid", "same", "causal"}:
        raise ValueError(f"`padding` is valid, same or causal, not {value!r}")
    return value.lower()


def convert_data_format(data_format: str, ndim: int) -> str:
    """Return TensorFlow's name of a data format: ``NHWC``."""
    if data_format not in {"channels_first", "channels_last"} or ndim not in {3, 4, 5}:
        raise ValueError(f"there is no {data_format!r} of {ndim} axes")
    axes = {3: "W", 4: "HW", 5: "DHW"}[ndim]
    return f"N{axes}C" if data_format == "channels_last" else f"NC{axes}"


def conv_output_length(
    input_length, filter_size: int, padding: str, stride: int, dilation: int = 1
):
    """Return how long the output of a convolution is along one axis."""
    if input_length is None:
        return None
    if padding not in {"same", "valid", "full", "causal"}:
        raise ValueError(f"there is no padding {padding!r}")
    reach = dilation * (filter_size - 1)
    length = input_length + {"valid": -reach, "full": reach}.get(padding, 0)
    return (length + stride - 1) // stride


def conv_input_length(output_length, filter_size: int, padding: str, stride: int):
    """Return how long the input of a convolution is along one axis."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}.get(padding)
    if pad is None:
        raise ValueError(f"there is no padding {padding!r}")
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(
    input_length,
    filter_size: int,
    padding: str,
    output_padding=None,
    stride: int = 0,
    dilation: int = 1,
):
    """Return how long the output of a transposed convolution is along one axis."""
    reach = dilation * (filter_size - 1) + 1
    pad = {"same": reach // 2, "valid": 0, "full": reach - 1}.get(padding)
    if pad is None:
        raise ValueError(f"there is no padding {padding!r}")
    if input_length is None:
        return None
    if output_padding is not None:
        return (input_length - 1) * stride + reach - 2 * pad + output_padding
    if padding == "same":
        return input_length * stride
    if padding == "valid":
        return input_length * stride + max(reach - stride, 0)
    return input_length * stride - (stride + reach - 2)


def obtain_input_shape(
    input_shape,
    default_size: int,
    min_size: int,
    data_format: str,
    require_flatten: bool,
    weights=None,
):
    """Return the shape of a model's images: checked, or its own for None."""

    def image(rows, columns, channels):
        is_first = data_format == "channels_first"
        return (channels, rows, columns) if is_first else (rows, columns, channels)

    channels = 0 if data_format == "channels_first" else -1
    default = image(default_size, default_size, 3)
    if weights != "imagenet" and input_shape and len(input_shape) == 3:
        if input_shape[channels] not in {1, 3}:
            warnings.warn(
                f"1 or 3 channels are usual, `input_shape` has {input_shape[channels]}",
                stacklevel=2,
            )
        default = image(default_size, default_size, input_shape[channels])
    if weights == "imagenet" and require_flatten:
        if input_shape is not None and input_shape != default:
            raise ValueError(f"`input_shape` must be {default}, not {input_shape}")
        return default
    if not input_shape:
        return default if require_flatten else image(None, None, 3)
    if len(input_shape) != 3:
        raise ValueError("`input_shape` must be a tuple of three integers")
    if weights == "imagenet" and input_shape[channels] != 3:
        raise ValueError(f"images must have 3 channels, not {input_shape}")
    sizes = input_shape[1:] if data_format == "channels_first" else input_shape[:2]
    if any(size is not None and size < min_size for size in sizes):
        raise ValueError(f"the sides must be at least {min_size}, not {input_shape}")
    if require_flatten and None in input_shape:
        raise ValueError(f"the top of a model needs known sizes, not {input_shape}")
    return input_shape


def correct_pad(inputs, kernel_size) -> tuple:
    """Return the zeros to put around images before a convolution with a stride of 2."""
    first = 2 if keras.config.image_data_format() == "channels_first" else 1
    rows, columns = tuple(inputs.shape)[first : first + 2]
    if isinstance(kernel_size, int):
        kernel_size = (kernel_size, kernel_size)
    below = (kernel_size[0] // 2, kernel_size[1] // 2)
    odd = (0, 0) if rows is None else (rows % 2, columns % 2)
    return tuple((size - 1 + rest, size) for size, rest in zip(below, odd, strict=True))


def validate_activation(classifier_activation, weights) -> None:
    """Refuse an activation that pretrained weights were not made for."""
    if weights is None:
        return
    allowed = {keras.activations.get("softmax"), keras.activations.get(None)}
    if keras.activations.get(classifier_activation) not in allowed:
        raise ValueError("with pretrained weights it must be softmax or None")


def _compute_fans(shape, data_format: str = "channels_last") -> tuple:
    """Return how many values go into and come out of a kernel."""
    if len(shape) < 2:
        fan = int(shape[0]) if len(shape) else 1
        return fan, fan
    *field, ins, outs = shape
    if len(shape) > 2 and data_format == "channels_first":
        outs, ins, *field = shape
    size = 1
    for each in field:
        size *= each
    return int(ins * size), int(outs * size)
