"""Layers of tensorflow_addons that Keras 3 has not."""

import keras


@keras.saving.register_keras_serializable("Addons", "GELU")
class GELU(keras.layers.Layer):
    """The Gaussian error linear unit, approximated unless told otherwise."""

    def __init__(self, approximate=True, **kwargs):
        super().__init__(**kwargs)
        self.approximate = approximate
        self.supports_masking = True

    def call(self, inputs):
        """Apply the activation."""
        return keras.activations.gelu(inputs, approximate=self.approximate)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "approximate": self.approximate}


@keras.saving.register_keras_serializable("Addons", "Maxout")
class Maxout(keras.layers.Layer):
    """The maximum of each group of features: `num_units` of them are left."""

    def __init__(self, num_units, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.num_units, self.axis = num_units, axis

    def call(self, inputs):
        """Return the maxima."""
        inputs = keras.ops.convert_to_tensor(inputs)
        axis = self.axis % len(inputs.shape)
        size = inputs.shape[axis]
        if size % self.num_units:
            raise ValueError(f"{size} features are no multiple of {self.num_units}")
        shape = [-1 if each is None else each for each in inputs.shape]
        shape[axis : axis + 1] = [size // self.num_units, self.num_units]
        return keras.ops.max(keras.ops.reshape(inputs, shape), axis=axis)

    def compute_output_shape(self, input_shape):
        """Return the shape with `num_units` features."""
        shape = list(input_shape)
        shape[self.axis] = self.num_units
        return tuple(shape)

    def get_config(self):
        """Return the arguments."""
        own = {"num_units": self.num_units, "axis": self.axis}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "StochasticDepth")
class StochasticDepth(keras.layers.Layer):
    """A shortcut, and a residual that training drops at random."""

    def __init__(self, survival_probability=0.5, **kwargs):
        super().__init__(**kwargs)
        self.survival_probability = survival_probability
        self.seed_generator = keras.random.SeedGenerator()

    def call(self, x, training=None):
        """Add the residual to the shortcut."""
        if not isinstance(x, list) or len(x) != 2:
            raise ValueError("input must be a list of length 2.")
        shortcut, residual = x
        if not training:
            return shortcut + self.survival_probability * residual
        drawn = keras.random.uniform((), seed=self.seed_generator)
        kept = keras.ops.cast(drawn < self.survival_probability, residual.dtype)
        return shortcut + kept * residual

    def compute_output_shape(self, input_shape):
        """Return the shape of the shortcut."""
        return input_shape[0]

    def get_config(self):
        """Return the arguments."""
        own = {"survival_probability": self.survival_probability}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "WeightNormalization")
class WeightNormalization(keras.layers.Wrapper):
    """A layer whose kernel is a direction, `v`, times a length, `g`."""

    def __init__(self, layer, data_init=True, **kwargs):
        super().__init__(layer, **kwargs)
        self.data_init = data_init

    def build(self, input_shape=None):
        """Make the length of each column of the kernel."""
        if not self.layer.built:
            self.layer.build(input_shape)
        self.is_rnn = isinstance(self.layer, keras.layers.RNN)
        self.v = self.layer.cell.recurrent_kernel if self.is_rnn else self.layer.kernel
        self.axes = list(range(len(self.v.shape) - 1))
        shape = (self.v.shape[-1],)
        self.g = self.add_weight(shape=shape, initializer="ones", name="g")
        self.initialized = self.add_weight(
            shape=(),
            initializer="zeros",
            dtype="bool",
            trainable=False,
            name="initialized",
        )
        self.built = True

    def call(self, inputs):
        """Apply the layer with the kernel that has this direction and length."""
        g = keras.ops.convert_to_tensor(self.g)
        fresh_g, fresh_bias = self.fresh(keras.ops.stop_gradient(inputs))
        fresh_g = keras.ops.stop_gradient(fresh_g)
        is_known = keras.ops.convert_to_tensor(self.initialized)
        g = keras.ops.where(is_known, g, fresh_g)
        self.g.assign(g)
        if fresh_bias is not None:
            bias = keras.ops.convert_to_tensor(self.layer.bias)
            self.layer.bias.assign(keras.ops.where(is_known, bias, fresh_bias))
        self.initialized.assign(keras.ops.ones((), "bool"))
        squares = keras.ops.sum(keras.ops.square(self.v), axis=self.axes, keepdims=True)
        length = keras.ops.sqrt(keras.ops.maximum(squares, 1e-12))
        return self.applied(self.v / length * g, inputs)

    def applied(self, kernel, inputs):
        """Return what the layer gives with another kernel."""
        others = [each for each in self.layer.variables if each is not self.v]
        known = [(each, keras.ops.convert_to_tensor(each)) for each in others]
        with keras.StatelessScope([*known, (self.v, kernel)]):
            return self.layer(inputs)

    def fresh(self, inputs):
        """Return the length and the bias that the first batch asks for."""
        if not self.data_init:
            squares = keras.ops.sum(keras.ops.square(self.v), axis=self.axes)
            return keras.ops.sqrt(squares), None
        activation = getattr(self.layer, "activation", None)
        if not self.is_rnn:
            self.layer.activation = keras.activations.linear
        outputs = self.applied(keras.ops.convert_to_tensor(self.v), inputs)
        if not self.is_rnn:
            self.layer.activation = activation
        axes = list(range(len(outputs.shape) - 1))
        mean, variance = keras.ops.moments(outputs, axes)
        scale = 1.0 / keras.ops.sqrt(variance + 1e-10)
        has_bias = getattr(self.layer, "bias", None) is not None
        bias = -mean * scale if has_bias else None
        return self.g * keras.ops.tile(scale, self.g.shape[0] // scale.shape[0]), bias

    def compute_output_shape(self, input_shape):
        """Return that of the layer."""
        return self.layer.compute_output_shape(input_shape)

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "data_init": self.data_init}
