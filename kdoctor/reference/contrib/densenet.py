"""The dense networks of keras_contrib, with its layers by its names."""

import keras

from kdoctor.reference.contrib.applications import channel_axis
from kdoctor.reference.contrib.layers import SubPixelUpscaling
from kdoctor.reference.keras_2.sizes import obtain_input_shape


def dense_norm(x, name):
    """Normalize, and cut off what is negative."""
    x = keras.layers.BatchNormalization(axis=channel_axis(), epsilon=1.1e-5, name=name)(
        x
    )
    return keras.layers.Activation("relu")(x)


def dense_kernel(x, filters, size, name, decay=None, **options):
    """Convolve, with He's initial weights and without a bias."""
    options = {"padding": "same", "use_bias": False, **options}
    return keras.layers.Conv2D(
        filters,
        size,
        kernel_initializer="he_normal",
        kernel_regularizer=None if decay is None else keras.regularizers.L2(decay),
        name=name,
        **options,
    )(x)


def dense_block(x, count, growth, bottleneck, dropout, decay, prefix):
    """Add units to what they begin with; return that, and all parts of it."""
    parts = [x]
    for number in range(count):
        name = f"{prefix}_{number}"
        unit = dense_norm(x, f"{name}_bn")
        if bottleneck:
            unit = dense_kernel(
                unit, growth * 4, (1, 1), f"{name}_bottleneck_conv2D", decay
            )
            unit = dense_norm(unit, f"{name}_bottleneck_bn")
        unit = dense_kernel(unit, growth, (3, 3), f"{name}_conv2D")
        if dropout:
            unit = keras.layers.Dropout(dropout)(unit)
        parts.append(unit)
        x = keras.layers.concatenate([x, unit], axis=channel_axis())
    return x, parts


def dense_transition(x, filters, decay, prefix, pooling):
    """Return fewer channels, of an image of half the size."""
    x = dense_norm(x, f"{prefix}_bn")
    x = dense_kernel(x, filters, (1, 1), f"{prefix}_conv2D", decay)
    pools = {"avg": keras.layers.AveragePooling2D, "max": keras.layers.MaxPooling2D}
    return pools[pooling]((2, 2), strides=(2, 2))(x) if pooling in pools else x


def dense_transition_up(x, filters, how, decay, prefix):
    """Return an image of twice the size."""
    if how == "upsampling":
        return keras.layers.UpSampling2D(name=f"{prefix}_upsampling")(x)
    if how == "subpixel":
        relu = {"activation": "relu", "decay": decay}
        x = dense_kernel(x, filters, (3, 3), f"{prefix}_conv2D", **relu)
        x = SubPixelUpscaling(2, name=f"{prefix}_subpixel")(x)
        return dense_kernel(x, filters, (3, 3), f"{prefix}_conv2D_2", **relu)
    return keras.layers.Conv2DTranspose(
        filters,
        (3, 3),
        activation="relu",
        padding="same",
        strides=(2, 2),
        kernel_initializer="he_normal",
        kernel_regularizer=keras.regularizers.L2(decay),
        name=f"{prefix}_conv2DT",
    )(x)


def check_dense_top(activation, classes, reduction):
    """Raise if arguments do not go together."""
    if activation not in ["softmax", "sigmoid"]:
        raise ValueError('activation must be one of "softmax" or "sigmoid"')
    if activation == "sigmoid" and classes != 1:
        raise ValueError("sigmoid activation can only be used when classes = 1")
    if not 0.0 <= reduction <= 1.0:
        raise ValueError("`reduction` value must lie between 0.0 and 1.0")


