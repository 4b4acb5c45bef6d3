"""Optimizers of tensorflow_addons that measure gradients."""

import keras

from kdoctor.reference.addons.optimizers import as_dense, decay_now, used_rows


@keras.saving.register_keras_serializable("Addons", "AdaBelief")
class AdaBelief(keras.optimizers.Optimizer):
    """Adam whose steps are long where a gradient is what was expected."""

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-14,
        weight_decay=0.0,
        amsgrad=False,
        rectify=True,
        sma_threshold=5.0,
        total_steps=0,
        warmup_proportion=0.1,
        min_lr=0.0,
        name="AdaBelief",
        **kwargs,
    ):
        super().__init__(learning_rate, name=name, **kwargs)
        if isinstance(weight_decay, dict):
            weight_decay = keras.optimizers.schedules.deserialize(weight_decay)
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.epsilon = epsilon or keras.config.epsilon()
        self.own_decay, self.amsgrad, self.rectify = weight_decay, amsgrad, rectify
        self.sma_threshold, self.total_steps = sma_threshold, total_steps
        self.warmup_proportion, self.min_lr = warmup_proportion, min_lr

    def build(self, variables):
        """Make the averages of the gradients and of how far they are from these."""
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
        index, dtype = self._get_variable_index(variable), variable.dtype
        gradient = keras.ops.cast(as_dense(gradient, variable), dtype)
        step = keras.ops.cast(self.iterations + 1, dtype)
        rate = self.warmed_up(keras.ops.cast(learning_rate, dtype), step)
        first = keras.ops.power(keras.ops.cast(self.beta_1, dtype), step)
        second = keras.ops.power(keras.ops.cast(self.beta_2, dtype), step)
        m, v = self.m[index], self.v[index]
        self.assign(m, self.beta_1 * m + (1 - self.beta_1) * gradient)
        far = (1 - self.beta_2) * keras.ops.square(gradient - m) + self.epsilon
        self.assign(v, self.beta_2 * v + rows * far)
        mean, square = m / (1 - first), v
        if self.amsgrad:
            self.assign(self.v_hat[index], keras.ops.maximum(self.v_hat[index], v))
            square = self.v_hat[index]
        update = mean / (keras.ops.sqrt(square / (1 - second)) + self.epsilon)
        if self.rectify:
            longest = 2.0 / (1.0 - keras.ops.cast(self.beta_2, dtype)) - 1.0
            length = longest - 2.0 * step * second / (1 - second)
            ratio = (length - 4) / (longest - 4) * (length - 2) / (longest - 2)
            rectified = keras.ops.sqrt(ratio * longest / length)
            is_known = length >= self.sma_threshold
            update = keras.ops.where(is_known, rectified * update, mean)
        if callable(self.own_decay) or self.own_decay != 0.0:
            decay = keras.ops.cast(decay_now(self.own_decay, self.iterations), dtype)
            update = update + decay * variable
        self.assign_sub(variable, rate * update * rows)

    def get_config(self):
        """Return the arguments."""
        decay = self.own_decay
        if isinstance(decay, keras.optimizers.schedules.LearningRateSchedule):
            decay = keras.optimizers.schedules.serialize(decay)
        own = {"beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}
        own |= {"weight_decay": decay, "amsgrad": self.amsgrad}
        own |= {"rectify": self.rectify, "sma_threshold": self.sma_threshold}
        own |= {"total_steps": self.total_steps, "min_lr": self.min_lr}
        own |= {"warmup_proportion": self.warmup_proportion}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "NovoGrad")
