"""Layers of keras_contrib that measure angles, and its capsules."""

import keras


class CosineLayer(keras.layers.Layer):
    """What layers with a kernel and a bias have in common."""

    def __init__(
        self,
        kernel_initializer="glorot_uniform",
        activation=None,
        weights=None,
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        use_bias=True,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.activation = keras.activations.get(activation)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)
        self.use_bias, self.initial_weights = use_bias, weights

    def add_both(self, kernel_shape, size):
        """Make the kernel and the bias, and set them to what is wanted."""
        self.kernel = self.add_weight(
            shape=kernel_shape,
            name=f"{self.name}_W",
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(size,),
                name=f"{self.name}_b",
                initializer="zeros",
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True
        if self.initial_weights is not None:
            self.set_weights(self.initial_weights)
            self.initial_weights = None

    def kernel_norm(self):
        """Return how long the kernel and the bias of each unit are together."""
        axes = tuple(range(len(self.kernel.shape) - 1))
        square = keras.ops.sum(keras.ops.square(self.kernel), axes)
        if self.use_bias:
            square = square + keras.ops.square(self.bias)
        return keras.ops.sqrt(square + keras.config.epsilon())

    def get_config(self):
        """Return the arguments."""
        own = {"activation": keras.activations.serialize(self.activation)}
        own["use_bias"] = self.use_bias
        for name, room in (
            ("kernel_initializer", keras.initializers),
            ("kernel_regularizer", keras.regularizers),
            ("bias_regularizer", keras.regularizers),
            ("activity_regularizer", keras.regularizers),
            ("kernel_constraint", keras.constraints),
            ("bias_constraint", keras.constraints),
        ):
            made = getattr(self, name)
            own[name] = room.serialize(made) if made else None
        return {**super().get_config(), **own}


class CosineDense(CosineLayer):
    """A dense layer that is normalized: it gives cosines."""

    def __init__(
        self,
        units,
        kernel_initializer="glorot_uniform",
        activation=None,
        weights=None,
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        use_bias=True,
        **kwargs,
    ):
        self.units = units
        super().__init__(
            kernel_initializer,
            activation,
            weights,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            use_bias,
            **kwargs,
        )

    def build(self, input_shape):
        """Make the weights."""
        self.add_both((input_shape[-1], self.units), self.units)

    def call(self, inputs):
        """Return the cosines."""
        length = keras.ops.sum(keras.ops.square(inputs), -1, keepdims=True)
        more = (1.0 if self.use_bias else 0.0) + keras.config.epsilon()
        norm = keras.ops.sqrt(length + more) * self.kernel_norm()
        found = keras.ops.matmul(inputs, self.kernel) / norm
        return self.activation(found + self.bias / norm if self.use_bias else found)

    def compute_output_shape(self, input_shape):
        """Return the shape of the cosines."""
        return (*input_shape[:-1], self.units)

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "units": self.units}


class CosineConvolution2D(CosineLayer):
    """A convolution that is normalized: it gives cosines."""

    def __init__(
        self,
        filters,
        kernel_size,
        kernel_initializer="glorot_uniform",
        activation=None,
        weights=None,
        padding="valid",
        strides=(1, 1),
        data_format=None,
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        use_bias=True,
        **kwargs,
    ):
        if padding not in {"valid", "same"}:
            raise ValueError("Invalid border mode for CosineConvolution2D:", padding)
        super().__init__(
            kernel_initializer,
            activation,
            weights,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            use_bias,
            **kwargs,
        )
        self.filters, self.kernel_size = filters, tuple(kernel_size)
        self.padding, self.strides = padding, tuple(strides)
        self.data_format = data_format or keras.config.image_data_format()

    def build(self, input_shape):
        """Make the weights."""
        axis = 1 if self.data_format == "channels_first" else 3
        shape = (*self.kernel_size, input_shape[axis], self.filters)
        self.add_both(shape, self.filters)

    def convolved(self, inputs, kernel):
        """Return a convolution with the strides and the padding of the layer."""
        return keras.ops.conv(
            inputs, kernel, self.strides, self.padding, self.data_format
        )

    def call(self, inputs):
        """Return the cosines."""
        is_first = self.data_format == "channels_first"
        wide = (1, self.filters, 1, 1) if is_first else (1, 1, 1, self.filters)
        ones = keras.ops.ones_like(self.kernel[:, :, :, :1])
        length = self.convolved(keras.ops.square(inputs), ones)
        more = (1.0 if self.use_bias else 0.0) + keras.config.epsilon()
        norm = self.kernel_norm()
        found = self.convolved(inputs, self.kernel / norm)
        if self.use_bias:
            found = found + keras.ops.reshape(self.bias / norm, wide)
        return self.activation(found / keras.ops.sqrt(length + more))

    def get_config(self):
        """Return the arguments."""
        names = ("filters", "kernel_size", "padding", "strides", "data_format")
        own = {name: getattr(self, name) for name in names}
        return {**super().get_config(), **own}


