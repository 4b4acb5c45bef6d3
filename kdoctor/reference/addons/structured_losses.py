"""Losses of tensorflow_addons about how samples lie, and about sparse probabilities."""

import keras

from kdoctor.reference.addons.activations import sparsemax
from kdoctor.reference.addons.losses import distances, unlike_itself
from kdoctor.reference.addons.sparsemax_loss import sparsemax_loss


@keras.saving.register_keras_serializable("Addons", "lifted_struct_loss")
def lifted_struct_loss(labels, embeddings, margin=1.0):
    """Return the loss of all pairs of a class beside all that are of another."""
    embeddings = keras.ops.convert_to_tensor(embeddings)
    labels = keras.ops.reshape(keras.ops.convert_to_tensor(labels), (-1, 1))
    dtype = keras.backend.standardize_dtype(embeddings.dtype)
    is_half = dtype in {"float16", "bfloat16"}
    precise = keras.ops.cast(embeddings, "float32") if is_half else embeddings
    apart = distances(precise)
    same = keras.ops.cast(labels == keras.ops.transpose(labels), apart.dtype)
    other, near = 1 - same, margin - apart
    least = keras.ops.min(near, axis=1, keepdims=True)
    most = keras.ops.max((near - least) * other, axis=1, keepdims=True) + least
    most = keras.ops.maximum(most, keras.ops.transpose(most))
    close = keras.ops.exp(
        keras.ops.expand_dims(near, 0) - keras.ops.expand_dims(most, 2)
    )
    close = keras.ops.sum(close * keras.ops.expand_dims(other, 0), axis=2)
    losses = most + keras.ops.log(close + keras.ops.transpose(close)) + apart
    pairs = same - (1 - unlike_itself(precise))
    squares = keras.ops.square(keras.ops.maximum(losses * pairs, 0.0))
    loss = 0.25 * keras.ops.sum(squares) / (keras.ops.sum(pairs) / 2.0)
    return keras.ops.cast(loss, dtype)


@keras.saving.register_keras_serializable("Addons", "LiftedStructLoss")
class LiftedStructLoss(keras.losses.Loss):
    """The lifted structured loss, one number for a batch."""

    def __init__(self, margin=1.0, name=None, **kwargs):
        super().__init__(name=name, reduction="none")
        self.margin = margin

    def call(self, y_true, y_pred):
        """Return the loss of the batch."""
        return lifted_struct_loss(y_true, y_pred, self.margin)

    def get_config(self):
        """Return the arguments."""
        return {"name": self.name, "margin": self.margin}


@keras.saving.register_keras_serializable("Addons", "npairs_loss")
def npairs_loss(y_true, y_pred):
    """Return the loss of how alike each two samples are, of their labels."""
    y_pred = keras.ops.convert_to_tensor(y_pred)
    labels = keras.ops.expand_dims(keras.ops.cast(y_true, y_pred.dtype), -1)
    same = keras.ops.cast(labels == keras.ops.swapaxes(labels, 0, -1), y_pred.dtype)
    same = same / keras.ops.sum(same, axis=1, keepdims=True)
    losses = keras.ops.categorical_crossentropy(same, y_pred, from_logits=True)
    return keras.ops.mean(losses)


@keras.saving.register_keras_serializable("Addons", "NpairsLoss")
class NpairsLoss(keras.losses.Loss):
    """The N-pairs loss, one number for a batch."""

    def __init__(self, name="npairs_loss"):
        super().__init__(name=name, reduction="none")

    def call(self, y_true, y_pred):
        """Return the loss of the batch."""
        return npairs_loss(y_true, y_pred)

    def get_config(self):
        """Return the arguments."""
        return {"name": self.name}


@keras.saving.register_keras_serializable("Addons", "npairs_multilabel_loss")
def npairs_multilabel_loss(y_true, y_pred):
    """Return the loss of how alike each two samples are, of the labels they share."""
    y_pred = keras.ops.convert_to_tensor(y_pred)
    labels = keras.ops.convert_to_tensor(y_true, sparse=False)
    labels = keras.ops.cast(labels, y_pred.dtype)
    shared = keras.ops.matmul(labels, keras.ops.transpose(labels))
    shared = shared / keras.ops.sum(shared, axis=1, keepdims=True)
    losses = keras.ops.categorical_crossentropy(shared, y_pred, from_logits=True)
    return keras.ops.mean(losses)


@keras.saving.register_keras_serializable("Addons", "NpairsMultilabelLoss")
class NpairsMultilabelLoss(keras.losses.Loss):
    """The N-pairs loss of several labels for each sample, one number for a batch."""

    def __init__(self, name="npairs_multilabel_loss"):
        super().__init__(name=name, reduction="none")

    def call(self, y_true, y_pred):
        """Return the loss of the batch."""
        return npairs_multilabel_loss(y_true, y_pred)

    def get_config(self):
        """Return the arguments."""
        return {"name": self.name}


@keras.saving.register_keras_serializable("Addons", "SparsemaxLoss")
class SparsemaxLoss(keras.losses.Loss):
    """The loss that goes with sparsemax, of logits."""

    def __init__(
        self, from_logits=True, reduction="sum_over_batch_size", name="sparsemax_loss"
    ):
        if from_logits is not True:
            raise ValueError("from_logits must be True")
        reduction = "sum_over_batch_size" if reduction == "auto" else reduction
        super().__init__(name=name, reduction=reduction)
        self.from_logits = from_logits

    def call(self, y_true, y_pred):
        """Return the loss of each sample."""
        return sparsemax_loss(y_pred, sparsemax(y_pred), y_true)

    def get_config(self):
        """Return the arguments."""
        own = {"from_logits": self.from_logits, "reduction": self.reduction}
        return {"name": self.name, **own}
