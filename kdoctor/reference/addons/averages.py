"""Optimizers of tensorflow_addons that average weights, and what saves the averages."""

import warnings

import keras

from kdoctor.reference.addons.optimizers import as_dense


class AveragingOptimizer(keras.optimizers.Optimizer):
    """An optimizer that takes the steps of another one, and averages the weights."""

    def __init__(self, optimizer, name="AverageOptimizer", **kwargs):
        super().__init__(0.0, name=name, **kwargs)
        self.inner = keras.optimizers.get(optimizer)

    def build(self, variables):
        """Make what the inner optimizer needs, and the averages."""
        if self.built:
            return
        super().build(variables)
        self.inner.build(variables)
        make = self.add_variable_from_reference
        self.averages = [make(each, name="average") for each in variables]

    def update_step(self, gradient, variable, learning_rate):
        """Take a step of the inner optimizer, and average."""
        self.inner.iterations.assign(self.iterations)
        average = self.averages[self._get_variable_index(variable)]
        before = keras.ops.copy(variable)
        rate = keras.ops.cast(self.inner.learning_rate, variable.dtype)
        self.inner.update_step(as_dense(gradient, variable), variable, rate)
        now, last = (keras.ops.convert_to_tensor(each) for each in (variable, average))
        self.assign(average, self.averaged(now, last, before))

    def averaged(self, variable, average, before):
        """Return the next average of a variable, whose last value is ``before``."""
        raise NotImplementedError

    def assign_average_vars(self, var_list):
        """Set variables to their averages; of others there are none."""
        known = {
            id(each): mean
            for each, mean in zip(self._trainable_variables, self.averages)
        }
        for each in var_list:
            if id(each) in known:
                each.assign(known[id(each)])
            else:
                warnings.warn(f"{each.name} has no average", stacklevel=2)

    @property
    def variables(self):
        """All variables, those of the inner optimizer included."""
        return [*super().variables, *self.inner.variables]

    @property
    def learning_rate(self):
        """That of the inner optimizer."""
        return self.inner.learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate):
        self.inner.learning_rate = learning_rate

    def get_config(self):
        """Return the arguments."""
        return {"name": self.name, "optimizer": keras.optimizers.serialize(self.inner)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make the inner optimizer, then this one."""
        inner = keras.optimizers.deserialize(config["optimizer"], custom_objects)
        return cls(**{**config, "optimizer": inner})


@keras.saving.register_keras_serializable("Addons", "MovingAverage")
class MovingAverage(AveragingOptimizer):
    """An optimizer that keeps a moving average of the weights."""

    def __init__(
        self,
        optimizer,
        average_decay=0.99,
        num_updates=None,
        start_step=0,
        dynamic_decay=False,
        name="MovingAverage",
        **kwargs,
    ):
        super().__init__(optimizer, name, **kwargs)
        self.average_decay, self.num_updates = average_decay, num_updates
        self.start_step, self.dynamic_decay = start_step, dynamic_decay

    def averaged(self, variable, average, before):
        """Return the average, moved towards the weights."""
        steps = keras.ops.cast(self.iterations, "float32")
        decay = self.average_decay
        if self.num_updates is not None:
            count = keras.ops.cast(self.num_updates, "float32")
            decay = keras.ops.minimum(decay, (1 + count) / (10 + count))
        if self.dynamic_decay:
            count = steps - self.start_step
            decay = keras.ops.minimum(decay, (1 + count) / (10 + count))
        decay = keras.ops.where(steps < self.start_step, 0.0, decay)
        decay = keras.ops.cast(decay, variable.dtype)
        last = keras.ops.where(self.iterations == 0, before, average)
        return last - (last - variable) * (1 - decay)

    def swap_weights(self):
        """Swap the weights and their averages."""
        for each, average in zip(self._trainable_variables, self.averages):
            weights = keras.ops.copy(each)
            each.assign(average)
            average.assign(weights)

    def get_config(self):
        """Return the arguments."""
        own = {"average_decay": self.average_decay, "num_updates": self.num_updates}
        own |= {"start_step": self.start_step, "dynamic_decay": self.dynamic_decay}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "SWA")
class SWA(AveragingOptimizer):
    """An optimizer that averages the weights of every few steps."""

    def __init__(
        self,
        optimizer,
        start_averaging=0,
        average_period=10,
        name="SWA",
        **kwargs,
    ):
        super().__init__(optimizer, name, **kwargs)
        if average_period < 1 or start_averaging < 0:
            raise ValueError("average_period is at least 1, start_averaging at least 0")
        self.start_averaging, self.average_period = start_averaging, average_period

    def averaged(self, variable, average, before):
        """Return the average, with the weights in it if it is their turn."""
        since = self.iterations - self.start_averaging
        count = keras.ops.maximum(since // self.average_period, 0)
        is_turn = since == count * self.average_period
        count = keras.ops.cast(count, variable.dtype)
        return keras.ops.where(
            is_turn, (average * count + variable) / (count + 1), average
        )

    def get_config(self):
        """Return the arguments."""
        own = {"average_period": self.average_period}
        return {**super().get_config(), **own, "start_averaging": self.start_averaging}


class AverageModelCheckpoint(keras.callbacks.ModelCheckpoint):
    """Save averaged weights, and leave them in the model if it is to be updated."""

    def __init__(
        self,
        update_weights,
        filepath,
        monitor="val_loss",
        verbose=0,
        save_best_only=False,
        save_weights_only=False,
        mode="auto",
        save_freq="epoch",
        **kwargs,
    ):
        self.update_weights = update_weights
        super().__init__(
            filepath,
            monitor,
            verbose,
            save_best_only,
            save_weights_only,
            mode,
            save_freq,
            **kwargs,
        )

    def on_epoch_end(self, epoch, logs=None):
        """Save the model with the averages in it."""
        optimizer = self.model.optimizer
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        before = self.model.get_weights()
        optimizer.assign_average_vars(self.model.trainable_weights)
        super().on_epoch_end(epoch, logs)
        if not self.update_weights:
            self.model.set_weights(before)
