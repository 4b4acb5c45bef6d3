"""Losses: what `losses` and `losses_utils` of Keras 2 did with their ranks and weights."""

import keras


class ReductionV2:
    """How the losses of a batch are put together, by the names of Keras 3."""

    AUTO = SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    NONE = "none"
    SUM = "sum"

    @classmethod
    def all(cls) -> tuple:
        """Return every reduction."""
        return (cls.AUTO, cls.NONE, cls.SUM)

    @classmethod
    def validate(cls, key) -> None:
        """Refuse what is no reduction."""
        if key not in cls.all():
            raise ValueError(f"no reduction {key!r}: {cls.all()}")


def remove_squeezable_dimensions(
    labels, predictions, expected_rank_diff: int = 0, name=None
) -> tuple:
    """Return labels and predictions, without a last axis of 1 that one has alone."""
    labels, predictions = map(keras.ops.convert_to_tensor, (labels, predictions))
    more = len(predictions.shape) - len(labels.shape) - expected_rank_diff
    if more == 1 and predictions.shape[-1] in {1, None}:
        predictions = predictions[..., 0]
    elif more == -1 and labels.shape[-1] in {1, None}:
        labels = labels[..., 0]
    return labels, predictions


def squeeze_or_expand_dimensions(y_pred, y_true=None, sample_weight=None) -> tuple:
    """Return predictions, labels and weights, if there are any, with ranks that fit."""
    rank = len(y_pred.shape)
    if y_true is not None:
        more = len(y_pred.shape) - len(y_true.shape)
        if more == 1 and y_pred.shape[-1] == 1:
            y_pred = y_pred[..., 0]
        elif more == -1 and y_true.shape[-1] in {1, None}:
            y_true = y_true[..., 0]
    if sample_weight is None:
        return y_pred, y_true
    more = len(sample_weight.shape) - rank
    if len(sample_weight.shape) and more == 1:
        sample_weight = sample_weight[..., 0]
    elif len(sample_weight.shape) and more == -1:
        sample_weight = keras.ops.expand_dims(sample_weight, -1)
    return y_pred, y_true, sample_weight


def reduce_weighted_loss(weighted_losses, reduction: str = "sum_over_batch_size"):
    """Return the losses themselves, their sum, or their mean, which is 0 of none."""
    if reduction == "none":
        return weighted_losses
    total = keras.ops.sum(weighted_losses)
    if reduction != "sum_over_batch_size":
        return total
    count = keras.ops.cast(keras.ops.size(weighted_losses), total.dtype)
    return total / keras.ops.maximum(count, 1)


def compute_weighted_loss(
    losses, sample_weight=None, reduction: str = "sum_over_batch_size", name=None
):
    """Return losses times their weights, put together."""
    if reduction not in {"auto", "none", "sum", "sum_over_batch_size"}:
        raise ValueError(f"there is no reduction {reduction!r}")
    losses = keras.ops.convert_to_tensor(losses)
    dtype = keras.backend.standardize_dtype(losses.dtype)
    if not keras.backend.is_float_dtype(dtype):
        losses = keras.ops.cast(losses, "float32")
    weights = 1.0 if sample_weight is None else sample_weight
    weights = keras.ops.cast(keras.ops.convert_to_tensor(weights), losses.dtype)
    more = len(weights.shape) - len(losses.shape)
    if len(weights.shape) and more == 1:
        weights = weights[..., 0]
    elif len(weights.shape) and more == -1:
        weights = keras.ops.expand_dims(weights, -1)
    loss = losses * weights
    if reduction != "none":
        count = 1 if reduction == "sum" else keras.ops.maximum(keras.ops.size(loss), 1)
        loss = keras.ops.sum(loss) / keras.ops.cast(count, loss.dtype)
    return keras.ops.cast(loss, dtype)


def cast_losses_to_common_dtype(losses):
    """Return all losses with the most precise dtype that any of them has."""
    dtypes = [keras.backend.standardize_dtype(each.dtype) for each in losses]
    if any(each.startswith("complex") for each in dtypes):
        return losses
    floats = [each for each in dtypes if keras.backend.is_float_dtype(each)]
    sizes = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
    widest = max(floats, key=lambda each: sizes.get(each, 1), default=None)
    if widest is None:
        return losses
    return [keras.ops.cast(each, widest) for each in losses]


class LossFunctionWrapper(keras.losses.Loss):
    """A loss that is made of a function, and of more arguments for it."""

    def __init__(self, fn, reduction="sum_over_batch_size", name=None, **kwargs):
        reduction = "sum_over_batch_size" if reduction == "auto" else reduction
        super().__init__(name=name, reduction=reduction)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true, y_pred):
        """Return what the function says of each sample."""
        more = len(y_pred.shape) - len(y_true.shape)
        if more == 1 and y_pred.shape[-1] == 1:
            y_pred = y_pred[..., 0]
        elif more == -1 and y_true.shape[-1] in {1, None}:
            y_true = y_true[..., 0]
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self):
        """Return the arguments, without the function: a subclass passes its own."""
        return {**super().get_config(), **self._fn_kwargs}