class CosineConv2D(CosineConvolution2D):
    """A convolution that gives cosines, by its other name."""

    def __init__(
        self,
        filters,
        kernel_size,
        kernel_initializer="glorot_uniform",
        activation=None,
        weights=None,
        padding="valid",
        strides=(1, 1),
        data_format=None,
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        use_bias=True,
        **kwargs,
    ):
        super().__init__(
            filters,
            kernel_size,
            kernel_initializer,
            activation,
            weights,
            padding,
            strides,
            data_format,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            use_bias,
            **kwargs,
        )


class Capsule(keras.layers.Layer):
    """Capsules that agree on what they are given, round by round."""

    def __init__(
        self,
        num_capsule,
        dim_capsule,
        routings=3,
        share_weights=True,
        initializer="glorot_uniform",
        activation=None,
        regularizer=None,
        constraint=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_capsule, self.dim_capsule = num_capsule, dim_capsule
        self.routings, self.share_weights = routings, share_weights
        self.activation = keras.activations.get(activation)
        self.regularizer = keras.regularizers.get(regularizer)
        self.initializer = keras.initializers.get(initializer)
        self.constraint = keras.constraints.get(constraint)

    def build(self, input_shape):
        """Make the weights, the same for all inputs or others for each."""
        count = 1 if self.share_weights else input_shape[-2]
        self.W = self.add_weight(
            shape=(count, input_shape[-1], self.num_capsule * self.dim_capsule),
            name="capsule_kernel",
            initializer=self.initializer,
            regularizer=self.regularizer,
            constraint=self.constraint,
        )
        self.built = True

    def call(self, inputs):
        """Return what the capsules agree on."""
        if self.share_weights:
            votes = keras.ops.matmul(inputs, self.W[0])
        else:
            votes = keras.ops.einsum("bij,ijk->bik", inputs, self.W)
        count = keras.ops.shape(inputs)[1]
        shape = (-1, count, self.num_capsule, self.dim_capsule)
        votes = keras.ops.transpose(keras.ops.reshape(votes, shape), (0, 2, 1, 3))
        routes = keras.ops.zeros_like(votes[:, :, :, 0])
        for turn in range(self.routings):
            shares = keras.ops.softmax(routes, axis=1)
            found = keras.ops.einsum("bni,bnid->bnd", shares, votes)
            if turn < self.routings - 1:
                length = keras.ops.sum(keras.ops.square(found), -1, keepdims=True)
                found = found * keras.ops.rsqrt(keras.ops.maximum(length, 1e-12))
                routes = keras.ops.einsum("bnd,bnid->bni", found, votes)
        return self.activation(found)

    def compute_output_shape(self, input_shape):
        """Return the shape of the capsules."""
        return (input_shape[0], self.num_capsule, self.dim_capsule)

    def get_config(self):
        """Return the arguments."""
        names = ("num_capsule", "dim_capsule", "routings", "share_weights")
        own = {name: getattr(self, name) for name in names}
        own["activation"] = keras.activations.serialize(self.activation)
        for name, room in (
            ("regularizer", keras.regularizers),
            ("initializer", keras.initializers),
            ("constraint", keras.constraints),
        ):
            made = getattr(self, name)
            own[name] = room.serialize(made) if made else None
        return {**super().get_config(), **own}
