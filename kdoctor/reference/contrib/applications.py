"""The residual networks of keras_contrib, with its layers in its order."""

import keras

from kdoctor.reference.keras_2.sizes import obtain_input_shape


def channel_axis():
    """Return the axis of the channels of images."""
    return -1 if keras.config.image_data_format() == "channels_last" else 1


def bn_relu(x):
    """Normalize, and cut off what is negative."""
    x = keras.layers.BatchNormalization(axis=channel_axis())(x)
    return keras.layers.Activation("relu")(x)


def residual_conv(x, filters, kernel_size, **options):
    """Convolve as the networks do: with He's initial weights, and their decay."""
    options = {"padding": "same", **options}
    return keras.layers.Conv2D(
        filters,
        kernel_size,
        kernel_initializer="he_normal",
        kernel_regularizer=keras.regularizers.L2(1e-4),
        **options,
    )(x)


def conv_bn_relu(filters, kernel_size, strides=(1, 1), dilation_rate=(1, 1), **_):
    """Return a unit of ResNet v1: a convolution, normalized."""

    def unit(x):
        options = {"strides": strides, "dilation_rate": dilation_rate}
        return bn_relu(residual_conv(x, filters, kernel_size, **options))

    return unit


def bn_relu_conv(filters, kernel_size, strides=(1, 1), dilation_rate=(1, 1), **_):
    """Return a unit of ResNet v2: a convolution of what is normalized."""

    def unit(x):
        options = {"strides": strides, "dilation_rate": dilation_rate}
        return residual_conv(bn_relu(x), filters, kernel_size, **options)

    return unit


def with_shortcut(start, residual):
    """Add what a block began with, brought to its shape."""
    rows = 1 if keras.config.image_data_format() == "channels_last" else 2
    channels = channel_axis()
    strides = tuple(
        round(start.shape[axis] / residual.shape[axis]) for axis in (rows, rows + 1)
    )
    if max(strides) > 1 or start.shape[channels] != residual.shape[channels]:
        filters = residual.shape[channels]
        options = {"strides": strides, "padding": "valid"}
        start = residual_conv(start, filters, (1, 1), **options)
        start = keras.layers.BatchNormalization(axis=channels)(start)
    return keras.layers.add([start, residual])


def residual_block(sizes, filters, stage, block, is_first, dropout, unit, **first):
    """Return a block of convolutions; ``first``: the options of the first of them."""

    def of(start):
        x = start
        for part, filters_of_part, size in zip("abc", filters, sizes):
            names = {
                f"{each}_name_base": f"{kind}{stage}{chr(97 + block)}_branch2{part}"
                for each, kind in (("conv", "res"), ("bn", "bn"))
            }
            if part != "a" and dropout is not None:
                x = keras.layers.Dropout(dropout)(x)
            options = first if part == "a" else {}
            if part == "a" and is_first:  # what comes in was normalized, and pooled
                options = {**options, "name": names["conv_name_base"]}
                x = residual_conv(x, filters_of_part, size, **options)
            else:
                x = unit(filters=filters_of_part, kernel_size=size, **options, **names)(
                    x
                )
        return with_shortcut(start, x)

    return of


def basic_block(
    filters,
    stage,
    block,
    transition_strides=(1, 1),
    dilation_rate=(1, 1),
    is_first_block_of_first_layer=False,
    dropout=None,
    residual_unit=bn_relu_conv,
):
    """Return a block of two convolutions, for networks of up to 34 layers."""
    return residual_block(
        ((3, 3), (3, 3)),
        (filters, filters),
        stage,
        block,
        is_first_block_of_first_layer,
        dropout,
        residual_unit,
        strides=transition_strides,
        dilation_rate=dilation_rate,
    )


def bottleneck(
    filters,
    stage,
    block,
    transition_strides=(1, 1),
    dilation_rate=(1, 1),
    is_first_block_of_first_layer=False,
    dropout=None,
    residual_unit=bn_relu_conv,
):
    """Return a block of three convolutions, the last with four times the filters."""
    return residual_block(
        ((1, 1), (3, 3), (1, 1)),
        (filters, filters, 4 * filters),
        stage,
        block,
        is_first_block_of_first_layer,
        dropout,
        residual_unit,
        strides=transition_strides,
        dilation_rate=dilation_rate,
    )