def layers_of_blocks(depth, blocks, counts, bottleneck):
    """Return how many units each block has."""
    if isinstance(counts, (list, tuple)):
        if len(counts) != blocks:
            raise ValueError("`nb_layers_per_block` has one number for each block")
        return list(counts)
    if counts != -1:
        return [counts] * blocks
    if (depth - 4) % 3:
        raise AssertionError("Depth must be 3 N + 4 if nb_layers_per_block == -1")
    count = (depth - 4) // 3
    return [count // 2 if bottleneck else count] * blocks


def load_dense_weights(model, shape, include_top):
    """Load the weights of ImageNet, if there are any for such a network."""
    known = {(121, 32, 64): "121-32", (161, 48, 96): "161-48", (169, 32, 64): "169-32"}
    if shape in known:
        file = f"DenseNet-BC-{known[shape]}{'' if include_top else '-no-top'}.h5"
        source = "https://github.com/titu1994/DenseNet/releases/download/v3.0/"
        path = keras.utils.get_file(file, source + file, cache_subdir="models")
        model.load_weights(path, by_name=True)


def DenseNet(
    input_shape=None,
    depth=40,
    nb_dense_block=3,
    growth_rate=12,
    nb_filter=-1,
    nb_layers_per_block=-1,
    bottleneck=False,
    reduction=0.0,
    dropout_rate=0.0,
    weight_decay=0.0001,
    subsample_initial_block=False,
    include_top=True,
    weights=None,
    input_tensor=None,
    pooling=None,
    classes=10,
    activation="softmax",
    transition_pooling="avg",
):
    """Build a dense network."""
    if weights not in {"imagenet", None}:
        raise ValueError("`weights` must be None or 'imagenet'")
    if weights == "imagenet" and include_top and classes != 1000:
        raise ValueError(
            "the weights of ImageNet with `include_top` are of 1000 classes"
        )
    check_dense_top(activation, classes, reduction)
    data_format = keras.config.image_data_format()
    shape = obtain_input_shape(input_shape, 32, 8, data_format, include_top)
    start = keras.layers.Input(shape) if input_tensor is None else input_tensor
    counts = layers_of_blocks(depth, nb_dense_block, nb_layers_per_block, bottleneck)
    filters = nb_filter if nb_filter > 0 else 2 * growth_rate
    first = (filters, bottleneck, reduction, subsample_initial_block)
    size, strides = ((7, 7), (2, 2)) if subsample_initial_block else ((3, 3), (1, 1))
    x = dense_kernel(
        start, filters, size, "initial_conv2D", weight_decay, strides=strides
    )
    if subsample_initial_block:
        x = dense_norm(x, "initial_bn")
        x = keras.layers.MaxPooling2D((3, 3), strides=(2, 2), padding="same")(x)
    for number, count in enumerate(counts):
        if number:
            filters = int(filters * (1.0 - reduction))
            name = f"tr_{number - 1}"
            x = dense_transition(x, filters, weight_decay, name, transition_pooling)
        block = (growth_rate, bottleneck, dropout_rate, weight_decay)
        x, _ = dense_block(x, count, *block, f"dense_{number}")
        filters += count * growth_rate
    x = dense_norm(x, "final_bn")
    if pooling == "avg":
        x = keras.layers.GlobalAveragePooling2D()(x)
    elif pooling == "max":
        x = keras.layers.GlobalMaxPooling2D()(x)
    if include_top:
        x = keras.layers.Dense(classes, activation=activation)(x)
    inputs = start if input_tensor is None else keras.utils.get_source_inputs(start)
    model = keras.Model(inputs, x, name="densenet")
    if weights == "imagenet" and first[1:] == (True, 0.5, True) and nb_dense_block == 4:
        load_dense_weights(model, (depth, growth_rate, first[0]), include_top)
    return model


def DenseNetFCN(
    input_shape,
    nb_dense_block=5,
    growth_rate=16,
    nb_layers_per_block=4,
    reduction=0.0,
    dropout_rate=0.0,
    weight_decay=0.0001,
    init_conv_filters=48,
    include_top=True,
    weights=None,
    input_tensor=None,
    classes=1,
    activation="softmax",
    upsampling_conv=128,
    upsampling_type="deconv",
    early_transition=False,
    transition_pooling="max",
    initial_kernel_size=(3, 3),
):
    """Build a dense network that labels each pixel."""
    if weights is not None:
        raise ValueError("`weights` must be None: there are no weights of it")
    if upsampling_type.lower() not in ["upsampling", "deconv", "subpixel"]:
        raise ValueError("`upsampling_type`: 'upsampling', 'deconv' or 'subpixel'")
    check_dense_top(activation, classes, reduction)
    if not (upsampling_conv > 12 and upsampling_conv % 4 == 0):
        raise ValueError("`upsampling_conv` must be above 12 and divisible by 4")
    is_first = keras.config.image_data_format() == "channels_first"
    rows, columns = input_shape[1:] if is_first else input_shape[:2]
    if min(each or 2**nb_dense_block for each in (rows, columns)) < 2**nb_dense_block:
        raise ValueError(f"Input size must be at least {2**nb_dense_block}")
    counts = nb_layers_per_block
    if isinstance(counts, (list, tuple)):
        if len(counts) != nb_dense_block + 1:
            raise ValueError("`nb_layers_per_block` has one number more than blocks")
        counts = [*counts, *counts[-2::-1]]
    else:
        counts = [counts] * (2 * nb_dense_block + 1)
    start = keras.layers.Input(input_shape) if input_tensor is None else input_tensor
    x = dense_kernel(
        start, init_conv_filters, initial_kernel_size, "initial_conv2D", weight_decay
    )
    x = dense_norm(x, "initial_bn")
    left, filters = 1.0 - reduction, init_conv_filters
    block = (growth_rate, False, dropout_rate, weight_decay)
    down = (weight_decay, "tr_early", transition_pooling)
    if early_transition:
        x = dense_transition(x, int(filters * left), *down)
    skipped = []
    for number in range(nb_dense_block):
        x, _ = dense_block(x, counts[number], *block, f"dense_{number}")
        skipped.append(x)
        filters = int((filters + counts[number] * growth_rate) * left)
        x = dense_transition(x, filters, weight_decay, f"tr_{number}", down[2])
    _, parts = dense_block(x, counts[nb_dense_block], *block, f"dense_{nb_dense_block}")
    up = (upsampling_type.lower(), weight_decay)
    for number in range(nb_dense_block):
        x = keras.layers.concatenate(parts[1:], axis=channel_axis())
        kept = growth_rate * counts[nb_dense_block + number]
        x = dense_transition_up(x, kept, *up, f"tr_up_{number}")
        x = keras.layers.concatenate([x, skipped[-1 - number]], axis=channel_axis())
        place = nb_dense_block + 1 + number
        x, parts = dense_block(x, counts[place], *block, f"dense_{place}")
    if early_transition:
        x = dense_transition_up(x, growth_rate, *up, "tr_up_early")
    if include_top:
        x = keras.layers.Conv2D(
            classes, (1, 1), activation="linear", padding="same", use_bias=False
        )(x)
        x = keras.layers.Reshape((rows * columns, classes))(x)
        x = keras.layers.Activation(activation)(x)
        x = keras.layers.Reshape((rows, columns, classes))(x)
    inputs = start if input_tensor is None else keras.utils.get_source_inputs(start)
    return keras.Model(inputs, x, name="fcn-densenet")
