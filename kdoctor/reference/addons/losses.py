"""Losses of tensorflow_addons."""

import keras


@keras.saving.register_keras_serializable("Addons", "sigmoid_focal_crossentropy")
def sigmoid_focal_crossentropy(
    y_true, y_pred, alpha=0.25, gamma=2.0, from_logits: bool = False
):
    """Return the focal loss of each sample, the sum over its last axis."""
    if gamma and gamma < 0:
        raise ValueError(f"gamma, {gamma}, is below 0")
    y_pred = keras.ops.convert_to_tensor(y_pred)
    y_true = keras.ops.cast(y_true, y_pred.dtype)
    if from_logits:
        likely = keras.ops.sigmoid(y_pred)
        losses = keras.ops.binary_crossentropy(y_true, y_pred, from_logits=True)
    else:
        likely, least = y_pred, keras.config.epsilon()
        clipped = keras.ops.clip(y_pred, least, 1 - least)
        losses = -y_true * keras.ops.log(clipped + least)
        losses = losses - (1 - y_true) * keras.ops.log(1 - clipped + least)
    if alpha:
        losses = (y_true * alpha + (1 - y_true) * (1 - alpha)) * losses
    if gamma:
        right = y_true * likely + (1 - y_true) * (1 - likely)
        losses = keras.ops.power(1.0 - right, gamma) * losses
    return keras.ops.sum(losses, axis=-1)


@keras.saving.register_keras_serializable("Addons", "SigmoidFocalCrossEntropy")
class SigmoidFocalCrossEntropy(keras.losses.Loss):
    """The focal loss, which counts well classified examples less."""

    def __init__(
        self,
        from_logits: bool = False,
        alpha=0.25,
        gamma=2.0,
        reduction="none",
        name="sigmoid_focal_crossentropy",
    ):
        reduction = "sum_over_batch_size" if reduction == "auto" else reduction
        super().__init__(name=name, reduction=reduction)
        self.from_logits, self.alpha, self.gamma = from_logits, alpha, gamma

    def call(self, y_true, y_pred):
        """Return the loss of each sample."""
        return sigmoid_focal_crossentropy(
            y_true, y_pred, self.alpha, self.gamma, self.from_logits
        )

    def get_config(self):
        """Return the arguments."""
        own = {
            "from_logits": self.from_logits,
            "alpha": self.alpha,
            "gamma": self.gamma,
        }
        return {"name": self.name, "reduction": self.reduction, **own}


def unlike_itself(embeddings):
    """Return a matrix of 1 with a diagonal of 0, a row and a column for each sample."""
    ones = keras.ops.ones_like(embeddings[:, :1])
    number = keras.ops.cumsum(ones, axis=0)
    return keras.ops.cast(number != keras.ops.transpose(number), ones.dtype)


def distances(embeddings, metric="L2"):
    """Return the distance of each two embeddings."""
    if metric == "angular":
        unit = keras.ops.normalize(embeddings, axis=1, epsilon=1e-6)
        return keras.ops.maximum(1 - unit @ keras.ops.transpose(unit), 0.0)
    if metric not in {"L2", "squared-L2"}:
        return metric(embeddings)
    lengths = keras.ops.sum(keras.ops.square(embeddings), axis=1, keepdims=True)
    products = embeddings @ keras.ops.transpose(embeddings)
    squares = lengths + keras.ops.transpose(lengths) - 2.0 * products
    squares = keras.ops.maximum(squares, 0.0)
    apart = keras.ops.cast(squares > 0.0, squares.dtype)
    if metric == "L2":
        squares = keras.ops.sqrt(squares + (1 - apart) * 1e-16)
    return squares * apart * unlike_itself(embeddings)


def largest_among(values, mask):
    """Return the largest of each row where the mask is 1, the smallest if nowhere."""
    least = keras.ops.min(values, axis=-1, keepdims=True)
    return keras.ops.max((values - least) * mask, axis=-1, keepdims=True) + least


def smallest_among(values, mask):
    """Return the smallest of each row where the mask is 1, the largest if nowhere."""
    most = keras.ops.max(values, axis=-1, keepdims=True)
    return keras.ops.min((values - most) * mask, axis=-1, keepdims=True) + most


@keras.saving.register_keras_serializable("Addons", "triplet_semihard_loss")
def triplet_semihard_loss(y_true, y_pred, margin=1.0, distance_metric="L2"):
    """Return the mean loss of all pairs of a class beside a farther negative."""
    y_pred = keras.ops.convert_to_tensor(y_pred)
    labels = keras.ops.reshape(keras.ops.convert_to_tensor(y_true), (-1, 1))
    is_half = keras.backend.standardize_dtype(y_pred.dtype) in {"float16", "bfloat16"}
    embeddings = keras.ops.cast(y_pred, "float32") if is_half else y_pred
    apart = distances(embeddings, distance_metric)
    same = keras.ops.cast(labels == keras.ops.transpose(labels), apart.dtype)
    pairs = keras.ops.expand_dims(apart, 2)
    others = keras.ops.expand_dims(apart, 1)
    negative = keras.ops.expand_dims(1 - same, 1)
    farther = keras.ops.cast(others > pairs, apart.dtype) * negative
    is_found = keras.ops.sum(farther, axis=-1) > 0.0
    nearest = smallest_among(others + 0 * pairs, farther)[..., 0]
    losses = (
        margin
        + apart
        - keras.ops.where(is_found, nearest, largest_among(apart, 1 - same))
    )
    positive = same - (1 - unlike_itself(embeddings))
    total = keras.ops.sum(keras.ops.maximum(losses * positive, 0.0))
    return keras.ops.cast(total / keras.ops.sum(positive), y_pred.dtype)


