"""Activations of keras_contrib whose shape is trained."""

import keras


def own_shape(input_shape, shared_axes):
    """Return the shape of a weight for each number of a sample, one for shared axes."""
    shape = list(input_shape[1:])
    for axis in shared_axes or ():
        shape[axis - 1] = 1
    return tuple(shape)


def known_axes(input_shape, shared_axes):
    """Return what is asked of inputs: the axes that are not shared, if some are."""
    axes = range(1, len(input_shape)) if shared_axes else ()
    known = {axis: input_shape[axis] for axis in axes if axis not in shared_axes}
    return keras.layers.InputSpec(ndim=len(input_shape), axes=known)


def listed_axes(shared_axes):
    """Return axes as a list, if there are some."""
    if shared_axes is None or isinstance(shared_axes, (list, tuple)):
        return shared_axes and list(shared_axes)
    return [shared_axes]


class PELU(keras.layers.Layer):
    """An exponential linear unit whose slope and scale are trained."""

    def __init__(
        self,
        alpha_initializer="ones",
        alpha_regularizer=None,
        alpha_constraint=None,
        beta_initializer="ones",
        beta_regularizer=None,
        beta_constraint=None,
        shared_axes=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.alpha_initializer = keras.initializers.get(alpha_initializer)
        self.alpha_regularizer = keras.regularizers.get(alpha_regularizer)
        self.alpha_constraint = keras.constraints.get(alpha_constraint)
        self.beta_initializer = keras.initializers.get(beta_initializer)
        self.beta_regularizer = keras.regularizers.get(beta_regularizer)
        self.beta_constraint = keras.constraints.get(beta_constraint)
        self.shared_axes = listed_axes(shared_axes)

    def build(self, input_shape):
        """Make the weights."""
        shape = own_shape(input_shape, self.shared_axes)
        for name in ("alpha", "beta"):
            weight = self.add_weight(
                shape=shape,
                name=name,
                initializer=getattr(self, f"{name}_initializer"),
                regularizer=getattr(self, f"{name}_regularizer"),
                constraint=getattr(self, f"{name}_constraint"),
            )
            setattr(self, name, weight)
        self.input_spec = known_axes(input_shape, self.shared_axes)
        self.built = True

    def call(self, inputs):
        """Apply the activation."""
        above = keras.ops.relu(inputs) * self.alpha / self.beta
        below = keras.ops.exp(-keras.ops.relu(-inputs) / self.beta) - 1
        return self.alpha * below + above

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        own = {"shared_axes": self.shared_axes}
        for name in ("alpha", "beta"):
            for kind, room in (
                ("initializer", keras.initializers),
                ("regularizer", keras.regularizers),
                ("constraint", keras.constraints),
            ):
                made = getattr(self, f"{name}_{kind}")
                own[f"{name}_{kind}"] = room.serialize(made) if made else None
        return {**super().get_config(), **own}


class SReLU(keras.layers.Layer):
    """An activation of the form of an S, with two thresholds and two slopes."""

    def __init__(
        self,
        t_left_initializer="zeros",
        a_left_initializer=None,
        t_right_initializer=None,
        a_right_initializer="ones",
        shared_axes=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking, self.shared_axes = True, listed_axes(shared_axes)
        draw = keras.initializers.RandomUniform
        given = {
            "t_left": t_left_initializer,
            "a_left": a_left_initializer or draw(minval=0, maxval=1),
            "t_right": t_right_initializer or draw(minval=0, maxval=5),
            "a_right": a_right_initializer,
        }
        self.how = {name: keras.initializers.get(each) for name, each in given.items()}

    def build(self, input_shape):
        """Make the thresholds and the slopes."""
        shape = own_shape(input_shape, self.shared_axes)
        for name, initializer in self.how.items():
            weight = self.add_weight(shape=shape, name=name, initializer=initializer)
            setattr(self, name, weight)
        self.input_spec = known_axes(input_shape, self.shared_axes)
        self.built = True

    def call(self, inputs):
        """Apply the activation."""
        right = self.t_left + keras.ops.abs(self.t_right)
        apart = inputs - self.t_left
        middle = keras.ops.minimum(keras.ops.relu(apart), right - self.t_left)
        left = self.a_left * keras.ops.relu(-apart)
        above = keras.ops.relu(inputs - right) * self.a_right
        return self.t_left + (middle - left) + above

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return the arguments."""
        own = {
            f"{name}_initializer": keras.initializers.serialize(each)
            for name, each in self.how.items()
        }
        return {**super().get_config(), **own, "shared_axes": self.shared_axes}