def ResNet(
    input_shape=None,
    classes=10,
    block="bottleneck",
    residual_unit="v2",
    repetitions=None,
    initial_filters=64,
    activation="softmax",
    include_top=True,
    input_tensor=None,
    dropout=None,
    transition_dilation_rate=(1, 1),
    initial_strides=(2, 2),
    initial_kernel_size=(7, 7),
    initial_pooling="max",
    final_pooling=None,
    top="classification",
):
    """Build a residual network, ResNet-50 v2 by default."""
    if activation not in ["softmax", "sigmoid", None]:
        raise ValueError('activation must be one of "softmax", "sigmoid", or None')
    if activation == "sigmoid" and classes != 1:
        raise ValueError("sigmoid activation can only be used when classes = 1")
    data_format = keras.config.image_data_format()
    shape = obtain_input_shape(input_shape, 32, 8, data_format, include_top)
    if data_format == "channels_first":
        shape = obtain_input_shape(
            (*shape[1:], shape[0]), 32, 8, data_format, include_top
        )
    blocks = {
        "basic": basic_block,
        "basic_block": basic_block,
        "bottleneck": bottleneck,
    }
    units = {"v1": conv_bn_relu, "v2": bn_relu_conv}
    block = blocks.get(block, block)
    unit = units.get(residual_unit, residual_unit)
    start = keras.layers.Input(shape=shape, tensor=input_tensor)
    x = conv_bn_relu(initial_filters, initial_kernel_size, strides=initial_strides)(
        start
    )
    if initial_pooling == "max":
        x = keras.layers.MaxPooling2D((3, 3), strides=initial_strides, padding="same")(
            x
        )
    for stage, times in enumerate([3, 4, 6, 3] if repetitions is None else repetitions):
        strides = (2, 2) if transition_dilation_rate == (1, 1) else (1, 1)
        for number in range(times):
            x = block(
                filters=initial_filters * 2**stage,
                stage=stage,
                block=number,
                transition_strides=strides if number == 0 else (1, 1),
                dilation_rate=1,
                is_first_block_of_first_layer=stage == number == 0,
                dropout=dropout,
                residual_unit=unit,
            )(x)
    x = bn_relu(x)
    if include_top and top == "classification":
        x = keras.layers.GlobalAveragePooling2D()(x)
        x = keras.layers.Dense(
            classes, activation=activation, kernel_initializer="he_normal"
        )(x)
    elif include_top and top == "segmentation":
        x = keras.layers.Conv2D(classes, (1, 1), activation="linear", padding="same")(x)
        rows, columns = shape[1:] if data_format == "channels_first" else shape[:2]
        x = keras.layers.Reshape((rows * columns, classes))(x)
        x = keras.layers.Activation(activation)(x)
        x = keras.layers.Reshape((rows, columns, classes))(x)
    elif final_pooling == "avg":
        x = keras.layers.GlobalAveragePooling2D()(x)
    elif final_pooling == "max":
        x = keras.layers.GlobalMaxPooling2D()(x)
    return keras.Model(inputs=start, outputs=x)


def ResNet18(input_shape, classes):
    """Build a ResNet v2 of 18 layers."""
    return ResNet(input_shape, classes, basic_block, repetitions=[2, 2, 2, 2])


def ResNet34(input_shape, classes):
    """Build a ResNet v2 of 34 layers."""
    return ResNet(input_shape, classes, basic_block, repetitions=[3, 4, 6, 3])


def ResNet50(input_shape, classes):
    """Build a ResNet v2 of 50 layers."""
    return ResNet(input_shape, classes, bottleneck, repetitions=[3, 4, 6, 3])


def ResNet101(input_shape, classes):
    """Build a ResNet v2 of 101 layers."""
    return ResNet(input_shape, classes, bottleneck, repetitions=[3, 4, 23, 3])


def ResNet152(input_shape, classes):
    """Build a ResNet v2 of 152 layers."""
    return ResNet(input_shape, classes, bottleneck, repetitions=[3, 8, 36, 3])


def wide_block(start, filters, dropout):
    """Add two convolutions to what they begin with."""
    shortcut = start
    if start.shape[channel_axis()] != filters:
        shortcut = keras.layers.Conv2D(filters, (1, 1), padding="same")(start)
    x = bn_relu(keras.layers.Conv2D(filters, (3, 3), padding="same")(start))
    if dropout > 0.0:
        x = keras.layers.Dropout(dropout)(x)
    x = bn_relu(keras.layers.Conv2D(filters, (3, 3), padding="same")(x))
    return keras.layers.add([shortcut, x])


def WideResidualNetwork(
    depth=28,
    width=8,
    dropout_rate=0.0,
    include_top=True,
    weights="cifar10",
    input_tensor=None,
    input_shape=None,
    classes=10,
    activation="softmax",
):
    """Build a wide residual network, with weights of CIFAR-10 unless told not to."""
    if weights not in {"cifar10", None}:
        raise ValueError("`weights` must be None or 'cifar10'")
    if weights == "cifar10" and include_top and classes != 10:
        raise ValueError(
            "the weights of CIFAR-10 with `include_top` are for 10 classes"
        )
    if (depth - 4) % 6 != 0:
        raise ValueError("`depth` - 4 must be divisible by 6")
    data_format = keras.config.image_data_format()
    shape = obtain_input_shape(input_shape, 32, 8, data_format, include_top)
    start = keras.layers.Input(shape) if input_tensor is None else input_tensor
    x = bn_relu(keras.layers.Conv2D(16, (3, 3), padding="same")(start))
    for stage, filters in enumerate((16, 32, 64)):
        if stage:
            x = keras.layers.MaxPooling2D((2, 2))(x)
        for _ in range((depth - 4) // 6):
            x = wide_block(x, filters * width, dropout_rate)
    if include_top:
        x = keras.layers.GlobalAveragePooling2D()(x)
        x = keras.layers.Dense(classes, activation=activation)(x)
    model = keras.Model(start, x, name="wide-resnet")
    if weights == "cifar10" and (depth, width, dropout_rate) == (28, 8, 0.0):
        kind = "th" if data_format == "channels_first" else "tf"
        tail = "" if include_top else "_no_top"
        path = keras.utils.get_file(
            f"wide_resnet_28_8_{kind}_dim_ordering_{kind}_kernels{tail}.h5",
            "https://github.com/titu1994/Wide-Residual-Networks/releases/download/v1.2/"
            f"wrn_28_8_{kind}_kernels_{kind}_dim_ordering{tail}.h5",
            cache_subdir="models",
        )
        model.load_weights(path)
    return model