class NovoGrad(keras.optimizers.Optimizer):
    """Momentum of gradients, each layer's divided by how long they are."""

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        weight_decay=0.0,
        grad_averaging=False,
        amsgrad=False,
        name="NovoGrad",
        **kwargs,
    ):
        super().__init__(learning_rate, name=name, **kwargs)
        if weight_decay < 0.0:
            raise ValueError("Weight decay rate cannot be negative")
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.epsilon = epsilon or keras.config.epsilon()
        self.own_decay, self.amsgrad = weight_decay, amsgrad
        self.grad_averaging = grad_averaging

    def build(self, variables):
        """Make the momentum, and one number for each variable."""
        if self.built:
            return
        super().build(variables)
        make = self.add_variable_from_reference
        self.m = [make(each, name="m") for each in variables]
        self.v = [self.add_variable((), name="v") for _ in variables]
        if self.amsgrad:
            self.v_hat = [self.add_variable((), name="v_hat") for _ in variables]

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        rows = used_rows(gradient, variable)
        index, dtype = self._get_variable_index(variable), variable.dtype
        gradient = keras.ops.cast(as_dense(gradient, variable), dtype)
        is_first = self.iterations == 0
        m, v = self.m[index], self.v[index]
        square = keras.ops.cast(keras.ops.sum(keras.ops.square(gradient)), v.dtype)
        later = self.beta_2 * v + (1 - self.beta_2) * square
        self.assign(v, keras.ops.where(is_first, square, later))
        if self.amsgrad:
            self.assign(self.v_hat[index], keras.ops.maximum(self.v_hat[index], v))
            v = self.v_hat[index]
        length = keras.ops.cast(keras.ops.sqrt(v), dtype)
        gradient = gradient / (length + self.epsilon)
        if self.own_decay > 0:
            gradient = gradient + self.own_decay * variable
        if self.grad_averaging:
            less = gradient * (1 - self.beta_1)
            gradient = keras.ops.where(is_first, gradient, less)
        rate = keras.ops.cast(learning_rate, dtype)
        moved = self.beta_1 * m - rate * gradient
        self.assign(m, rows * moved + (1 - rows) * m)
        self.assign_add(variable, rows * m)

    def get_config(self):
        """Return the arguments."""
        own = {"beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}
        own |= {"weight_decay": self.own_decay, "amsgrad": self.amsgrad}
        own["grad_averaging"] = self.grad_averaging
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "COCOB")
class COCOB(keras.optimizers.Optimizer):
    """An optimizer that bets on gradients, and needs no learning rate."""

    def __init__(self, alpha=100, use_locking=False, name="COCOB", **kwargs):
        super().__init__(1.0, name=name, **kwargs)
        if alpha < 1:
            raise ValueError(f"alpha, {alpha}, is below 1")
        self.alpha = alpha

    def build(self, variables):
        """Make what is known of each weight."""
        if self.built:
            return
        super().build(variables)
        make = self.add_variable_from_reference
        first = keras.initializers.Constant(1e-8)
        self.largest = [make(each, name="lr", initializer=first) for each in variables]
        self.lengths = [make(each, name="grad_norm_sum") for each in variables]
        self.sums = [make(each, name="gradients_sum") for each in variables]
        self.moved = [make(each, name="tilde_w") for each in variables]
        self.rewards = [make(each, name="reward") for each in variables]

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        index, dtype = self._get_variable_index(variable), variable.dtype
        gradient = keras.ops.cast(as_dense(gradient, variable), dtype)
        size = keras.ops.abs(gradient)
        largest, lengths = self.largest[index], self.lengths[index]
        sums, moved, reward = self.sums[index], self.moved[index], self.rewards[index]
        self.assign(largest, keras.ops.maximum(largest, size))
        self.assign(sums, sums + gradient)
        self.assign(lengths, lengths + size)
        self.assign(reward, keras.ops.maximum(reward - gradient * moved, 0))
        most = keras.ops.maximum(lengths + largest, self.alpha * largest)
        now = -sums / (largest * most) * (reward + largest)
        self.assign(variable, variable - moved + now)
        self.assign(moved, now)

    def get_config(self):
        """Return the arguments."""
        known = super().get_config()
        del known["learning_rate"]
        return {**known, "alpha": self.alpha}


