"""Layers of keras_contrib."""

import keras


class ScaledAndShifted(keras.layers.Layer):
    """A layer with a scale and an offset, if they are wanted."""

    def __init__(
        self,
        axis,
        epsilon,
        center,
        scale,
        beta_initializer,
        gamma_initializer,
        beta_regularizer,
        gamma_regularizer,
        beta_constraint,
        gamma_constraint,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.axis, self.epsilon, self.supports_masking = axis, epsilon, True
        self.center, self.scale = center, scale
        self.beta_initializer = keras.initializers.get(beta_initializer)
        self.gamma_initializer = keras.initializers.get(gamma_initializer)
        self.beta_regularizer = keras.regularizers.get(beta_regularizer)
        self.gamma_regularizer = keras.regularizers.get(gamma_regularizer)
        self.beta_constraint = keras.constraints.get(beta_constraint)
        self.gamma_constraint = keras.constraints.get(gamma_constraint)

    def add_both(self, shape):
        """Make the scale and the offset."""
        self.gamma = self.beta = None
        if self.scale:
            self.gamma = self.add_weight(
                shape=shape,
                name="gamma",
                initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        if self.center:
            self.beta = self.add_weight(
                shape=shape,
                name="beta",
                initializer=self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
            )
        self.built = True

    def apply_both(self, found, shape):
        """Return what is normalized, scaled and shifted."""
        if self.scale:
            found = found * keras.ops.reshape(self.gamma, shape)
        return found + keras.ops.reshape(self.beta, shape) if self.center else found

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        own = {
            name: getattr(self, name) for name in ("axis", "epsilon", "center", "scale")
        }
        for name in ("beta", "gamma"):
            for kind, room in (
                ("initializer", keras.initializers),
                ("regularizer", keras.regularizers),
                ("constraint", keras.constraints),
            ):
                made = getattr(self, f"{name}_{kind}")
                own[f"{name}_{kind}"] = room.serialize(made) if made else None
        return {**super().get_config(), **own}


class InstanceNormalization(ScaledAndShifted):
    """Normalize each sample over all of its axes, or over all but one."""

    def __init__(
        self,
        axis=None,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        super().__init__(
            axis,
            epsilon,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
            **kwargs,
        )

    def build(self, input_shape):
        """Make the scale and the offset, one of each where all axes are normalized."""
        if self.axis == 0:
            raise ValueError("Axis cannot be zero")
        if self.axis is not None and len(input_shape) == 2:
            raise ValueError("Cannot specify axis for rank 1 tensor")
        self.add_both((1,) if self.axis is None else (input_shape[self.axis],))

    def call(self, inputs):
        """Normalize: epsilon is added to the standard deviation."""
        axes = list(range(len(inputs.shape)))
        shape = [1] * len(axes)
        if self.axis is not None:
            shape[self.axis] = inputs.shape[self.axis]
            del axes[self.axis]
        mean = keras.ops.mean(inputs, axes[1:], keepdims=True)
        spread = keras.ops.sqrt(keras.ops.var(inputs, axes[1:], keepdims=True))
        return self.apply_both((inputs - mean) / (spread + self.epsilon), shape)


class GroupNormalization(ScaledAndShifted):
    """Normalize groups, which are cut out of a sample in the order of its numbers."""

    def __init__(
        self,
        groups=32,
        axis=-1,
        epsilon=1e-5,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        self.groups = groups
        super().__init__(
            axis,
            epsilon,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
            **kwargs,
        )

    def build(self, input_shape):
        """Make the scale and the offset."""
        size = input_shape[self.axis]
        if size is None or size % self.groups:
            raise ValueError(f"{size} channels are no multiple of {self.groups} groups")
        self.add_both((size,))

    def call(self, inputs):
        """Normalize."""
        known = inputs.shape
        sizes = [
            keras.ops.shape(inputs)[i] if n is None else n for i, n in enumerate(known)
        ]
        whole = tuple(sizes)
        sizes[self.axis] = known[self.axis] // self.groups
        shape = [1] * len(known)
        shape[self.axis] = sizes[self.axis]
        sizes.insert(1, self.groups)
        shape.insert(1, self.groups)
        found = keras.ops.reshape(inputs, sizes)
        axes = list(range(2, len(sizes)))
        mean = keras.ops.mean(found, axes, keepdims=True)
        variance = keras.ops.var(found, axes, keepdims=True)
        found = (found - mean) / keras.ops.sqrt(variance + self.epsilon)
        return keras.ops.reshape(self.apply_both(found, shape), whole)

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "groups": self.groups}


class Swish(keras.layers.Layer):
    """The input times its sigmoid, whose slope may be trained."""

    def __init__(self, beta=1.0, trainable=False, **kwargs):
        super().__init__(**kwargs)
        self.beta, self.trainable, self.supports_masking = beta, trainable, True

    def build(self, input_shape):
        """Make the slope a weight, if it is to be trained."""
        self.scaling_factor = self.beta
        if self.trainable:
            first = keras.initializers.Constant(self.beta)
            self.scaling_factor = self.add_weight(
                shape=(), name="scaling_factor", initializer=first
            )
        self.built = True

    def call(self, inputs):
        """Apply the activation."""
        return inputs * keras.ops.sigmoid(self.scaling_factor * inputs)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        beta = (
            float(self.get_weights()[0]) if self.trainable and self.built else self.beta
        )
        return {**super().get_config(), "beta": beta, "trainable": self.trainable}


class SineReLU(keras.layers.Layer):
    """The input, but small waves below zero."""

    def __init__(self, epsilon=0.0025, **kwargs):
        super().__init__(**kwargs)
        self.epsilon, self.supports_masking = epsilon, True

    def call(self, inputs):
        """Apply the activation."""
        waves = self.epsilon * (keras.ops.sin(inputs) - keras.ops.cos(inputs))
        return keras.ops.maximum(waves, inputs)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "epsilon": self.epsilon}


class SubPixelUpscaling(keras.layers.Layer):
    """Make larger images of channels."""

    def __init__(self, scale_factor=2, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.scale_factor = scale_factor
        self.data_format = data_format or keras.config.image_data_format()

    def call(self, inputs):
        """Put the channels beside each other."""
        is_first = self.data_format == "channels_first"
        images = keras.ops.transpose(inputs, (0, 2, 3, 1)) if is_first else inputs
        sizes = keras.ops.shape(images)
        scale, channels = self.scale_factor, images.shape[3] // self.scale_factor**2
        rows, columns = sizes[1], sizes[2]
        images = keras.ops.reshape(images, (-1, rows, columns, scale, scale, channels))
        images = keras.ops.transpose(images, (0, 1, 3, 2, 4, 5))
        found = keras.ops.reshape(images, (-1, rows * scale, columns * scale, channels))
        return keras.ops.transpose(found, (0, 3, 1, 2)) if is_first else found

    def compute_output_shape(self, input_shape):
        """Return the shape of the larger images."""
        is_first = self.data_format == "channels_first"
        batch, *sizes = input_shape
        channels, sizes = (sizes[0], sizes[1:]) if is_first else (sizes[2], sizes[:2])
        sizes = [each and each * self.scale_factor for each in sizes]
        channels //= self.scale_factor**2
        return (batch, channels, *sizes) if is_first else (batch, *sizes, channels)

    def get_config(self):
        """Return the arguments."""
        own = {"scale_factor": self.scale_factor, "data_format": self.data_format}
        return {**super().get_config(), **own}
