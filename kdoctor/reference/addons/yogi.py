"""The optimizer Yogi of tensorflow_addons."""

import keras

from kdoctor.reference.addons.optimizers import as_dense, used_rows


@keras.saving.register_keras_serializable("Addons", "Yogi")
class Yogi(keras.optimizers.Optimizer):
    """Adam whose adaptive rate changes little at a time."""

    def __init__(
        self,
        learning_rate=0.01,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-3,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        initial_accumulator_value=1e-6,
        activation="sign",
        name="Yogi",
        **kwargs,
    ):
        super().__init__(learning_rate, name=name, **kwargs)
        if activation not in ("sign", "tanh"):
            raise NotImplementedError("Activation function can be sign or tanh")
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.l1, self.l2 = l1_regularization_strength, l2_regularization_strength
        self.first, self.activation = initial_accumulator_value, activation

    def build(self, variables):
        """Make the averages of the gradients and of their squares."""
        if self.built:
            return
        super().build(variables)
        make = self.add_variable_from_reference
        self.m = [make(each, name="m") for each in variables]
        first = keras.initializers.Constant(self.first)
        self.v = [make(each, name="v", initializer=first) for each in variables]

    def update_step(self, gradient, variable, learning_rate):
        """Take a step, of an embedding in the used rows."""
        rows = used_rows(gradient, variable)
        index = self._get_variable_index(variable)
        dtype = variable.dtype
        gradient = keras.ops.cast(as_dense(gradient, variable), dtype)
        step = keras.ops.cast(self.iterations + 1, dtype)
        first = keras.ops.power(keras.ops.cast(self.beta1, dtype), step)
        second = keras.ops.power(keras.ops.cast(self.beta2, dtype), step)
        rate = keras.ops.cast(learning_rate, dtype) * keras.ops.sqrt(1 - second)
        m, v, square = self.m[index], self.v[index], gradient * gradient
        self.assign(m, self.beta1 * m + (1 - self.beta1) * gradient)
        apart = square - v
        is_hard = self.activation == "sign"
        turn = keras.ops.sign(apart) if is_hard else keras.ops.tanh(10 * apart)
        self.assign_add(v, (1 - self.beta2) * turn * square)
        rate = rate / (1 - first) / (keras.ops.sqrt(v) + self.epsilon)
        new = variable - rate * m
        if self.l1 > 0:
            less = (keras.ops.abs(new) - self.l1 * rate) / (1 + self.l2 * rate)
            new = keras.ops.sign(new) * keras.ops.maximum(less, 0)
        elif self.l2 > 0:
            new = new / (1 + self.l2 * rate)
        self.assign(variable, rows * new + (1 - rows) * variable)

    def get_config(self):
        """Return the arguments."""
        own = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon}
        own |= {"l1_regularization_strength": self.l1}
        own |= {"l2_regularization_strength": self.l2}
        own |= {"initial_accumulator_value": self.first, "activation": self.activation}
        return {**super().get_config(), **own}
