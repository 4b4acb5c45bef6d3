"""Functions of ``keras.backend`` that layers and losses are made of."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, not_none, one_of
from kdoctor.rules.names._backend.number_guards import whole_numbers
from kdoctor.rules.names._backend.unknown_rank import rank_is_known, where_rank_is_known
from kdoctor.rules.names._backend.value_guards import nothing_sparse, of_rank, somewhere

_POOL_2D = (
    "keras.backend.pool2d("
    "x, pool_size, strides=(1, 1), padding='valid', data_format=None, pool_mode='max')"
)
_POOL_3D = (
    "keras.backend.pool3d("
    "x, pool_size, strides=(1, 1, 1), padding='valid', data_format=None, pool_mode='max')"
)
_POOLED = "(x, pool_size, strides=strides, padding=padding, data_format=data_format)"
_CONVOLVED = (
    "(x, {}, strides=strides, padding=padding, data_format=data_format, "
    "dilation_rate=dilation_rate)"
)

REWRITES = (
    # keras.ops.dot takes no sparse tensor, and keras.ops.matmul does: where the second is a
    # matrix, both are the same. Where Keras 2 knew no rank of the first, it took tf.matmul for all.
    rewrite(
        "keras.backend.dot(x, y)",
        "keras.ops.dot(x, y)",
        when=nothing_sparse() & (of_rank(2, "y") | rank_is_known()),
    ),
    rewrite(
        "keras.backend.dot(x, y)", "keras.ops.matmul(x, y)", when=of_rank(2, "y") & rank_is_known()
    ),
    rewrite("keras.backend.dot(x, y)", "keras.ops.dot(x, y)", when=nothing_sparse() & somewhere()),
    rewrite("keras.backend.dot(x, y)", "keras.ops.matmul(x, y)", when=somewhere()),
    rewrite(
        "keras.backend.relu(x, alpha=0.0, max_value=None, threshold=0.0)",
        "keras.ops.relu(x)",
        when=one_of("alpha", 0.0, 0) & equals("max_value", None) & one_of("threshold", 0.0, 0),
    ),
    rewrite(
        "keras.backend.relu(x, alpha=0.0, max_value=None, threshold=0.0)",
        "keras.activations.relu(x, negative_slope=alpha, max_value=max_value)",
        when=one_of("threshold", 0.0, 0),
    ),
    # With a threshold Keras 2 makes NaN of minus infinity.
    rewrite(
        "keras.backend.relu(x, alpha=0.0, max_value=None, threshold=0.0)",
        "keras.activations.relu(x, negative_slope=alpha, max_value=max_value, threshold=threshold)",
    ),
    rewrite("keras.backend.elu(x, alpha=1.0)", "keras.ops.elu(x, alpha)"),
    rewrite("keras.backend.softmax(x, axis=-1)", "keras.ops.softmax(x, axis)"),
    rewrite("keras.backend.softplus(x)", "keras.ops.softplus(x)"),
    rewrite("keras.backend.softsign(x)", "keras.ops.softsign(x)"),
    rewrite("keras.backend.sigmoid(x)", "keras.ops.sigmoid(x)"),
    # keras.ops.hard_sigmoid is another function: relu6(x + 3) / 6.
    rewrite("keras.backend.hard_sigmoid(x)", "keras.ops.clip(0.2 * x + 0.5, 0.0, 1.0)"),
    rewrite("keras.backend.tanh(x)", "keras.ops.tanh(x)"),
    # epsilon: K.l2_normalize bounds the square of the norm by 1e-12, so the norm by 1e-6.
    rewrite(
        "keras.backend.l2_normalize(x, axis=None)",
        "keras.ops.normalize(x, axis=axis, order=2, epsilon=1e-6)",
        when=whole_numbers("axis") & rank_is_known(),
    ),
    rewrite(
        "keras.backend.l2_normalize(x, axis=None)",
        "x * keras.ops.rsqrt(keras.ops.maximum(keras.ops.sum(keras.ops.square(x)), 1e-12))",
        when=equals("axis", None),
    ),
    rewrite(
        "keras.backend.l2_normalize(x, axis=None)",
        "keras.ops.normalize(x, axis=axis, order=2, epsilon=1e-6)",
        when=not_none("axis") & somewhere(),
    ),
    # Of probabilities Keras 2 takes the logarithm of p + epsilon: at 0 and 1 they differ by 0.7.
    *where_rank_is_known(
        "keras.backend.binary_crossentropy(target, output, from_logits=False)",
        "keras.ops.binary_crossentropy(target, output, from_logits=from_logits)",
        when=equals("from_logits", True),
    ),
    rewrite(
        "keras.backend.binary_crossentropy(target, output, from_logits=False)",
        "keras.ops.binary_crossentropy(target, output, from_logits=from_logits)",
    ),
    *where_rank_is_known(
        "keras.backend.categorical_crossentropy(target, output, from_logits=False, axis=-1)",
        "keras.ops.categorical_crossentropy(target, output, from_logits=from_logits)",
        # While a functional model is built, Keras 3 takes the last axis for the classes'.
        when=equals("axis", -1),
    ),
    *where_rank_is_known(
        "keras.backend.sparse_categorical_crossentropy("
        "target, output, from_logits=False, axis=-1, ignore_class=None)",
        "keras.ops.sparse_categorical_crossentropy(target, output, from_logits=from_logits)",
        when=equals("axis", -1) & equals("ignore_class", None),
    ),
    *where_rank_is_known(
        "keras.backend.categorical_focal_crossentropy("
        "target, output, alpha=0.25, gamma=2.0, from_logits=False, axis=-1)",
        "keras.losses.categorical_focal_crossentropy("
        "target, output, alpha=alpha, gamma=gamma, from_logits=from_logits, axis=axis)",
    ),
    # Here targets come first.
    rewrite(
        "keras.backend.in_top_k(predictions, targets, k)",
        "keras.ops.in_top_k(targets, predictions, k)",
    ),
    rewrite(
        "keras.backend.bias_add(x, bias, data_format=None)",
        "x + bias",
        when=equals("data_format", "channels_last"),
    ),
    # Where keras.config.image_data_format() says channels_last, as it does unless it is told.
    rewrite(
        "keras.backend.bias_add(x, bias, data_format=None)",
        "x + bias",
        when=equals("data_format", None) & somewhere(),
    ),
    *where_rank_is_known(
        "keras.backend.bias_add(x, bias, data_format=None)",
        "x + keras.ops.reshape(bias, (-1,) + (1,) * (len(x.shape) - 2))",
        when=equals("data_format", "channels_first"),
    ),
    # `self.data_format`, as in layers that were copied from Keras 2.
    *where_rank_is_known(
        "keras.backend.bias_add(x, bias, data_format=None)",
        "x + (keras.ops.reshape(bias, (-1,) + (1,) * (len(x.shape) - 2)) if (data_format or "
        'keras.config.image_data_format()) == "channels_first" else bias)',
    ),
    *where_rank_is_known(
        "keras.backend.conv1d("
        "x, kernel, strides=1, padding='valid', data_format=None, dilation_rate=1)",
        f"keras.ops.conv{_CONVOLVED.format('kernel')}",
        when=one_of("padding", "valid", "same"),
    ),
    *where_rank_is_known(
        "keras.backend.conv2d("
        "x, kernel, strides=(1, 1), padding='valid', data_format=None, dilation_rate=(1, 1))",
        f"keras.ops.conv{_CONVOLVED.format('kernel')}",
    ),
    *where_rank_is_known(
        "keras.backend.conv3d("
        "x, kernel, strides=(1, 1, 1), padding='valid', data_format=None, "
        "dilation_rate=(1, 1, 1))",
        "keras.ops.conv(x, kernel, strides=strides, padding=padding, data_format=data_format)",
        when=one_of("dilation_rate", (1, 1, 1), 1),
    ),
    *where_rank_is_known(
        "keras.backend.depthwise_conv2d(x, depthwise_kernel, "
        "strides=(1, 1), padding='valid', data_format=None, dilation_rate=(1, 1))",
        f"keras.ops.depthwise_conv{_CONVOLVED.format('depthwise_kernel')}",
    ),
    *where_rank_is_known(
        "keras.backend.separable_conv1d(x, depthwise_kernel, pointwise_kernel, "
        "strides=1, padding='valid', data_format=None, dilation_rate=1)",
        f"keras.ops.separable_conv{_CONVOLVED.format('depthwise_kernel, pointwise_kernel')}",
    ),
    *where_rank_is_known(
        "keras.backend.separable_conv2d(x, depthwise_kernel, pointwise_kernel, "
        "strides=(1, 1), padding='valid', data_format=None, dilation_rate=(1, 1))",
        f"keras.ops.separable_conv{_CONVOLVED.format('depthwise_kernel, pointwise_kernel')}",
    ),
    *where_rank_is_known(_POOL_2D, f"keras.ops.max_pool{_POOLED}", when=equals("pool_mode", "max")),
    *where_rank_is_known(
        _POOL_2D, f"keras.ops.average_pool{_POOLED}", when=equals("pool_mode", "avg")
    ),
    *where_rank_is_known(_POOL_3D, f"keras.ops.max_pool{_POOLED}", when=equals("pool_mode", "max")),
    *where_rank_is_known(
        _POOL_3D, f"keras.ops.average_pool{_POOLED}", when=equals("pool_mode", "avg")
    ),
    rewrite(
        "keras.backend.batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=0.001)",
        "keras.ops.batch_normalization("
        "x, mean, var, axis, offset=beta, scale=gamma, epsilon=epsilon)",
        when=somewhere(),
    ),
    rewrite(
        "keras.backend.ctc_batch_cost(y_true, y_pred, input_length, label_length)",
        "keras.ops.expand_dims(keras.ops.ctc_loss(y_true, keras.ops.log(y_pred + "
        'keras.config.epsilon()), keras.ops.cast(label_length[:, 0], "int32"), '
        'keras.ops.cast(input_length[:, 0], "int32"), mask_index=y_pred.shape[-1] - 1), 1)',
        when=somewhere(),
    ),
    # No Keras ever had it, though people write it.
    rewrite("keras.backend.matmul(a, b)", "keras.ops.matmul(a, b)"),
)

BY_HAND = {
    "l2_normalize": "over all axes write x / keras.ops.sqrt(keras.ops.maximum("
    "keras.ops.sum(keras.ops.square(x)), 1e-12)); note that keras.ops.normalize without an axis "
    "uses the last one",
    "categorical_crossentropy": "write keras.ops.categorical_crossentropy(target, output, "
    "from_logits=..., axis=...); while a functional model is built, only axis=-1 works",
    "bias_add": "write x + bias for channels_last; for channels_first give the bias the shape "
    "(channels, 1, ...) first",
    "dot": "keras.ops.dot does not accept sparse tensors; keras.ops.matmul does, and is the same "
    "for matrices, but not where x has two axes and y has more",
    "batch_normalization": "write keras.ops.batch_normalization(x, mean, var, axis, offset=beta, "
    "scale=gamma, epsilon=epsilon) for one-dimensional statistics: the order of the arguments "
    "differs",
    "normalize_batch_in_training": "write keras.ops.moments and keras.ops.batch_normalization; "
    "or use a keras.layers.BatchNormalization layer",
    "binary_focal_crossentropy": "keras.losses.binary_focal_crossentropy averages over the last "
    "axis, the function of K did not: drop your own mean, or write the formula out",
    "sparse_categorical_crossentropy": "keras.ops.sparse_categorical_crossentropy has no "
    "ignore_class; keras.losses.sparse_categorical_crossentropy has",
    "conv1d": "keras.ops.conv has no padding='causal': pad the start with keras.ops.pad and "
    "convolve with padding='valid'",
    "conv3d": "keras.ops.conv has dilation_rate too; it could not be tested on a CPU",
    "conv2d_transpose": "write keras.ops.conv_transpose(x, kernel, strides, padding=...); it has "
    "no output_shape",
    "conv3d_transpose": "write keras.ops.conv_transpose(x, kernel, strides, padding=...); it has "
    "no output_shape",
    "local_conv1d": "locally connected layers are gone: extract the patches by hand, and multiply "
    "them with keras.ops.einsum",
    "local_conv2d": "locally connected layers are gone: extract the patches with "
    "keras.ops.image.extract_patches, and multiply them with keras.ops.einsum",
    "pool2d": "write keras.ops.max_pool or keras.ops.average_pool, with strides=(1, 1) if you "
    "passed none: their default is the pool size",
    "pool3d": "write keras.ops.max_pool or keras.ops.average_pool, with strides=(1, 1, 1) if you "
    "passed none: their default is the pool size",
    "ctc_batch_cost": "write keras.ops.ctc_loss(y_true, keras.ops.log(y_pred + "
    "keras.config.epsilon()), label_length, input_length, mask_index=number_of_classes - 1): the "
    "blank was the last class in Keras 2, lengths are vectors, and their order is reversed",
    "ctc_decode": "write keras.ops.ctc_decode(..., mask_index=number_of_classes - 1); its result "
    "has another layout",
    "ctc_label_dense_to_sparse": "keras.ops.ctc_loss takes dense labels: remove it",
    "rnn": "use keras.layers.RNN with a custom cell, or keras.ops.scan",
}
