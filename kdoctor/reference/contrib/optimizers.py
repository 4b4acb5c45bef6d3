"""The optimizers of keras_contrib."""

import keras


class OptimizerOfKeras2(keras.optimizers.Optimizer):
    """An optimizer whose rate falls with the steps, and with moments of gradients.

    What is called `clipnorm` was the norm of all gradients.
    """

    moments = ()

    def __init__(self, lr, decay=0.0, **kwargs):
        clipnorm = kwargs.pop("clipnorm", None)
        if clipnorm is not None:
            kwargs["global_clipnorm"] = clipnorm
        super().__init__(**{"name": type(self).__name__, "learning_rate": lr, **kwargs})
        self.decay = decay

    def build(self, variables):
        """Make the moments."""
        if self.built:
            return
        super().build(variables)
        for name in self.moments:
            make = self.add_variable_from_reference
            made = [make(variable, name=name) for variable in variables]
            setattr(self, f"{name}_of_variables", made)

    def moments_of(self, variable):
        """Return the moments of a weight."""
        index = self._get_variable_index(variable)
        return [getattr(self, f"{name}_of_variables")[index] for name in self.moments]

    def rates(self, learning_rate, dtype):
        """Return the rate of the step, and its number, from 1."""
        rate = keras.ops.cast(learning_rate, dtype)
        steps = keras.ops.cast(self.iterations, dtype)
        return rate / (1 + self.decay * steps), steps + 1

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "decay": self.decay}


