"""The echo state network of tensorflow_addons, whose weights are not trained."""

import keras


def spectral_radius_of(matrix):
    """Return the largest absolute eigenvalue, which the powers tell."""
    logarithm = 0.0
    for power in range(40):
        length = keras.ops.sqrt(keras.ops.sum(keras.ops.square(matrix)))
        safe = keras.ops.where(length > 0, length, keras.ops.ones_like(length))
        matrix = matrix / safe
        logarithm = logarithm + keras.ops.log(length) * 0.5**power
        matrix = keras.ops.matmul(matrix, matrix)
    return keras.ops.exp(logarithm)


@keras.saving.register_keras_serializable("Addons", "ESNCell")
class ESNCell(keras.layers.Layer):
    """The cell of an echo state network, whose weights are drawn and kept."""

    def __init__(
        self,
        units,
        connectivity=0.1,
        leaky=1,
        spectral_radius=0.9,
        use_norm2=False,
        use_bias=True,
        activation="tanh",
        kernel_initializer="glorot_uniform",
        recurrent_initializer="glorot_uniform",
        bias_initializer="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units, self.connectivity, self.leaky = units, connectivity, leaky
        self.spectral_radius, self.use_norm2 = spectral_radius, use_norm2
        self.use_bias, self.activation = use_bias, keras.activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.state_size = self.output_size = units
        self.seed_generator = keras.random.SeedGenerator()

    def recurrent_weights(self, shape, dtype=None):
        """Return weights, many of them 0, that are as large as they are to be."""
        drawn = keras.ops.cast(self.recurrent_initializer(shape, dtype=dtype), dtype)
        chance = keras.random.uniform(shape, seed=self.seed_generator)
        drawn = drawn * keras.ops.cast(chance <= self.connectivity, dtype)
        if self.use_norm2:
            size = keras.ops.sqrt(keras.ops.sum(keras.ops.square(drawn)))
        else:
            size = spectral_radius_of(drawn)
        safe = keras.ops.where(size > 0, size, keras.ops.ones_like(size))
        return drawn * (self.spectral_radius / safe)

    def build(self, input_shape):
        """Make the weights."""
        own = {"trainable": False}
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, self.units),
            name="recurrent_kernel",
            initializer=self.recurrent_weights,
            **own,
        )
        self.kernel = self.add_weight(
            shape=(input_shape[-1], self.units),
            name="kernel",
            initializer=self.kernel_initializer,
            **own,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(self.units,),
                name="bias",
                initializer=self.bias_initializer,
                **own,
            )
        self.built = True

    def call(self, inputs, states):
        """Take a step."""
        last = states[0] if isinstance(states, (list, tuple)) else states
        found = keras.ops.matmul(inputs, self.kernel)
        found = found + keras.ops.matmul(last, self.recurrent_kernel)
        found = found + self.bias if self.use_bias else found
        found = (1 - self.leaky) * last + self.leaky * self.activation(found)
        return found, [found]

    def get_initial_state(self, batch_size=None):
        """Return a state of 0."""
        return [keras.ops.zeros((batch_size, self.units), dtype=self.compute_dtype)]

    def get_config(self):
        """Return the arguments."""
        own = {"units": self.units, "connectivity": self.connectivity}
        own |= {"leaky": self.leaky, "spectral_radius": self.spectral_radius}
        own |= {"use_norm2": self.use_norm2, "use_bias": self.use_bias}
        own["activation"] = keras.activations.serialize(self.activation)
        for name in ("kernel", "recurrent", "bias"):
            first = getattr(self, f"{name}_initializer")
            own[f"{name}_initializer"] = keras.initializers.serialize(first)
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "ESN")
class ESN(keras.layers.RNN):
    """An echo state network, a recurrent layer that is not trained."""

    def __init__(
        self,
        units,
        connectivity=0.1,
        leaky=1,
        spectral_radius=0.9,
        use_norm2=False,
        use_bias=True,
        activation="tanh",
        kernel_initializer="glorot_uniform",
        recurrent_initializer="glorot_uniform",
        bias_initializer="zeros",
        return_sequences=False,
        go_backwards=False,
        unroll=False,
        **kwargs,
    ):
        cell = ESNCell(
            units,
            connectivity,
            leaky,
            spectral_radius,
            use_norm2,
            use_bias,
            activation,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            dtype=kwargs.get("dtype"),
        )
        super().__init__(
            cell,
            return_sequences=return_sequences,
            go_backwards=go_backwards,
            unroll=unroll,
            **kwargs,
        )

    def get_config(self):
        """Return the arguments."""
        own = self.cell.get_config()
        own = {name: own[name] for name in own.keys() - {"name", "dtype", "trainable"}}
        known = super().get_config()
        return {**{name: known[name] for name in known.keys() - {"cell"}}, **own}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make it again."""
        return cls(**config)
