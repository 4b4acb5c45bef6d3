"""Functions of ``tf.nn`` and ``tf.image``."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals
from kdoctor.rules.backends._tensorflow.guards import no_halves

_SEEDED = "write the layer of keras.layers (RandomFlip, RandomCrop, RandomBrightness, …)"

_CONV = (
    "tensorflow.nn.conv2d(input, filters, strides, padding, data_format='NHWC', dilations=None, "
    "name=None)"
)

REWRITES = (
    # TensorFlow takes the strides of the batch and of the channels, too.
    *(
        rewrite(
            _CONV,
            f'keras.ops.conv(input, filters, strides={stride}, padding="{padding.lower()}")',
            when=equals("strides", [1, stride, stride, 1])
            & equals("padding", padding)
            & equals("data_format", "NHWC")
            & equals("dilations", None),
        )
        for stride in (1, 2)
        for padding in ("SAME", "VALID")
    ),
    # TensorFlow makes float32 of any other type, Keras keeps it. Of half precision TensorFlow has
    # no gradients here, and other methods differ on JAX by more than they may.
    rewrite(
        "tensorflow.image.resize(images, size, method='bilinear', preserve_aspect_ratio=False, "
        "antialias=False, name=None)",
        'keras.ops.image.resize(keras.ops.cast(images, "float32"), size, interpolation=method, '
        "antialias=antialias)",
        when=no_halves() & equals("method", "bilinear"),
    ),
    rewrite(
        "tensorflow.nn.weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None)",
        "(1 - labels) * logits + (1 + (pos_weight - 1) * labels) "
        "* keras.ops.softplus(keras.ops.negative(logits))",
    ),
)

BY_HAND = {
    **{
        f"nn.{name}": "write keras.ops.conv(x, kernel, strides=..., padding='same'), with the "
        "strides of the data alone: [1, 2, 2, 1] is (2, 2)"
        for name in ("conv1d", "conv3d", "convolution")
    },
    **{
        f"nn.{name}": "write keras.ops.conv_transpose(x, kernel, strides, padding=...); it takes "
        "no output_shape"
        for name in ("conv_transpose", "conv1d_transpose", "conv3d_transpose")
    },
    "nn.depthwise_conv2d": "write keras.ops.depthwise_conv(x, kernel, strides=..., padding='same')",
    "nn.separable_conv2d": "write keras.ops.separable_conv(x, depthwise_kernel, "
    "pointwise_kernel, strides=..., padding='same')",
    "nn.avg_pool": "write keras.ops.average_pool(x, pool_size, strides=..., padding='same'), with "
    "the sizes of the window alone: [1, 2, 2, 1] is (2, 2)",
    "nn.batch_normalization": "use keras.layers.BatchNormalization; or write "
    "keras.ops.batch_normalization(x, mean, variance, axis, offset=..., scale=..., epsilon=...)",
    "nn.weighted_cross_entropy_with_logits": "multiply keras.ops.binary_crossentropy(labels, "
    "logits, from_logits=True) by the weights",
    "nn.local_response_normalization": "keras.ops has none: write it with keras.ops.average_pool "
    "of the squares along the channels",
    "image.convert_image_dtype": "write keras.ops.cast(x, dtype), and divide by 255 where it was "
    "an integer",
    "image.crop_and_resize": "keras.ops has none: sample with "
    "keras.ops.image.map_coordinates or keras.ops.image.affine_transform",
    "image.extract_patches": "write keras.ops.image.extract_patches(images, size, strides=..., "
    "padding='valid'), with the sizes of the image alone: [1, 2, 2, 1] is (2, 2)",
    "image.non_max_suppression": "keras.ops has none: keep it after the model, outside of `call`",
    "image.combined_non_max_suppression": "keras.ops has none: keep it after the model, outside "
    "of `call`",
    "image.pad_to_bounding_box": "write keras.ops.image.pad_images(images, top, left, "
    "target_height=..., target_width=...)",
    "image.crop_to_bounding_box": "write keras.ops.image.crop_images(images, top, left, "
    "target_height=..., target_width=...)",
    "image.per_image_standardization": "write it with keras.ops.mean and keras.ops.std of the "
    "last three axes",
    "image.ssim": "keras.ops has none: write it with keras.ops.conv of a Gaussian window",
    **{
        f"image.random_{name}": _SEEDED
        for name in (
            *("brightness", "contrast", "crop", "flip_left_right", "flip_up_down", "hue"),
            "saturation",
        )
    },
}