@keras.saving.register_keras_serializable("Addons", "TripletSemiHardLoss")
class TripletSemiHardLoss(keras.losses.Loss):
    """The triplet loss with semi-hard negatives, one number for a batch."""

    def __init__(self, margin=1.0, distance_metric="L2", name=None, **kwargs):
        super().__init__(name=name, reduction="none")
        self.margin, self.distance_metric = margin, distance_metric

    def call(self, y_true, y_pred):
        """Return the loss of the batch."""
        return triplet_semihard_loss(y_true, y_pred, self.margin, self.distance_metric)

    def get_config(self):
        """Return the arguments."""
        own = {"margin": self.margin, "distance_metric": self.distance_metric}
        return {"name": self.name, "reduction": self.reduction, **own}


@keras.saving.register_keras_serializable("Addons", "triplet_hard_loss")
def triplet_hard_loss(y_true, y_pred, margin=1.0, soft=False, distance_metric="L2"):
    """Return the mean loss of the farthest positives and nearest negatives."""
    y_pred = keras.ops.convert_to_tensor(y_pred)
    labels = keras.ops.reshape(keras.ops.convert_to_tensor(y_true), (-1, 1))
    is_half = keras.backend.standardize_dtype(y_pred.dtype) in {"float16", "bfloat16"}
    embeddings = keras.ops.cast(y_pred, "float32") if is_half else y_pred
    apart = distances(embeddings, distance_metric)
    same = keras.ops.cast(labels == keras.ops.transpose(labels), apart.dtype)
    nearest = smallest_among(apart, 1 - same)
    farthest = largest_among(apart, same - (1 - unlike_itself(embeddings)))
    if soft:
        losses = keras.ops.log1p(keras.ops.exp(farthest - nearest))
    else:
        losses = keras.ops.maximum(farthest - nearest + margin, 0.0)
    return keras.ops.cast(keras.ops.mean(losses), y_pred.dtype)


@keras.saving.register_keras_serializable("Addons", "TripletHardLoss")
class TripletHardLoss(keras.losses.Loss):
    """The triplet loss with hard positives and negatives, one number for a batch."""

    def __init__(
        self, margin=1.0, soft=False, distance_metric="L2", name=None, **kwargs
    ):
        super().__init__(name=name, reduction="none")
        self.margin, self.soft, self.distance_metric = margin, soft, distance_metric

    def call(self, y_true, y_pred):
        """Return the loss of the batch."""
        return triplet_hard_loss(
            y_true, y_pred, self.margin, self.soft, self.distance_metric
        )

    def get_config(self):
        """Return the arguments."""
        own = {"margin": self.margin, "soft": self.soft}
        own["distance_metric"] = self.distance_metric
        return {"name": self.name, "reduction": self.reduction, **own}


@keras.saving.register_keras_serializable("Addons", "contrastive_loss")
def contrastive_loss(y_true, y_pred, margin=1.0):
    """Return the loss of distances of two samples, alike where `y_true` is 1."""
    y_pred = keras.ops.convert_to_tensor(y_pred)
    y_true = keras.ops.cast(y_true, y_pred.dtype)
    unlike = keras.ops.square(keras.ops.maximum(margin - y_pred, 0.0))
    return y_true * keras.ops.square(y_pred) + (1.0 - y_true) * unlike


@keras.saving.register_keras_serializable("Addons", "ContrastiveLoss")
class ContrastiveLoss(keras.losses.Loss):
    """The contrastive loss of distances of two samples."""

    def __init__(
        self, margin=1.0, reduction="sum_over_batch_size", name="contrastive_loss"
    ):
        reduction = "sum_over_batch_size" if reduction == "auto" else reduction
        super().__init__(name=name, reduction=reduction)
        self.margin = margin

    def call(self, y_true, y_pred):
        """Return the loss of each pair."""
        return contrastive_loss(y_true, y_pred, self.margin)

    def get_config(self):
        """Return the arguments."""
        return {"name": self.name, "reduction": self.reduction, "margin": self.margin}


