"""What tensorflow_addons made optimizers of others with."""

import keras

from kdoctor.reference.addons.averages import AveragingOptimizer
from kdoctor.reference.addons.optimizers import (
    as_dense,
    decay_now,
    matches,
    rows_of,
    used_rows,
)


@keras.saving.register_keras_serializable("Addons", "MultiOptimizer")
class MultiOptimizer(keras.optimizers.Optimizer):
    """Optimizers that have some layers each."""

    def __init__(
        self,
        optimizers_and_layers=None,
        optimizer_specs=None,
        name="MultiOptimizer",
        **kwargs,
    ):
        super().__init__(0.0, name=name, **kwargs)
        if (optimizers_and_layers is None) == (optimizer_specs is None):
            raise RuntimeError(
                "Must specify one of `optimizers_and_layers` or `optimizer_specs`."
            )
        self.optimizer_specs = [
            self.create_optimizer_spec(*each) for each in optimizers_and_layers or ()
        ] or [self.maybe_initialize_optimizer_spec(each) for each in optimizer_specs]

    @classmethod
    def create_optimizer_spec(cls, optimizer, layers_or_model):
        """Return an optimizer with the paths of its weights."""
        is_list = isinstance(layers_or_model, (list, tuple))
        layers = layers_or_model if is_list else [layers_or_model]
        paths = [weight.path for layer in layers for weight in layer.weights]
        return {"optimizer": optimizer, "weights": paths}

    @classmethod
    def maybe_initialize_optimizer_spec(cls, optimizer_spec):
        """Return a specification with an optimizer that is made."""
        optimizer = keras.optimizers.get(optimizer_spec["optimizer"])
        return {**optimizer_spec, "optimizer": optimizer}

    def build(self, variables):
        """Let each optimizer make what it needs."""
        if self.built:
            return
        super().build(variables)
        for spec in self.optimizer_specs:
            spec["optimizer"].build([e for e in variables if e.path in spec["weights"]])

    def apply(self, grads, trainable_variables=None):
        """Let each optimizer take a step."""
        if trainable_variables is None:
            trainable_variables = self._trainable_variables
        elif not self.built:
            self.build(trainable_variables)
        pairs = list(zip(grads, trainable_variables))
        for spec in self.optimizer_specs:
            own = [e for e in pairs if e[1].path in spec["weights"]]
            if own:
                spec["optimizer"].apply([e[0] for e in own], [e[1] for e in own])
        self._iterations.assign_add(1)

    @property
    def variables(self):
        """All variables, those of the optimizers included."""
        inner = [
            e for spec in self.optimizer_specs for e in spec["optimizer"].variables
        ]
        return [*super().variables, *inner]

    def get_config(self):
        """Return the arguments."""
        specs = [
            {**spec, "optimizer": keras.optimizers.serialize(spec["optimizer"])}
            for spec in self.optimizer_specs
        ]
        return {"name": self.name, "optimizer_specs": specs}


class AveragedOptimizerWrapper(AveragingOptimizer):
    """An optimizer that takes the steps of another one, and averages as you say."""

    def __init__(self, optimizer, name="AverageOptimizer", **kwargs):
        super().__init__(optimizer, name, **kwargs)

    def average_op(self, var, average_var, local_apply_state):
        """Assign the next average of a variable: derived classes say how."""
        raise NotImplementedError

    def update_step(self, gradient, variable, learning_rate):
        """Take a step of the inner optimizer, and average."""
        self.inner.iterations.assign(self.iterations)
        average = self.averages[self._get_variable_index(variable)]
        rate = keras.ops.cast(self.inner.learning_rate, variable.dtype)
        self.inner.update_step(as_dense(gradient, variable), variable, rate)
        self.average_op(variable, average, {})


class DecoupledWeightDecayExtension:
    """A base class, before an optimizer's, whose weights decay by themselves."""

    def __init__(self, weight_decay, exclude_from_weight_decay=None, **kwargs):
        super().__init__(**kwargs)
        if isinstance(weight_decay, dict):
            weight_decay = keras.optimizers.schedules.deserialize(weight_decay)
        self.own_decay, self.not_decayed = weight_decay, exclude_from_weight_decay

    def update_step(self, gradient, variable, learning_rate):
        """Let a variable decay, then take a step, of an embedding in the used rows.

        Embeddings that are trained by SGD without momentum do not decay.
        """
        rows = used_rows(gradient, variable)
        is_sparse = rows_of(gradient) is not None
        is_sgd = is_sparse and isinstance(self, keras.optimizers.SGD)
        spared = is_sgd and not self.momentum
        if not (spared or matches(self, variable, self.not_decayed)):
            decay = decay_now(self.own_decay, self.iterations)
            decay = keras.ops.cast(decay, variable.dtype)
            self.assign_sub(variable, variable * decay * rows)
        own = [variable]
        if is_sgd and self.momentum:
            own.append(self.momentums[self._get_variable_index(variable)])
        before = [keras.ops.copy(each) for each in own]
        super().update_step(as_dense(gradient, variable), variable, learning_rate)
        if is_sgd and self.momentum:
            for each, old in zip(own, before):
                self.assign(each, rows * each + (1 - rows) * old)

    def get_config(self):
        """Return the arguments."""
        decay = self.own_decay
        if isinstance(decay, keras.optimizers.schedules.LearningRateSchedule):
            decay = keras.optimizers.schedules.serialize(decay)
        own = {"exclude_from_weight_decay": self.not_decayed, "weight_decay": decay}
        return {**super().get_config(), **own}


def extend_with_decoupled_weight_decay(base_optimizer):
    """Return a class like another one, whose weights decay by themselves."""

    class OptimizerWithDecoupledWeightDecay(
        DecoupledWeightDecayExtension, base_optimizer
    ):
        """An optimizer whose weights decay by themselves."""

        def __init__(self, weight_decay, *args, **kwargs):
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay
