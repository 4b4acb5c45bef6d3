"""Cells of recurrent layers of tensorflow_addons."""

import keras


@keras.saving.register_keras_serializable("Addons", "NASCell")
class NASCell(keras.layers.Layer):
    """A cell that a search among architectures found."""

    def __init__(
        self,
        units,
        projection=None,
        use_bias=False,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="glorot_uniform",
        projection_initializer="glorot_uniform",
        bias_initializer="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units, self.projection, self.use_bias = units, projection, use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        self.projection_initializer = keras.initializers.get(projection_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.output_size = units if projection is None else projection
        self.state_size = [units, self.output_size]

    def build(self, input_shape):
        """Make the weights."""
        self.recurrent_kernel = self.add_weight(
            shape=(self.output_size, 8 * self.units),
            name="recurrent_kernel",
            initializer=self.recurrent_initializer,
        )
        self.kernel = self.add_weight(
            shape=(input_shape[-1], 8 * self.units),
            name="kernel",
            initializer=self.kernel_initializer,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(8 * self.units,),
                name="bias",
                initializer=self.bias_initializer,
            )
        if self.projection is not None:
            self.projection_weights = self.add_weight(
                shape=(self.units, self.projection),
                name="projection_weights",
                initializer=self.projection_initializer,
            )
        self.built = True

    def call(self, inputs, states):
        """Take a step."""
        carry, last = states
        old = keras.ops.matmul(last, self.recurrent_kernel)
        old = old + self.bias if self.use_bias else old
        new = keras.ops.matmul(inputs, self.kernel)
        old, new = keras.ops.split(old, 8, axis=1), keras.ops.split(new, 8, axis=1)
        sigmoid, tanh, relu = keras.ops.sigmoid, keras.ops.tanh, keras.ops.relu
        one = tanh(sigmoid(new[0] + old[0]) * relu(new[1] + old[1]))
        two = tanh(sigmoid(new[2] + old[2]) + relu(new[3] * old[3]))
        three = tanh(tanh(new[4] + old[4]) * sigmoid(new[5] + old[5]))
        four = sigmoid(tanh(new[6] + old[6]) + sigmoid(new[7] + old[7]))
        carry = tanh(one + carry) * two
        found = tanh(carry * tanh(three + four))
        if self.projection is not None:
            found = keras.ops.matmul(found, self.projection_weights)
        return found, [carry, found]

    def get_initial_state(self, batch_size=None):
        """Return states of 0."""
        dtype = self.compute_dtype
        return [keras.ops.zeros((batch_size, e), dtype=dtype) for e in self.state_size]

    def get_config(self):
        """Return the arguments."""
        own = {"units": self.units, "projection": self.projection}
        own["use_bias"] = self.use_bias
        for name in ("kernel", "recurrent", "projection", "bias"):
            first = getattr(self, f"{name}_initializer")
            own[f"{name}_initializer"] = keras.initializers.serialize(first)
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "PeepholeLSTMCell")
class PeepholeLSTMCell(keras.layers.LSTMCell):
    """The cell of an LSTM whose gates see the carry."""

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        **kwargs,
    ):
        super().__init__(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            **kwargs,
        )
        self.dropout_mask_count = None

    def build(self, input_shape):
        """Make the weights, and those through which the gates see the carry."""
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            first = keras.initializers.serialize(self.kernel_initializer)
            weight = self.add_weight(
                shape=(self.units,),
                name=f"{gate}_gate_peephole_weights",
                initializer=keras.initializers.get(first),
            )
            setattr(self, f"{gate}_gate_peephole_weights", weight)

    def call(self, inputs, states, training=False):
        """Take a step."""
        last, carry = states
        if training and self.dropout:
            inputs = inputs * self.get_dropout_mask(inputs)
        if training and self.recurrent_dropout:
            last = last * self.get_recurrent_dropout_mask(last)
        z = keras.ops.matmul(inputs, self.kernel)
        z = z + keras.ops.matmul(last, self.recurrent_kernel)
        z = z + self.bias if self.use_bias else z
        enter, forget, new, leave = keras.ops.split(z, 4, axis=1)
        gate = self.recurrent_activation
        enter = gate(enter + self.input_gate_peephole_weights * carry)
        forget = gate(forget + self.forget_gate_peephole_weights * carry)
        carry = forget * carry + enter * self.activation(new)
        leave = gate(leave + self.output_gate_peephole_weights * carry)
        found = leave * self.activation(carry)
        return found, [found, carry]


