"""The dense networks of keras_contrib for ImageNet."""

from kdoctor.reference.contrib.densenet import DenseNet


def DenseNetImageNet121(
    input_shape=None,
    bottleneck=True,
    reduction=0.5,
    dropout_rate=0.0,
    weight_decay=0.0001,
    include_top=True,
    weights="imagenet",
    input_tensor=None,
    pooling=None,
    classes=1000,
    activation="softmax",
):
    """Build a DenseNet of 121 layers."""
    return DenseNet(
        input_shape,
        121,
        4,
        32,
        64,
        [6, 12, 24, 16],
        bottleneck,
        reduction,
        dropout_rate,
        weight_decay,
        True,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        activation,
    )


def DenseNetImageNet169(
    input_shape=None,
    bottleneck=True,
    reduction=0.5,
    dropout_rate=0.0,
    weight_decay=0.0001,
    include_top=True,
    weights="imagenet",
    input_tensor=None,
    pooling=None,
    classes=1000,
    activation="softmax",
):
    """Build a DenseNet of 169 layers."""
    return DenseNet(
        input_shape,
        169,
        4,
        32,
        64,
        [6, 12, 32, 32],
        bottleneck,
        reduction,
        dropout_rate,
        weight_decay,
        True,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        activation,
    )


def DenseNetImageNet201(
    input_shape=None,
    bottleneck=True,
    reduction=0.5,
    dropout_rate=0.0,
    weight_decay=0.0001,
    include_top=True,
    weights=None,
    input_tensor=None,
    pooling=None,
    classes=1000,
    activation="softmax",
):
    """Build a DenseNet of 201 layers."""
    return DenseNet(
        input_shape,
        201,
        4,
        32,
        64,
        [6, 12, 48, 32],
        bottleneck,
        reduction,
        dropout_rate,
        weight_decay,
        True,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        activation,
    )


def DenseNetImageNet264(
    input_shape=None,
    bottleneck=True,
    reduction=0.5,
    dropout_rate=0.0,
    weight_decay=0.0001,
    include_top=True,
    weights=None,
    input_tensor=None,
    pooling=None,
    classes=1000,
    activation="softmax",
):
    """Build a DenseNet of 264 layers."""
    return DenseNet(
        input_shape,
        264,
        4,
        32,
        64,
        [6, 12, 64, 48],
        bottleneck,
        reduction,
        dropout_rate,
        weight_decay,
        True,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        activation,
    )


def DenseNetImageNet161(
    input_shape=None,
    bottleneck=True,
    reduction=0.5,
    dropout_rate=0.0,
    weight_decay=0.0001,
    include_top=True,
    weights="imagenet",
    input_tensor=None,
    pooling=None,
    classes=1000,
    activation="softmax",
):
    """Build a DenseNet of 161 layers."""
    return DenseNet(
        input_shape,
        161,
        4,
        48,
        96,
        [6, 12, 36, 24],
        bottleneck,
        reduction,
        dropout_rate,
        weight_decay,
        True,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        activation,
    )