@keras.saving.register_keras_serializable("Addons", "ConditionalGradient")
class ConditionalGradient(keras.optimizers.Optimizer):
    """An optimizer that keeps weights within a ball of radius `lambda_`."""

    def __init__(
        self,
        learning_rate,
        lambda_=0.01,
        epsilon=1e-7,
        ord="fro",
        name="ConditionalGradient",
        **kwargs,
    ):
        super().__init__(learning_rate, name=name, **kwargs)
        if ord not in {"fro", "nuclear"}:
            raise ValueError(f"ord is 'fro' or 'nuclear', not {ord!r}")
        self.lambda_, self.ord = lambda_, ord
        self.epsilon = epsilon or keras.config.epsilon()

    def furthest(self, gradient):
        """Return where on the ball a gradient points to."""
        if self.ord == "fro":
            length = keras.ops.sqrt(keras.ops.sum(keras.ops.square(gradient)))
            return gradient / (length + self.epsilon)
        shape = tuple(gradient.shape)
        matrix = gradient
        if len(shape) < 2:
            matrix = keras.ops.reshape(gradient, (1, -1))
        left, _, right = keras.ops.svd(matrix, full_matrices=False)
        return keras.ops.reshape(left[:, :1] * right[:1], shape)

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        rows, dtype = used_rows(gradient, variable), variable.dtype
        gradient = keras.ops.cast(as_dense(gradient, variable), dtype)
        rate = keras.ops.cast(learning_rate, dtype)
        radius = decay_now(self.lambda_, self.iterations)
        radius = keras.ops.cast(radius, dtype)
        moved = variable * rate - (1 - rate) * radius * self.furthest(gradient)
        self.assign(variable, rows * moved + (1 - rows) * variable)

    def get_config(self):
        """Return the arguments."""
        own = {"lambda_": self.lambda_, "epsilon": self.epsilon, "ord": self.ord}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "ProximalAdagrad")
class ProximalAdagrad(keras.optimizers.Optimizer):
    """Adagrad that shrinks weights after each step, some of them to 0."""

    def __init__(
        self,
        learning_rate=0.001,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        name="ProximalAdagrad",
        **kwargs,
    ):
        super().__init__(learning_rate, name=name, **kwargs)
        own = (initial_accumulator_value, l1_regularization_strength)
        if min(*own, l2_regularization_strength) < 0.0:
            raise ValueError("none of the arguments may be below 0")
        self.initial_accumulator_value = initial_accumulator_value
        self.l1, self.l2 = l1_regularization_strength, l2_regularization_strength

    def build(self, variables):
        """Make the sums of squares."""
        if self.built:
            return
        super().build(variables)
        own = {"name": "accumulator"}
        own["initializer"] = keras.initializers.Constant(self.initial_accumulator_value)
        make = self.add_variable_from_reference
        self.sums = [make(each, **own) for each in variables]

    def update_step(self, gradient, variable, learning_rate):
        """Take a step."""
        rows, dtype = used_rows(gradient, variable), variable.dtype
        gradient = keras.ops.cast(as_dense(gradient, variable), dtype)
        sums = self.sums[self._get_variable_index(variable)]
        self.assign(sums, sums + keras.ops.square(gradient))
        rate = keras.ops.cast(learning_rate, dtype) * keras.ops.rsqrt(sums)
        moved = variable - rate * gradient
        if self.l1 > 0:
            left = keras.ops.maximum(keras.ops.abs(moved) - rate * self.l1, 0)
            moved = keras.ops.sign(moved) * left
        moved = moved / (1 + self.l2 * rate)
        self.assign(variable, rows * moved + (1 - rows) * variable)

    def get_config(self):
        """Return the arguments."""
        own = {"initial_accumulator_value": self.initial_accumulator_value}
        own |= {"l1_regularization_strength": self.l1}
        own |= {"l2_regularization_strength": self.l2}
        return {**super().get_config(), **own}
