"""Learning rates of tensorflow_addons."""

import keras


@keras.saving.register_keras_serializable("Addons", "CyclicalLearningRate")
class CyclicalLearningRate(keras.optimizers.schedules.LearningRateSchedule):
    """A learning rate that rises and falls, `step_size` steps each."""

    def __init__(
        self,
        initial_learning_rate,
        maximal_learning_rate,
        step_size,
        scale_fn,
        scale_mode="cycle",
        name="CyclicalLearningRate",
    ):
        super().__init__()
        self.initial_learning_rate = initial_learning_rate
        self.maximal_learning_rate = maximal_learning_rate
        self.step_size, self.scale_fn, self.scale_mode = step_size, scale_fn, scale_mode
        self.name = name

    def __call__(self, step):
        """Return the learning rate of a step."""
        lowest = keras.ops.convert_to_tensor(self.initial_learning_rate)
        highest = keras.ops.cast(self.maximal_learning_rate, lowest.dtype)
        size = keras.ops.cast(self.step_size, lowest.dtype)
        number = keras.ops.cast(step, lowest.dtype)
        cycle = keras.ops.floor(1 + number / (2 * size))
        height = 1 - keras.ops.abs(number / size - 2 * cycle + 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else number)
        return lowest + (highest - lowest) * keras.ops.maximum(height, 0) * scale

    def get_config(self):
        """Return the arguments."""
        own = {"initial_learning_rate": self.initial_learning_rate}
        own |= {"maximal_learning_rate": self.maximal_learning_rate}
        own |= {"scale_fn": self.scale_fn, "step_size": self.step_size}
        return {**own, "scale_mode": self.scale_mode}


@keras.saving.register_keras_serializable("Addons", "TriangularCyclicalLearningRate")
class TriangularCyclicalLearningRate(CyclicalLearningRate):
    """A learning rate that rises to the same height in each cycle."""

    def __init__(
        self,
        initial_learning_rate,
        maximal_learning_rate,
        step_size,
        scale_mode="cycle",
        name="TriangularCyclicalLearningRate",
    ):
        super().__init__(
            initial_learning_rate,
            maximal_learning_rate,
            step_size,
            lambda number: 1.0,
            scale_mode,
            name,
        )

    def get_config(self):
        """Return the arguments."""
        config = super().get_config()
        del config["scale_fn"]
        return config


@keras.saving.register_keras_serializable("Addons", "Triangular2CyclicalLearningRate")
class Triangular2CyclicalLearningRate(CyclicalLearningRate):
    """A learning rate that rises to half of the height in each cycle."""

    def __init__(
        self,
        initial_learning_rate,
        maximal_learning_rate,
        step_size,
        scale_mode="cycle",
        name="Triangular2CyclicalLearningRate",
    ):
        super().__init__(
            initial_learning_rate,
            maximal_learning_rate,
            step_size,
            lambda number: 1 / 2.0 ** (number - 1),
            scale_mode,
            name,
        )

    def get_config(self):
        """Return the arguments."""
        config = super().get_config()
        del config["scale_fn"]
        return config


@keras.saving.register_keras_serializable("Addons", "ExponentialCyclicalLearningRate")
class ExponentialCyclicalLearningRate(CyclicalLearningRate):
    """A learning rate whose height falls by `gamma` with each step or cycle."""

    def __init__(
        self,
        initial_learning_rate,
        maximal_learning_rate,
        step_size,
        scale_mode="iterations",
        gamma=1.0,
        name="ExponentialCyclicalLearningRate",
    ):
        self.gamma = gamma
        super().__init__(
            initial_learning_rate,
            maximal_learning_rate,
            step_size,
            lambda number: gamma**number,
            scale_mode,
            name,
        )

    def get_config(self):
        """Return the arguments."""
        config = super().get_config()
        del config["scale_fn"]
        return {**config, "gamma": self.gamma}