@keras.saving.register_keras_serializable("Addons", "giou_loss")
def giou_loss(y_true, y_pred, mode="giou"):
    """Return 1 less the (generalized) intersection over union of each two boxes."""
    if mode not in {"giou", "iou"}:
        raise ValueError(f"mode is 'iou' or 'giou', not {mode!r}")
    y_pred = keras.ops.convert_to_tensor(y_pred)
    if not keras.backend.is_float_dtype(keras.backend.standardize_dtype(y_pred.dtype)):
        y_pred = keras.ops.cast(y_pred, "float32")
    y_true = keras.ops.cast(y_true, y_pred.dtype)

    def area(low, high):
        sides = keras.ops.maximum(high - low, 0)
        return sides[..., 0] * sides[..., 1]

    def over(one, other):
        safe = keras.ops.where(other == 0, keras.ops.ones_like(other), other)
        return keras.ops.where(other == 0, keras.ops.zeros_like(one), one / safe)

    low, high = (y_true[..., :2], y_pred[..., :2]), (y_true[..., 2:], y_pred[..., 2:])
    common = area(keras.ops.maximum(*low), keras.ops.minimum(*high))
    union = area(low[0], high[0]) + area(low[1], high[1]) - common
    found = over(common, union)
    if mode == "giou":
        around = area(keras.ops.minimum(*low), keras.ops.maximum(*high))
        found = found - over(around - union, around)
    return 1 - keras.ops.squeeze(found)


@keras.saving.register_keras_serializable("Addons", "GIoULoss")
class GIoULoss(keras.losses.Loss):
    """1 less the (generalized) intersection over union of boxes `[y1, x1, y2, x2]`."""

    def __init__(self, mode="giou", reduction="sum_over_batch_size", name="giou_loss"):
        reduction = "sum_over_batch_size" if reduction == "auto" else reduction
        super().__init__(name=name, reduction=reduction)
        self.mode = mode

    def call(self, y_true, y_pred):
        """Return the loss of each box."""
        return giou_loss(y_true, y_pred, self.mode)

    def get_config(self):
        """Return the arguments."""
        return {"name": self.name, "reduction": self.reduction, "mode": self.mode}


@keras.saving.register_keras_serializable("Addons", "pinball_loss")
def pinball_loss(y_true, y_pred, tau=0.5):
    """Return the mean over the last axis of the loss of a quantile, `tau`."""
    y_pred = keras.ops.convert_to_tensor(y_pred)
    more = keras.ops.cast(y_true, y_pred.dtype) - y_pred
    tau = keras.ops.expand_dims(keras.ops.cast(tau, y_pred.dtype), 0)
    return keras.ops.mean(keras.ops.maximum(tau * more, (tau - 1) * more), axis=-1)


@keras.saving.register_keras_serializable("Addons", "PinballLoss")
class PinballLoss(keras.losses.Loss):
    """The loss of a quantile, `tau`."""

    def __init__(self, tau=0.5, reduction="sum_over_batch_size", name="pinball_loss"):
        reduction = "sum_over_batch_size" if reduction == "auto" else reduction
        super().__init__(name=name, reduction=reduction)
        self.tau = tau

    def call(self, y_true, y_pred):
        """Return the loss of each sample."""
        return pinball_loss(y_true, y_pred, self.tau)

    def get_config(self):
        """Return the arguments."""
        return {"name": self.name, "reduction": self.reduction, "tau": self.tau}


@keras.saving.register_keras_serializable("Addons", "WeightedKappaLoss")
class WeightedKappaLoss(keras.losses.Loss):
    """The logarithm of 1 less Cohen's weighted kappa, one number for a batch."""

    def __init__(
        self,
        num_classes,
        weightage="quadratic",
        name="cohen_kappa_loss",
        epsilon=1e-6,
        reduction="none",
    ):
        reduction = "sum_over_batch_size" if reduction == "auto" else reduction
        super().__init__(name=name, reduction=reduction)
        if weightage not in {"linear", "quadratic"}:
            raise ValueError(f"weightage is 'linear' or 'quadratic', not {weightage!r}")
        self.weightage = weightage
        self.num_classes = num_classes
        self.epsilon = epsilon or keras.config.epsilon()

    def call(self, y_true, y_pred):
        """Return the loss of the batch, of one-hot labels and of probabilities."""
        labels = keras.ops.arange(self.num_classes, dtype=y_pred.dtype)
        apart = keras.ops.abs(labels[:, None] - labels[None, :])
        apart = apart if self.weightage == "linear" else apart**2
        y_true = keras.ops.cast(y_true, y_pred.dtype)
        counts = keras.ops.sum(y_true, axis=0)
        guesses = keras.ops.mean(y_pred, axis=0)
        wrong = keras.ops.sum((y_true @ apart) * y_pred)
        expected = keras.ops.sum(counts[:, None] * apart * guesses[None, :])
        safe = keras.ops.where(expected == 0, keras.ops.ones_like(expected), expected)
        ratio = keras.ops.where(
            expected == 0, keras.ops.zeros_like(wrong), wrong / safe
        )
        return keras.ops.log(ratio + self.epsilon)

    def get_config(self):
        """Return the arguments."""
        own = {"num_classes": self.num_classes, "weightage": self.weightage}
        own |= {"epsilon": self.epsilon, "reduction": self.reduction}
        return {"name": self.name, **own}