@keras.saving.register_keras_serializable("Addons", "LayerNormLSTMCell")
class LayerNormLSTMCell(keras.layers.LSTMCell):
    """The cell of an LSTM that normalizes its sums and its carry."""

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        norm_gamma_initializer="ones",
        norm_beta_initializer="zeros",
        norm_epsilon=1e-3,
        **kwargs,
    ):
        super().__init__(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            **kwargs,
        )
        self.dropout_mask_count = None
        self.norm_gamma_initializer = keras.initializers.get(norm_gamma_initializer)
        self.norm_beta_initializer = keras.initializers.get(norm_beta_initializer)
        self.norm_epsilon = norm_epsilon
        for name in ("kernel_norm", "recurrent_norm", "state_norm"):
            layer = keras.layers.LayerNormalization(
                epsilon=norm_epsilon,
                beta_initializer=self.norm_beta_initializer,
                gamma_initializer=self.norm_gamma_initializer,
                dtype=self.dtype_policy,
                name=name,
            )
            setattr(self, name, layer)

    def build(self, input_shape):
        """Make the weights, and those of what normalizes."""
        super().build(input_shape)
        self.kernel_norm.build((input_shape[0], 4 * self.units))
        self.recurrent_norm.build((input_shape[0], 4 * self.units))
        self.state_norm.build((input_shape[0], self.units))

    def call(self, inputs, states, training=False):
        """Take a step."""
        last, carry = states
        if training and self.dropout:
            inputs = inputs * self.get_dropout_mask(inputs)
        if training and self.recurrent_dropout:
            last = last * self.get_recurrent_dropout_mask(last)
        z = self.kernel_norm(keras.ops.matmul(inputs, self.kernel))
        z = z + self.recurrent_norm(keras.ops.matmul(last, self.recurrent_kernel))
        z = z + self.bias if self.use_bias else z
        enter, forget, new, leave = keras.ops.split(z, 4, axis=1)
        gate = self.recurrent_activation
        carry = gate(forget) * carry + gate(enter) * self.activation(new)
        carry = self.state_norm(carry)
        found = gate(leave) * self.activation(carry)
        return found, [found, carry]

    def get_config(self):
        """Return the arguments."""
        own = {"norm_epsilon": self.norm_epsilon}
        first = keras.initializers.serialize(self.norm_gamma_initializer)
        own["norm_gamma_initializer"] = first
        first = keras.initializers.serialize(self.norm_beta_initializer)
        own["norm_beta_initializer"] = first
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "LayerNormSimpleRNNCell")
class LayerNormSimpleRNNCell(keras.layers.SimpleRNNCell):
    """The cell of a simple recurrent layer that normalizes its sum."""

    def __init__(
        self,
        units,
        activation="tanh",
        use_bias=True,
        layernorm_epsilon=1e-5,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        gamma_initializer="ones",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        gamma_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        gamma_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        **kwargs,
    ):
        super().__init__(
            units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            **kwargs,
        )
        self.layernorm = keras.layers.LayerNormalization(
            epsilon=layernorm_epsilon,
            center=False,
            gamma_initializer=gamma_initializer,
            gamma_regularizer=gamma_regularizer,
            gamma_constraint=gamma_constraint,
            dtype=self.dtype_policy,
        )

    def build(self, input_shape):
        """Make the weights, and those of what normalizes."""
        super().build(input_shape)
        self.layernorm.build((None, self.units))

    def call(self, inputs, states, training=False):
        """Take a step."""
        last = states[0]
        if training and self.dropout:
            inputs = inputs * self.get_dropout_mask(inputs)
        if training and self.recurrent_dropout:
            last = last * self.get_recurrent_dropout_mask(last)
        found = keras.ops.matmul(inputs, self.kernel)
        found = found + keras.ops.matmul(last, self.recurrent_kernel)
        found = self.layernorm(found)
        found = found + self.bias if self.use_bias else found
        found = found if self.activation is None else self.activation(found)
        return found, [found]

    def get_config(self):
        """Return the arguments."""
        norm = self.layernorm.get_config()
        names = ("gamma_initializer", "gamma_regularizer", "gamma_constraint")
        own = {name: norm[name] for name in names}
        return {**super().get_config(), **own, "layernorm_epsilon": norm["epsilon"]}
