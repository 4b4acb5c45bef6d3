"""Optimizers of tensorflow_addons."""

import re

import keras


def rows_of(gradient):
    """Return the rows that a gradient is about, None of all, as on JAX and PyTorch."""
    indices = getattr(gradient, "indices", None)
    return None if callable(indices) else indices


def as_dense(gradient, variable):
    """Return a gradient for all rows: that of an embedding has one for each use."""
    if rows_of(gradient) is None:
        return gradient
    return keras.ops.add(keras.ops.zeros_like(variable), gradient)


def used_rows(gradient, variable):
    """Return 1 for each row that a gradient is about, else 0; 1 for all rows."""
    indices = rows_of(gradient)
    if indices is None:
        return keras.ops.ones((), variable.dtype)
    count = keras.ops.shape(variable)[0]
    used = keras.ops.one_hot(indices, count, dtype=variable.dtype)
    used = keras.ops.max(keras.ops.reshape(used, (-1, count)), axis=0)
    return keras.ops.reshape(used, (count,) + (1,) * (len(variable.shape) - 1))


def matches(optimizer, variable, patterns) -> bool:
    """Say whether a regular expression is found in the path of a variable."""
    known = optimizer._trainable_variables[optimizer._get_variable_index(variable)]
    return any(re.search(each, known.path) for each in patterns or ())


def decay_now(weight_decay, iterations):
    """Return a decay: a number, or what a schedule or a function gives."""
    if isinstance(weight_decay, keras.optimizers.schedules.LearningRateSchedule):
        return weight_decay(iterations)
    return weight_decay() if callable(weight_decay) else weight_decay


@keras.saving.register_keras_serializable("Addons", "AdamW")
class AdamW(keras.optimizers.Adam):
    """Adam with a decay of the weights that is not multiplied by the learning rate."""

    def __init__(
        self,
        weight_decay,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        amsgrad=False,
        name="AdamW",
        exclude_from_weight_decay=None,
        **kwargs,
    ):
        super().__init__(
            learning_rate, beta_1, beta_2, epsilon, amsgrad, name=name, **kwargs
        )
        self.own_decay, self.not_decayed = weight_decay, exclude_from_weight_decay

    def update_step(self, gradient, variable, learning_rate):
        """Let a variable decay, then take a step."""
        if not matches(self, variable, self.not_decayed):
            decay = decay_now(self.own_decay, self.iterations)
            decay = keras.ops.cast(decay, variable.dtype)
            rows = used_rows(gradient, variable)
            self.assign_sub(variable, variable * decay * rows)
        super().update_step(as_dense(gradient, variable), variable, learning_rate)

    def get_config(self):
        """Return the arguments."""
        own = {"weight_decay": self.own_decay}
        return {
            **super().get_config(),
            **own,
            "exclude_from_weight_decay": self.not_decayed,
        }


@keras.saving.register_keras_serializable("Addons", "SGDW")
class SGDW(keras.optimizers.SGD):
    """SGD with a decay of the weights that is not multiplied by the learning rate.

    Without momentum, embeddings do not decay.
    """

    def __init__(
        self,
        weight_decay,
        learning_rate=0.001,
        momentum=0.0,
        nesterov=False,
        name="SGDW",
        exclude_from_weight_decay=None,
        **kwargs,
    ):
        super().__init__(learning_rate, momentum, nesterov, name=name, **kwargs)
        self.own_decay, self.not_decayed = weight_decay, exclude_from_weight_decay

    def update_step(self, gradient, variable, learning_rate):
        """Let a variable decay, then take a step, of an embedding in the used rows."""
        rows = used_rows(gradient, variable)
        is_sparse = rows_of(gradient) is not None
        spared = is_sparse and not self.momentum
        if not (spared or matches(self, variable, self.not_decayed)):
            decay = decay_now(self.own_decay, self.iterations)
            decay = keras.ops.cast(decay, variable.dtype)
            self.assign_sub(variable, variable * decay * rows)
        own = [variable]
        if self.momentum:
            own.append(self.momentums[self._get_variable_index(variable)])
        before = [keras.ops.copy(each) for each in own]
        super().update_step(as_dense(gradient, variable), variable, learning_rate)
        if is_sparse and self.momentum:
            for each, old in zip(own, before):
                self.assign(each, rows * each + (1 - rows) * old)

    def get_config(self):
        """Return the arguments."""
        own = {"weight_decay": self.own_decay}
        return {
            **super().get_config(),
            **own,
            "exclude_from_weight_decay": self.not_decayed,
        }


