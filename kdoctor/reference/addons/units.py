"""Layers of tensorflow_addons that are about each number, or about its neighbours."""

import keras

from kdoctor.reference.addons.activations import snake, sparsemax


@keras.saving.register_keras_serializable("Addons", "Sparsemax")
class Sparsemax(keras.layers.Layer):
    """Turn numbers into probabilities, of which many are 0."""

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis
        self.supports_masking = True

    def call(self, inputs):
        """Return the probabilities."""
        return sparsemax(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "axis": self.axis}


@keras.saving.register_keras_serializable("Addons", "Snake")
class Snake(keras.layers.Layer):
    """The activation ``x + (1 - cos(2 * f * x)) / (2 * f)``, whose ``f`` is learnt."""

    def __init__(self, frequency_initializer="ones", **kwargs):
        super().__init__(**kwargs)
        self.frequency_initializer = keras.initializers.get(frequency_initializer)
        self.frequency = self.add_weight(
            shape=(), initializer=self.frequency_initializer, name="frequency"
        )

    def call(self, inputs):
        """Apply the activation."""
        return snake(inputs, self.frequency)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        first = keras.initializers.serialize(self.frequency_initializer)
        return {**super().get_config(), "frequency_initializer": first}


@keras.saving.register_keras_serializable("Addons", "TLU")
class TLU(keras.layers.Layer):
    """The thresholded linear unit: no less than a learnt number, or line."""

    def __init__(
        self,
        affine=False,
        tau_initializer="zeros",
        tau_regularizer=None,
        tau_constraint=None,
        alpha_initializer="zeros",
        alpha_regularizer=None,
        alpha_constraint=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.affine = affine
        self.tau_initializer = keras.initializers.get(tau_initializer)
        self.tau_regularizer = keras.regularizers.get(tau_regularizer)
        self.tau_constraint = keras.constraints.get(tau_constraint)
        self.alpha_initializer = keras.initializers.get(alpha_initializer)
        self.alpha_regularizer = keras.regularizers.get(alpha_regularizer)
        self.alpha_constraint = keras.constraints.get(alpha_constraint)

    def build(self, input_shape):
        """Make a threshold for each place, and a slope."""
        for name in ("tau", "alpha") if self.affine else ("tau",):
            weight = self.add_weight(
                shape=input_shape[1:],
                name=name,
                initializer=getattr(self, f"{name}_initializer"),
                regularizer=getattr(self, f"{name}_regularizer"),
                constraint=getattr(self, f"{name}_constraint"),
            )
            setattr(self, name, weight)
        self.built = True

    def call(self, inputs):
        """Apply the unit."""
        inputs = keras.ops.convert_to_tensor(inputs)
        line = self.alpha * inputs if self.affine else 0
        return keras.ops.maximum(inputs, self.tau + line)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        own = {"affine": self.affine}
        for name in ("tau", "alpha") if self.affine else ("tau",):
            first = getattr(self, f"{name}_initializer")
            own[f"{name}_initializer"] = keras.initializers.serialize(first)
            punished = getattr(self, f"{name}_regularizer")
            own[f"{name}_regularizer"] = keras.regularizers.serialize(punished)
            kept = getattr(self, f"{name}_constraint")
            own[f"{name}_constraint"] = keras.constraints.serialize(kept)
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "FilterResponseNormalization")
class FilterResponseNormalization(keras.layers.Layer):
    """Divide each channel of an image by its root mean square."""

    def __init__(
        self,
        epsilon=1e-6,
        axis=[1, 2],
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        learned_epsilon=False,
        learned_epsilon_constraint=None,
        name=None,
        **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        if list(axis) != [1, 2]:
            raise ValueError(f"axis is [1, 2], the height and the width, not {axis}")
        self.supports_masking = True
        self.axis, self.epsilon = [1, 2], epsilon
        self.beta_initializer = keras.initializers.get(beta_initializer)
        self.gamma_initializer = keras.initializers.get(gamma_initializer)
        self.beta_regularizer = keras.regularizers.get(beta_regularizer)
        self.gamma_regularizer = keras.regularizers.get(gamma_regularizer)
        self.beta_constraint = keras.constraints.get(beta_constraint)
        self.gamma_constraint = keras.constraints.get(gamma_constraint)
        self.use_eps_learned = learned_epsilon
        self.eps_learned_constraint = keras.constraints.get(learned_epsilon_constraint)
        if learned_epsilon:
            self.eps_learned = self.add_weight(
                shape=(1,),
                name="learned_epsilon",
                initializer=keras.initializers.Constant(1e-4),
                constraint=self.eps_learned_constraint,
            )

    def build(self, input_shape):
        """Make the scale and the offset of each channel."""
        if len(input_shape) != 4 or None in tuple(input_shape[1:3]):
            raise ValueError(f"images are of a known size, not of shape {input_shape}")
        for name in ("gamma", "beta"):
            weight = self.add_weight(
                shape=(1, 1, 1, input_shape[-1]),
                name=name,
                initializer=getattr(self, f"{name}_initializer"),
                regularizer=getattr(self, f"{name}_regularizer"),
                constraint=getattr(self, f"{name}_constraint"),
            )
            setattr(self, name, weight)
        self.built = True

    def call(self, inputs):
        """Return the images, normalized."""
        inputs = keras.ops.convert_to_tensor(inputs)
        epsilon = abs(self.epsilon)
        if self.use_eps_learned:
            epsilon = epsilon + keras.ops.abs(self.eps_learned)
        squares = keras.ops.mean(keras.ops.square(inputs), axis=(1, 2), keepdims=True)
        normalized = inputs * keras.ops.rsqrt(squares + epsilon)
        return self.gamma * normalized + self.beta

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        kept = keras.constraints.serialize(self.eps_learned_constraint)
        own = {"axis": self.axis, "epsilon": self.epsilon}
        own |= {"learned_epsilon": self.use_eps_learned}
        own |= {"learned_epsilon_constraint": kept}
        for name in ("beta", "gamma"):
            first = getattr(self, f"{name}_initializer")
            own[f"{name}_initializer"] = keras.initializers.serialize(first)
            punished = getattr(self, f"{name}_regularizer")
            own[f"{name}_regularizer"] = keras.regularizers.serialize(punished)
            kept = getattr(self, f"{name}_constraint")
            own[f"{name}_constraint"] = keras.constraints.serialize(kept)
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "PoincareNormalize")
class PoincareNormalize(keras.layers.Layer):
    """Shorten vectors to a length below 1."""

    def __init__(self, axis=1, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.epsilon = axis, epsilon

    def call(self, inputs):
        """Return the vectors, those that are short as they are."""
        inputs = keras.ops.convert_to_tensor(inputs)
        squares = keras.ops.sum(keras.ops.square(inputs), self.axis, keepdims=True)
        factor = (1.0 - self.epsilon) * keras.ops.rsqrt(squares)
        return inputs * keras.ops.minimum(factor, 1.0)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        own = {"axis": self.axis, "epsilon": self.epsilon}
        return {**super().get_config(), **own}
