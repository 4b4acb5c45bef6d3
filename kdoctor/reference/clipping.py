"""Gradient clipping in training: what the optimizer does itself, and limits for each layer.

    clipvalue         each element g        max(−v, min(v, g))
    clipnorm          each weight's g       g · min(1, c / ‖g‖₂)
    global_clipnorm   all weights' together gᵢ · min(1, c / √Σ‖gᵢ‖²)   Pascanu et al. 2013

``keras.optimizers.Adam(global_clipnorm=1.0)`` is all that most programs need. It stays right in
mixed precision too: ``LossScaleOptimizer`` divides the gradients by its scale, skips the step if
one is not finite, and only then lets the optimizer inside of it clip. Clipping by hand *before*
that is the common mistake: the limit meets gradients that are 32,768 times too large, and a clipped
infinity looks finite, so that the step is not skipped.
"""

import keras
from keras import ops


def clip_by_value(gradients, limit):
    """Return the gradients with each element in [−limit, limit]; None stays None."""
    return [None if g is None else ops.clip(g, -limit, limit) for g in gradients]


def clip_by_norm(gradients, limit):
    """Return the gradients, each with an L2 norm of ``limit`` at most; None stays None."""
    return [None if g is None else g * _factor(_squares(g), limit) for g in gradients]


def clip_by_global_norm(gradients, limit):
    """Return the gradients with a common L2 norm of ``limit`` at most: their direction stays."""
    factor = _factor(sum(_squares(g) for g in gradients if g is not None), limit)
    return [None if g is None else g * factor for g in gradients]


def _squares(gradient):
    return ops.sum(ops.square(gradient))


def _factor(squares, limit):
    return limit / ops.maximum(ops.sqrt(squares), limit)


class ClippedByLayer(keras.Model):
    """A functional model whose ``fit`` clips the gradients of each layer to a norm of its own.

    Args:
        limits: the largest norm of all gradients of a layer together, by the layer's name. Layers
            without a limit are not clipped.

    Under loss scaling the gradients are ``scale`` times too large and so must the limit be. An
    infinite gradient becomes NaN (∞ · 0) by a norm, so that the optimizer still sees that the step
    is to be skipped; ``clip_by_value`` would hide it.
    """

    def __init__(self, *args, limits, **kwargs):
        super().__init__(*args, **kwargs)
        self.limits = dict(limits)

    def clipped(self, gradients, scale=1.0):
        """Return the gradients of ``self.trainable_variables``, in their order, within limits."""
        place = {variable.path: at for at, variable in enumerate(self.trainable_variables)}
        clipped = list(gradients)
        for name, limit in self.limits.items():
            places = [place[v.path] for v in self.get_layer(name).trainable_variables]
            within = clip_by_global_norm([gradients[at] for at in places], limit * scale)
            for at, gradient in zip(places, within, strict=True):
                clipped[at] = gradient
        return clipped

    def scale(self):
        """Return what the optimizer multiplies the loss with: 1 without loss scaling."""
        return self.optimizer.scale_loss(ops.ones((), "float32"))

    def train_step(self, *args):
        """Do one step; each backend has its own way to take a gradient."""
        return getattr(self, f"_{keras.backend.backend()}_step")(*args)

    def _tensorflow_step(self, data):
        import tensorflow as tf  # noqa: PLC0415 - each backend is imported where it runs

        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, sample_weight, training=True)
            scaled = self.optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled, [v.value for v in self.trainable_variables])
        self.optimizer.apply(self.clipped(gradients, self.scale()), self.trainable_variables)
        return self._told(x, y, y_pred, sample_weight, loss)

    def _torch_step(self, data):
        import torch  # noqa: PLC0415

        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        self.zero_grad()
        y_pred = self(x, training=True)
        loss = self.compute_loss(x, y, y_pred, sample_weight, training=True)
        self.optimizer.scale_loss(loss).backward()
        gradients = [variable.value.grad for variable in self.trainable_variables]
        with torch.no_grad():
            self.optimizer.apply(self.clipped(gradients, self.scale()), self.trainable_variables)
        return self._told(x, y, y_pred, sample_weight, loss)

    def _jax_step(self, state, data):
        import jax  # noqa: PLC0415

        trainable, non_trainable, of_optimizer, of_metrics = state
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        gradients_of = jax.grad(self.compute_loss_and_updates, has_aux=True)
        gradients, (loss, y_pred, non_trainable, of_metrics) = gradients_of(
            trainable, non_trainable, of_metrics, x, y, sample_weight,
            training=True, optimizer_variables=of_optimizer,
        )  # fmt: skip
        with keras.StatelessScope(zip(self.optimizer.variables, of_optimizer, strict=True)):
            gradients = self.clipped(gradients, self.scale())
        trainable, of_optimizer = self.optimizer.stateless_apply(of_optimizer, gradients, trainable)
        with keras.StatelessScope(zip(self.metrics_variables, of_metrics, strict=True)) as scope:
            told = self._told(x, y, y_pred, sample_weight, loss)
            of_metrics = [scope.get_current_value(variable) for variable in self.metrics_variables]
        return told, (trainable, non_trainable, of_optimizer, of_metrics)

    def _told(self, x, y, y_pred, sample_weight, loss):
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss, sample_weight=ops.shape(keras.tree.flatten(x)[0])[0])
        return self.compute_metrics(x, y, y_pred, sample_weight)


def tape_step(model, loss_function, optimizer, x, y):
    """Do one step of a TensorFlow training loop; in mixed precision too. Return the loss.

    ``optimizer`` clips, and in ``mixed_float16`` it is wrapped:
    ``keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(global_clipnorm=1.0))``.
    Without ``scale_loss`` small gradients are 0 in float16, and the wrapped optimizer divides by a
    scale that nothing was multiplied with.
    """
    import tensorflow as tf  # noqa: PLC0415

    with tf.GradientTape() as tape:
        loss = loss_function(y, model(x, training=True))
        scaled = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, model.trainable_weights)
    optimizer.apply_gradients(zip(gradients, model.trainable_weights, strict=True))
    return loss