class AdamOfKeras2(OptimizerOfKeras2):
    """What is alike in optimizers with means of gradients and of their squares."""

    moments = ("m", "v")

    def __init__(self, lr, beta_1, beta_2, epsilon, decay=0.0, **kwargs):
        super().__init__(lr, decay, **kwargs)
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.epsilon = keras.config.epsilon() if epsilon is None else epsilon

    def unbiased(self, beta, step):
        """Return what a mean is divided by, which began with zero."""
        return 1 - keras.ops.power(keras.ops.cast(beta, step.dtype), step)

    def get_config(self):
        """Return the arguments."""
        own = {"beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}
        return {**super().get_config(), **own}


class FTML(AdamOfKeras2):
    """Follow the moving leader."""

    moments = ("z", "v", "d")

    def __init__(
        self, lr=0.0025, beta_1=0.6, beta_2=0.999, epsilon=1e-08, decay=0.0, **kwargs
    ):
        super().__init__(lr, beta_1, beta_2, epsilon, decay, **kwargs)

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        z, v, d = self.moments_of(variable)
        gradient = keras.ops.cast(gradient, variable.dtype)
        rate, step = self.rates(learning_rate, variable.dtype)
        square = self.beta_2 * v + (1 - self.beta_2) * keras.ops.square(gradient)
        spread = keras.ops.sqrt(square / self.unbiased(self.beta_2, step))
        weight = (spread + self.epsilon) * self.unbiased(self.beta_1, step) / rate
        moved = self.beta_1 * z + (1 - self.beta_1) * gradient
        moved = moved - (weight - self.beta_1 * d) * variable
        for moment, value in ((v, square), (d, weight), (z, moved)):
            self.assign(moment, value)
        self.assign(variable, -moved / weight)


class LARS(OptimizerOfKeras2):
    """Momentum; the norm of the weights, which was to scale the rate, was always 0."""

    moments = ("moment",)

    def __init__(
        self,
        lr,
        momentum=0.9,
        weight_decay=0.0001,
        eeta=0.001,
        epsilon=0.0,
        nesterov=False,
        **kwargs,
    ):
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay is not positive: {weight_decay}")
        super().__init__(lr, **kwargs)
        self.momentum, self.eeta, self.epsilon = momentum, eeta, epsilon
        self.lars_weight_decay, self.nesterov = weight_decay, nesterov

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        (moment,) = self.moments_of(variable)
        rate = keras.ops.cast(learning_rate, variable.dtype)
        step = rate * keras.ops.cast(gradient, variable.dtype)
        speed = moment * self.momentum - step
        self.assign(moment, speed)
        move = speed * self.momentum - step if self.nesterov else speed
        self.assign_add(variable, move)

    def get_config(self):
        """Return the arguments."""
        config = super().get_config()
        del config["decay"]
        own = {name: getattr(self, name) for name in ("momentum", "eeta", "epsilon")}
        own |= {"weight_decay": self.lars_weight_decay, "nesterov": self.nesterov}
        return {**config, "lr": config["learning_rate"], **own}


class Padam(AdamOfKeras2):
    """Adam that is partly adaptive."""

    moments = ("m", "v", "largest")

    def __init__(
        self,
        lr=0.1,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-08,
        decay=0.0,
        amsgrad=False,
        partial=0.125,
        **kwargs,
    ):
        if partial < 0 or partial > 0.5:
            raise ValueError("Padam: `partial` must be a float from 0 to 0.5")
        super().__init__(lr, beta_1, beta_2, epsilon, decay, **kwargs)
        self.amsgrad, self.partial = amsgrad, partial

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        m, v, largest = self.moments_of(variable)
        gradient = keras.ops.cast(gradient, variable.dtype)
        rate, step = self.rates(learning_rate, variable.dtype)
        rate = rate * keras.ops.sqrt(self.unbiased(self.beta_2, step))
        rate = rate / self.unbiased(self.beta_1, step)
        self.assign(m, self.beta_1 * m + (1 - self.beta_1) * gradient)
        square = (1 - self.beta_2) * keras.ops.square(gradient)
        self.assign(v, self.beta_2 * v + square)
        if self.amsgrad:
            self.assign(largest, keras.ops.maximum(largest, v))
        spread = keras.ops.sqrt(largest if self.amsgrad else v) + self.epsilon
        spread = keras.ops.power(spread, self.partial * 2)
        self.assign_sub(variable, rate * (m / spread))

    def get_config(self):
        """Return the arguments."""
        own = {"amsgrad": self.amsgrad, "partial": self.partial}
        return {**super().get_config(), **own}


class Yogi(AdamOfKeras2):
    """Adam whose adaptive rate changes little at a time."""

    def __init__(
        self, lr=0.01, beta_1=0.9, beta_2=0.999, epsilon=0.001, decay=0.0, **kwargs
    ):
        for name, beta in (("beta_1", beta_1), ("beta_2", beta_2)):
            if beta <= 0 or beta >= 1:
                raise ValueError(f"{name} has to be in ]0, 1[")
        if epsilon is not None and epsilon <= 0:
            raise ValueError("epsilon has to be larger than 0")
        super().__init__(lr, beta_1, beta_2, epsilon, decay, **kwargs)

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        m, v = self.moments_of(variable)
        gradient = keras.ops.cast(gradient, variable.dtype)
        rate, step = self.rates(learning_rate, variable.dtype)
        rate = rate * keras.ops.sqrt(self.unbiased(self.beta_2, step))
        rate = rate / self.unbiased(self.beta_1, step)
        square = keras.ops.square(gradient)
        self.assign(m, self.beta_1 * m + (1 - self.beta_1) * gradient)
        self.assign_sub(v, (1 - self.beta_2) * keras.ops.sign(v - square) * square)
        self.assign_sub(variable, rate * m / (keras.ops.sqrt(v) + self.epsilon))


def ftml(lr=0.0025, beta_1=0.6, beta_2=0.999, epsilon=1e-08, decay=0.0, **kwargs):
    """Return the optimizer, by its other name."""
    return FTML(lr, beta_1, beta_2, epsilon, decay, **kwargs)


def lars(
    lr,
    momentum=0.9,
    weight_decay=0.0001,
    eeta=0.001,
    epsilon=0.0,
    nesterov=False,
    **kwargs,
):
    """Return the optimizer, by its other name."""
    return LARS(lr, momentum, weight_decay, eeta, epsilon, nesterov, **kwargs)