@keras.saving.register_keras_serializable("Addons", "LazyAdam")
class LazyAdam(keras.optimizers.Adam):
    """Adam that leaves the rows of an embedding alone which a step does not use."""

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        amsgrad=False,
        name="LazyAdam",
        **kwargs,
    ):
        super().__init__(
            learning_rate, beta_1, beta_2, epsilon, amsgrad, name=name, **kwargs
        )

    def update_step(self, gradient, variable, learning_rate):
        """Take a step, and take it back in rows that are not used."""
        if rows_of(gradient) is None:
            super().update_step(gradient, variable, learning_rate)
            return
        rows = used_rows(gradient, variable)
        index = self._get_variable_index(variable)
        own = [variable, self._momentums[index], self._velocities[index]]
        before = [keras.ops.copy(each) for each in own]
        super().update_step(as_dense(gradient, variable), variable, learning_rate)
        for each, old in zip(own, before):
            self.assign(each, rows * each + (1 - rows) * old)


@keras.saving.register_keras_serializable("Addons", "RectifiedAdam")
class RectifiedAdam(keras.optimizers.Optimizer):
    """Adam that begins without an adaptive rate, until its variance is known."""

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        weight_decay=0.0,
        amsgrad=False,
        sma_threshold=5.0,
        total_steps=0,
        warmup_proportion=0.1,
        min_lr=0.0,
        name="RectifiedAdam",
        **kwargs,
    ):
        super().__init__(learning_rate, name=name, **kwargs)
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.epsilon = epsilon or keras.config.epsilon()
        self.own_decay, self.amsgrad = weight_decay, amsgrad
        self.sma_threshold, self.total_steps = sma_threshold, total_steps
        self.warmup_proportion, self.min_lr = warmup_proportion, min_lr

    def build(self, variables):
        """Make the averages of the gradients and of their squares."""
        if self.built:
            return
        super().build(variables)
        make = self.add_variable_from_reference
        self.m = [make(each, name="m") for each in variables]
        self.v = [make(each, name="v") for each in variables]
        if self.amsgrad:
            self.v_hat = [make(each, name="v_hat") for each in variables]

    def warmed_up(self, learning_rate, step):
        """Return the learning rate of a step, which rises and falls if it is to."""
        if self.total_steps <= 0:
            return learning_rate
        rising = self.total_steps * self.warmup_proportion
        falling = keras.ops.maximum(self.total_steps - rising, 1)
        slope = (self.min_lr - learning_rate) / falling
        return keras.ops.where(
            step <= rising,
            learning_rate * (step / rising),
            learning_rate + slope * keras.ops.minimum(step - rising, falling),
        )

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        rows = used_rows(gradient, variable)
        index = self._get_variable_index(variable)
        dtype = variable.dtype
        gradient = keras.ops.cast(as_dense(gradient, variable), dtype)
        step = keras.ops.cast(self.iterations + 1, dtype)
        rate = self.warmed_up(keras.ops.cast(learning_rate, dtype), step)
        first = keras.ops.power(keras.ops.cast(self.beta_1, dtype), step)
        second = keras.ops.power(keras.ops.cast(self.beta_2, dtype), step)
        m, v = self.m[index], self.v[index]
        self.assign(m, self.beta_1 * m + (1 - self.beta_1) * gradient)
        self.assign(v, self.beta_2 * v + (1 - self.beta_2) * gradient * gradient)
        mean, square = m / (1 - first), v
        if self.amsgrad:
            self.assign(self.v_hat[index], keras.ops.maximum(self.v_hat[index], v))
            square = self.v_hat[index]
        root = keras.ops.sqrt(square / (1 - second))
        longest = 2.0 / (1.0 - keras.ops.cast(self.beta_2, dtype)) - 1.0
        length = longest - 2.0 * step * second / (1 - second)
        ratio = (length - 4) / (longest - 4) * (length - 2) / (longest - 2)
        rectified = keras.ops.sqrt(ratio * longest / length)
        update = keras.ops.where(
            length >= self.sma_threshold, rectified * mean / (root + self.epsilon), mean
        )
        if callable(self.own_decay) or self.own_decay != 0.0:
            decay = keras.ops.cast(decay_now(self.own_decay, self.iterations), dtype)
            update = update + decay * variable
        self.assign_sub(variable, rate * update * rows)

    def get_config(self):
        """Return the arguments."""
        own = {"beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}
        own |= {"weight_decay": self.own_decay, "amsgrad": self.amsgrad}
        own |= {"sma_threshold": self.sma_threshold, "total_steps": self.total_steps}
        own |= {"warmup_proportion": self.warmup_proportion, "min_lr": self.min_lr}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "LAMB")
