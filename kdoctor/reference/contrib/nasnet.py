"""The NASNet networks of keras_contrib, with its layers by its names."""

import keras

from kdoctor.reference.keras_2.sizes import obtain_input_shape


class NASNetCells:
    """The cells of a network, with the decay of its weights."""

    def __init__(self, decay, momentum, epsilon):
        self.decay, self.momentum, self.epsilon = decay, momentum, epsilon

    def norm(self, x, name):
        """Normalize."""
        return keras.layers.BatchNormalization(
            axis=-1, momentum=self.momentum, epsilon=self.epsilon, name=name
        )(x)

    def kernel(self, x, filters, size, name, **options):
        """Convolve, without a bias."""
        return keras.layers.Conv2D(
            filters,
            size,
            use_bias=False,
            kernel_initializer="he_normal",
            kernel_regularizer=keras.regularizers.L2(self.decay),
            name=name,
            **{"padding": "same", **options},
        )(x)

    def separable(self, x, filters, size, name, strides=(1, 1)):
        """Convolve twice, channel by channel at first."""
        for turn in ("1", "2"):
            x = keras.layers.Activation("relu")(x)
            x = keras.layers.SeparableConv2D(
                filters,
                size,
                strides=strides if turn == "1" else (1, 1),
                padding="same",
                use_bias=False,
                name=f"separable_conv_{turn}_{name}",
            )(x)
            x = self.norm(x, f"separable_conv_{turn}_bn_{name}")
        return x

    def adjusted(self, before, x, filters, name):
        """Return what came before the last cell, of the size of what came last."""
        if before is None:
            return x
        if before.shape[-2] != x.shape[-2]:
            before = keras.layers.Activation("relu", name=f"adjust_relu_1_{name}")(
                before
            )
            moved = keras.layers.ZeroPadding2D(((0, 1), (0, 1)))
            cut = keras.layers.Cropping2D(((1, 0), (1, 0)))
            halves = []
            for turn in ("1", "2"):
                half = cut(moved(before)) if turn == "2" else before
                half = keras.layers.AveragePooling2D(
                    (1, 1), strides=(2, 2), name=f"adjust_avg_pool_{turn}_{name}"
                )(half)
                name_of_half = f"adjust_conv_{turn}_{name}"
                halves.append(self.kernel(half, filters // 2, (1, 1), name_of_half))
            both = keras.layers.concatenate(halves, axis=-1)
            return self.norm(both, f"adjust_bn_{name}")
        if before.shape[-1] != filters:
            before = keras.layers.Activation("relu")(before)
            name_of_all = f"adjust_conv_projection_{name}"
            before = self.kernel(before, filters, (1, 1), name_of_all)
            return self.norm(before, f"adjust_bn_{name}")
        return before

    def normal(self, x, before, filters, name):
        """Return a cell that keeps the size, and what it began with."""
        start = x
        before = self.adjusted(before, x, filters, name)
        x = keras.layers.Activation("relu")(x)
        x = self.kernel(x, filters, (1, 1), f"normal_conv_1_{name}")
        x = self.norm(x, f"normal_bn_1_{name}")

        def pool(given, side):
            return keras.layers.AveragePooling2D(
                (3, 3), strides=(1, 1), padding="same", name=f"normal_{side}_{name}"
            )(given)

        def convolved(given, size, side):
            return self.separable(given, filters, size, f"normal_{side}_{name}")

        def add(first, second, number):
            return keras.layers.add([first, second], name=f"normal_add_{number}_{name}")

        first = convolved(x, (5, 5), "left1")
        first = add(first, convolved(before, (3, 3), "right1"), 1)
        second = convolved(before, (5, 5), "left2")
        second = add(second, convolved(before, (3, 3), "right2"), 2)
        third = add(pool(x, "left3"), before, 3)
        left = pool(before, "left4")
        fourth = add(left, pool(before, "right4"), 4)
        fifth = add(convolved(x, (3, 3), "left5"), x, 5)
        parts = [before, first, second, third, fourth, fifth]
        name = f"normal_concat_{name}"
        return keras.layers.concatenate(parts, axis=-1, name=name), start

    def reduction(self, x, before, filters, name):
        """Return a cell that halves the size, and what it began with."""
        start = x
        before = self.adjusted(before, x, filters, name)
        x = keras.layers.Activation("relu")(x)
        x = self.kernel(x, filters, (1, 1), f"reduction_conv_1_{name}")
        x = self.norm(x, f"reduction_bn_1_{name}")

        def pool(kind, given, side, strides=(2, 2)):
            name_of_it = f"reduction_{side}_{name}"
            return kind((3, 3), strides=strides, padding="same", name=name_of_it)(given)

        def convolved(given, size, side, strides=(2, 2)):
            name_of_it = f"reduction_{side}_{name}"
            return self.separable(given, filters, size, name_of_it, strides)

        def add(first, second, number):
            return keras.layers.add([first, second], name=f"reduction_{number}_{name}")

        largest, mean = keras.layers.MaxPooling2D, keras.layers.AveragePooling2D
        first = convolved(x, (5, 5), "left1")
        first = add(first, convolved(before, (7, 7), "1"), "add_1")
        second = pool(largest, x, "left2")
        second = add(second, convolved(before, (7, 7), "right2"), "add_2")
        third = pool(mean, x, "left3")
        third = add(third, convolved(before, (5, 5), "right3"), "add3")
        fourth = pool(mean, first, "left4", (1, 1))
        fourth = keras.layers.add([second, fourth])
        fifth = convolved(first, (3, 3), "left4", (1, 1))
        fifth = add(fifth, pool(largest, x, "right5"), "add4")
        parts = [second, third, fourth, fifth]
        name = f"reduction_concat_{name}"
        return keras.layers.concatenate(parts, axis=-1, name=name), start

    def auxiliary(self, x, classes, pooling, include_top, activation):
        """Return the head that helps to train the network."""
        x = keras.layers.Activation("relu")(x)
        x = keras.layers.AveragePooling2D((5, 5), strides=(3, 3), name="aux_pool")(x)
        x = self.kernel(x, 128, (1, 1), "aux_conv_projection")
        x = keras.layers.Activation("relu")(self.norm(x, "aux_bn_projection"))
        size = (x.shape[1], x.shape[2])
        x = self.kernel(x, 768, size, "aux_conv_reduction", padding="valid")
        x = keras.layers.Activation("relu")(self.norm(x, "aux_bn_reduction"))
        if not include_top:
            return nasnet_pooled(x, pooling)
        x = keras.layers.Flatten()(x)
        return keras.layers.Dense(
            classes,
            activation=activation,
            kernel_regularizer=keras.regularizers.L2(self.decay),
            name="aux_predictions",
        )(x)


def nasnet_pooled(x, pooling):
    """Pool an image, if it is to be pooled."""
    if pooling == "avg":
        return keras.layers.GlobalAveragePooling2D()(x)
    return keras.layers.GlobalMaxPooling2D()(x) if pooling == "max" else x


def load_nasnet_weights(model, size, has_auxiliary, include_top):
    """Load the weights of ImageNet."""
    kinds = {224: ("mobile", "v1.0"), 331: ("large", "v1.1")}
    if size not in kinds:
        raise ValueError("there are weights of NASNetLarge and NASNetMobile only")
    kind, release = kinds[size]
    tail = "" if include_top else "-no-top"
    file = f"NASNet-{'auxiliary-' if has_auxiliary else ''}{kind}{tail}.h5"
    source = f"https://github.com/titu1994/Keras-NASNet/releases/download/{release}/"
    own = f"nasnet_{kind}{'_with_aux' if has_auxiliary else ''}"
    own = f"{own}{tail.replace('-', '_')}.h5"
    path = keras.utils.get_file(own, source + file, cache_subdir="models")
    model.load_weights(path, by_name=True)


def nasnet(
    input_shape,
    penultimate_filters,
    nb_blocks,
    stem_filters,
    initial_reduction,
    skip_reduction_layer_input,
    use_auxiliary_branch,
    filters_multiplier,
    dropout,
    weight_decay,
    include_top,
    weights,
    input_tensor,
    pooling,
    classes,
    default_size,
    activation,
    norm=(0.9997, 1e-3),
):
    """Build a NASNet; ``norm``: momentum and epsilon of what normalizes."""
    if weights not in {"imagenet", None}:
        raise ValueError("`weights` must be None or 'imagenet'")
    if weights == "imagenet" and include_top and classes != 1000:
        raise ValueError(
            "the weights of ImageNet with `include_top` are of 1000 classes"
        )
    if penultimate_filters % 24:
        raise AssertionError("`penultimate_filters` needs to be divisible by 24.")
    size = default_size or 331
    require = include_top or weights
    shape = obtain_input_shape(input_shape, size, 32, "channels_last", require)
    start = keras.layers.Input(shape) if input_tensor is None else input_tensor
    cells, filters = NASNetCells(weight_decay, *norm), penultimate_filters // 24
    options = {"strides": (2, 2), "padding": "valid"} if initial_reduction else {}
    x = cells.kernel(start, stem_filters, (3, 3), "stem_conv1", **options)
    x, before = cells.norm(x, "stem_bn1"), None
    if initial_reduction:
        for turn, less in (("1", filters_multiplier**2), ("2", filters_multiplier)):
            x, before = cells.reduction(x, before, filters // less, f"stem_{turn}")
    extra = None
    for stage in range(3):
        wide = filters * filters_multiplier**stage
        if stage:
            number = f"reduce_{stage * nb_blocks}"
            x, above = cells.reduction(x, before, wide, number)
            if use_auxiliary_branch and stage == 2 and initial_reduction:
                head = (classes, pooling, include_top, activation)
                extra = cells.auxiliary(x, *head)
            before = before if skip_reduction_layer_input else above
        for number in range(nb_blocks):
            name = str(stage * nb_blocks + number + bool(stage))
            x, before = cells.normal(x, before, wide, name)
        if use_auxiliary_branch and stage == 1 and not initial_reduction:
            extra = cells.auxiliary(x, classes, pooling, include_top, activation)
    x = keras.layers.Activation("relu")(x)
    if include_top:
        x = keras.layers.GlobalAveragePooling2D()(x)
        x = keras.layers.Dropout(dropout)(x)
        l2 = keras.regularizers.L2(weight_decay)
        dense = keras.layers.Dense(
            classes, activation=activation, kernel_regularizer=l2, name="predictions"
        )
        x = dense(x)
    else:
        x = nasnet_pooled(x, pooling)
    inputs = start if input_tensor is None else keras.utils.get_source_inputs(start)
    if use_auxiliary_branch:
        model = keras.Model(inputs, [x, extra], name="NASNet_with_auxiliary")
    else:
        model = keras.Model(inputs, x, name="NASNet")
    if weights == "imagenet":
        load_nasnet_weights(model, size, use_auxiliary_branch, include_top)
    return model


def NASNet(
    input_shape=None,
    penultimate_filters=4032,
    nb_blocks=6,
    stem_filters=96,
    initial_reduction=True,
    skip_reduction_layer_input=True,
    use_auxiliary_branch=False,
    filters_multiplier=2,
    dropout=0.5,
    weight_decay=5e-05,
    include_top=True,
    weights=None,
    input_tensor=None,
    pooling=None,
    classes=1000,
    default_size=None,
    activation="softmax",
):
    """Build a NASNet."""
    return nasnet(
        input_shape,
        penultimate_filters,
        nb_blocks,
        stem_filters,
        initial_reduction,
        skip_reduction_layer_input,
        use_auxiliary_branch,
        filters_multiplier,
        dropout,
        weight_decay,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        default_size,
        activation,
    )


def NASNetLarge(
    input_shape=(331, 331, 3),
    dropout=0.5,
    weight_decay=5e-05,
    use_auxiliary_branch=False,
    include_top=True,
    weights="imagenet",
    input_tensor=None,
    pooling=None,
    classes=1000,
    activation="softmax",
):
    """Build the large NASNet."""
    return nasnet(
        input_shape,
        4032,
        6,
        96,
        True,
        True,
        use_auxiliary_branch,
        2,
        dropout,
        weight_decay,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        331,
        activation,
    )


def NASNetMobile(
    input_shape=(224, 224, 3),
    dropout=0.5,
    weight_decay=4e-05,
    use_auxiliary_branch=False,
    include_top=True,
    weights="imagenet",
    input_tensor=None,
    pooling=None,
    classes=1000,
    activation="softmax",
):
    """Build the small NASNet."""
    return nasnet(
        input_shape,
        1056,
        4,
        32,
        True,
        False,
        use_auxiliary_branch,
        2,
        dropout,
        weight_decay,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        224,
        activation,
    )


def NASNetCIFAR(
    input_shape=(32, 32, 3),
    dropout=0.0,
    weight_decay=0.0005,
    use_auxiliary_branch=False,
    include_top=True,
    weights=None,
    input_tensor=None,
    pooling=None,
    classes=10,
    activation="softmax",
):
    """Build the NASNet for small images."""
    return nasnet(
        input_shape,
        768,
        6,
        32,
        False,
        False,
        use_auxiliary_branch,
        2,
        dropout,
        weight_decay,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        224,
        activation,
        (0.9, 1e-5),
    )
