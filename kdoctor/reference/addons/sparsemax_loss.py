"""A loss of tensorflow_addons one of whose arguments is called like a function."""

import keras


@keras.saving.register_keras_serializable("Addons", "sparsemax_loss")
def sparsemax_loss(logits, sparsemax, labels, name=None):
    """Return the loss of probabilities of which many are 0."""
    logits = keras.ops.convert_to_tensor(logits)
    likely = keras.ops.convert_to_tensor(sparsemax)
    labels = keras.ops.convert_to_tensor(labels)
    zeros = keras.ops.zeros_like(likely)
    is_known = keras.ops.logical_or(likely > 0, keras.ops.isnan(likely))
    found = keras.ops.where(is_known, likely * (logits - 0.5 * likely), zeros)
    wanted = labels * (0.5 * labels - logits)
    is_far = keras.ops.logical_and(labels == 0, keras.ops.isinf(logits))
    wanted = keras.ops.where(is_far, zeros, wanted)
    return keras.ops.sum(found + wanted, axis=1)