class LAMB(keras.optimizers.Optimizer):
    """Adam whose steps are as long as the weights of each layer."""

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-6,
        weight_decay=0.0,
        exclude_from_weight_decay=None,
        exclude_from_layer_adaptation=None,
        name="LAMB",
        **kwargs,
    ):
        super().__init__(learning_rate, name=name, **kwargs)
        self.beta_1, self.beta_2, self.own_decay = beta_1, beta_2, weight_decay
        self.epsilon = epsilon or keras.config.epsilon()
        self.not_decayed = exclude_from_weight_decay
        self.not_adapted = exclude_from_layer_adaptation or exclude_from_weight_decay

    def build(self, variables):
        """Make the averages of the gradients and of their squares."""
        if self.built:
            return
        super().build(variables)
        make = self.add_variable_from_reference
        self.m = [make(each, name="m") for each in variables]
        self.v = [make(each, name="v") for each in variables]

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        index = self._get_variable_index(variable)
        dtype = variable.dtype
        gradient = keras.ops.cast(as_dense(gradient, variable), dtype)
        step = keras.ops.cast(self.iterations + 1, dtype)
        m, v = self.m[index], self.v[index]
        self.assign(m, self.beta_1 * m + (1 - self.beta_1) * gradient)
        self.assign(v, self.beta_2 * v + (1 - self.beta_2) * gradient * gradient)
        mean = m / (1 - keras.ops.power(keras.ops.cast(self.beta_1, dtype), step))
        square = v / (1 - keras.ops.power(keras.ops.cast(self.beta_2, dtype), step))
        update = mean / (keras.ops.sqrt(square) + self.epsilon)
        if not matches(self, variable, self.not_decayed):
            update = update + self.own_decay * variable
        ratio = 1.0
        if not matches(self, variable, self.not_adapted):
            length = keras.ops.sqrt(keras.ops.sum(keras.ops.square(variable)))
            other = keras.ops.sqrt(keras.ops.sum(keras.ops.square(update)))
            is_safe = keras.ops.logical_and(length > 0, other > 0)
            safe = keras.ops.where(is_safe, other, keras.ops.ones_like(other))
            ratio = keras.ops.where(is_safe, length / safe, keras.ops.ones_like(other))
        rate = keras.ops.cast(learning_rate, dtype)
        self.assign_sub(variable, ratio * rate * update)

    def get_config(self):
        """Return the arguments."""
        own = {"beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}
        own |= {"weight_decay": self.own_decay}
        own |= {"exclude_from_weight_decay": self.not_decayed}
        own |= {"exclude_from_layer_adaptation": self.not_adapted}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "Lookahead")
class Lookahead(keras.optimizers.Optimizer):
    """An optimizer whose weights go back, every few steps, towards where they were."""

    def __init__(
        self,
        optimizer,
        sync_period=6,
        slow_step_size=0.5,
        name="Lookahead",
        **kwargs,
    ):
        super().__init__(0.0, name=name, **kwargs)
        self.inner = keras.optimizers.get(optimizer)
        self.sync_period, self.slow_step_size = sync_period, slow_step_size

    def build(self, variables):
        """Make what the inner optimizer needs, and the slow weights."""
        if self.built:
            return
        super().build(variables)
        self.inner.build(variables)
        make = self.add_variable_from_reference
        self.slow = [make(each, name="slow") for each in variables]

    def update_step(self, gradient, variable, learning_rate):
        """Take a step of the inner optimizer."""
        self.inner.iterations.assign(self.iterations)
        slow = self.slow[self._get_variable_index(variable)]
        weights = keras.ops.convert_to_tensor(variable)
        first = keras.ops.convert_to_tensor(slow)
        before = keras.ops.where(self.iterations == 0, weights, first)
        rate = keras.ops.cast(self.inner.learning_rate, variable.dtype)
        self.inner.update_step(as_dense(gradient, variable), variable, rate)
        back = before + self.slow_step_size * (variable - before)
        is_time = (self.iterations + 1) % self.sync_period == 0
        self.assign(slow, keras.ops.where(is_time, back, before))
        weights = keras.ops.convert_to_tensor(variable)
        self.assign(variable, keras.ops.where(is_time, back, weights))

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
        inner = keras.optimizers.serialize(self.inner)
        own = {"optimizer": inner, "sync_period": self.sync_period}
        own |= {"name": self.name, "slow_step_size": self.slow_step_size}
        return own

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make the inner optimizer, then this one."""
        inner = keras.optimizers.deserialize(config["optimizer"], custom_objects)
        return cls(**{**config, "optimizer": inner})
