"""Functions of ``tf.nn`` and ``tf.image``."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, one_of
from kdoctor.rules.idioms._tensorflow.guards import resize_method, window
from kdoctor.rules.names._backend.number_guards import whole_numbers

_OF_FEATURES = ("relu", "relu6", "elu", "selu", "softplus", "softsign")
_POOL = "(input, ksize, strides, padding, data_format='NHWC', name=None)"
_CONV = (
    "tensorflow.nn.conv2d(input, filters, strides, padding, data_format='NHWC', dilations=None, "
    "name=None)"
)

REWRITES = (
    *(
        rewrite(f"tensorflow.nn.{name}(features, name=None)", f"keras.ops.{name}(features)")
        for name in _OF_FEATURES
    ),
    rewrite(
        "tensorflow.nn.gelu(features, approximate=False, name=None)",
        "keras.ops.gelu(features, approximate=approximate)",
    ),
    rewrite(
        "tensorflow.nn.silu(features, beta=1.0)",
        "keras.ops.silu(features)",
        when=equals("beta", 1.0),
    ),
    rewrite(
        "tensorflow.nn.leaky_relu(features, alpha=0.2, name=None)",
        "keras.ops.leaky_relu(features, negative_slope=alpha)",
    ),
    *(
        rewrite(
            f"tensorflow.nn.{name}(logits, axis=None, name=None)",
            f"keras.ops.{name}(logits, axis={axis})",
            when=guard,
        )
        for name in ("softmax", "log_softmax")
        for axis, guard in (("axis", whole_numbers("axis")), ("-1", equals("axis", None)))
    ),
    rewrite(
        "tensorflow.nn.bias_add(value, bias, data_format=None, name=None)",
        "value + bias",
        when=one_of("data_format", None, "NHWC", "N...C"),
    ),
    rewrite(
        "tensorflow.nn.dropout(x, rate, noise_shape=None, seed=None, name=None)",
        "keras.random.dropout(x, rate)",
        when=equals("noise_shape", None) & equals("seed", None),
    ),
    rewrite("tensorflow.nn.l2_loss(t, name=None)", "keras.ops.sum(keras.ops.square(t)) / 2"),
    *(
        rewrite(
            f"tensorflow.nn.{old}{_POOL}",
            f'keras.ops.{new}(input, ksize, strides=strides, padding="{padding.lower()}")',
            when=window("ksize", "strides")
            & equals("padding", padding)
            & equals("data_format", "NHWC"),
        )
        for old, new in (("max_pool2d", "max_pool"), ("avg_pool2d", "average_pool"))
        for padding in ("SAME", "VALID")
    ),
    *(
        rewrite(
            _CONV,
            f'keras.ops.conv(input, filters, strides=strides, padding="{padding.lower()}")',
            when=window("strides")
            & equals("padding", padding)
            & equals("data_format", "NHWC")
            & equals("dilations", None),
        )
        for padding in ("SAME", "VALID")
    ),
    *(
        rewrite(
            f"tensorflow.nn.{name}(input, block_size, data_format='NHWC', name=None)",
            f"keras.ops.{name}(input, block_size)",
            when=equals("data_format", "NHWC"),
        )
        for name in ("depth_to_space", "space_to_depth")
    ),
    rewrite(
        "tensorflow.nn.softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None)",
        "keras.ops.categorical_crossentropy(labels, logits, from_logits=True)",
        when=equals("axis", -1),
    ),
    rewrite(
        "tensorflow.nn.sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None)",
        "keras.ops.binary_crossentropy(labels, logits, from_logits=True)",
    ),
    rewrite(
        "tensorflow.nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name=None)",
        "keras.ops.sparse_categorical_crossentropy(labels, logits, from_logits=True)",
    ),
    rewrite(
        "tensorflow.image.resize(images, size, method='bilinear', preserve_aspect_ratio=False, "
        "antialias=False, name=None)",
        "keras.ops.image.resize(images, size, interpolation=method, antialias=antialias)",
        when=equals("method", "nearest"),
    ),
    # TensorFlow makes float32 of any other type, Keras keeps it.
    rewrite(
        "tensorflow.image.resize(images, size, method='bilinear', preserve_aspect_ratio=False, "
        "antialias=False, name=None)",
        "keras.ops.image.resize(images, size, interpolation=method, antialias=antialias)",
        when=resize_method("method"),
    ),
    rewrite("tensorflow.image.flip_left_right(image)", "keras.ops.flip(image, axis=-2)"),
    rewrite("tensorflow.image.flip_up_down(image)", "keras.ops.flip(image, axis=-3)"),
    rewrite(
        "tensorflow.image.rgb_to_grayscale(images, name=None)",
        "keras.ops.image.rgb_to_grayscale(images)",
    ),
)

BY_HAND = {
    "nn.max_pool": "write keras.ops.max_pool(x, pool_size, strides=..., padding='same'), with the "
    "sizes of the window alone: [1, 2, 2, 1] is (2, 2)",
    "nn.max_pool2d": "write keras.ops.max_pool(x, pool_size, strides=..., padding='same'), with "
    "the sizes of the window alone: [1, 2, 2, 1] is (2, 2)",
    "nn.avg_pool2d": "write keras.ops.average_pool(x, pool_size, strides=..., padding='same'), "
    "with the sizes of the window alone: [1, 2, 2, 1] is (2, 2)",
    "nn.conv2d": "write keras.ops.conv(x, kernel, strides=..., padding='same'), with the strides "
    "of the image alone: [1, 2, 2, 1] is (2, 2)",
    "nn.conv2d_transpose": "write keras.ops.conv_transpose(x, kernel, strides, padding=...); it "
    "takes no output_shape",
    "nn.batch_normalization": "write keras.ops.batch_normalization(x, mean, variance, axis, "
    "offset=..., scale=..., epsilon=...)",
    "nn.embedding_lookup": "write keras.ops.take(params, ids, axis=0)",
    "image.resize": "write keras.ops.image.resize(images, size, interpolation=...); it has no "
    "preserve_aspect_ratio, and knows nearest, bilinear, bicubic, lanczos3 and lanczos5",
    "image.crop_and_resize": "Keras 3 has no equivalent: keep it, in a custom layer",
}
