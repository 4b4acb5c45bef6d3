"""Functions for images of tensorflow_addons, on TensorFlow: datasets use them."""

import tensorflow as tf


def as_batch(images):
    """Return images of rank 2, 3 or 4 as `(count, height, width, channels)`."""
    rank = images.shape.rank
    if rank is None:
        rank = tf.rank(images)
        before = tf.ones([tf.cast(rank < 4, tf.int32)], tf.int32)
        behind = tf.ones([tf.cast(rank < 3, tf.int32)], tf.int32)
        return tf.reshape(images, tf.concat([before, tf.shape(images), behind], 0))
    if rank not in {2, 3, 4}:
        raise ValueError(f"images have rank 2, 3 or 4, not {rank}")
    images = images[..., None] if rank == 2 else images
    return images if rank == 4 else images[None]


def as_given(batch, images):
    """Return a batch with the rank that the images had."""
    rank = images.shape.rank
    if rank is None:
        rank = tf.rank(images)
        first, last = tf.cast(rank < 4, tf.int32), 4 - tf.cast(rank < 3, tf.int32)
        return tf.reshape(batch, tf.shape(batch)[first:last])
    batch = batch if rank == 4 else batch[0]
    return batch[..., 0] if rank == 2 else batch


def transform(
    images,
    transforms,
    interpolation="nearest",
    fill_mode="constant",
    output_shape=None,
    name=None,
    fill_value=0.0,
):
    """Return images whose points are those where `transforms`, 8 numbers each, lead."""
    images = tf.convert_to_tensor(images)
    transforms = tf.convert_to_tensor(transforms, dtype=tf.float32)
    batch = as_batch(images)
    size = tf.shape(batch)[1:3] if output_shape is None else output_shape
    moved = tf.raw_ops.ImageProjectiveTransformV3(
        images=batch,
        transforms=transforms[None] if len(transforms.shape) == 1 else transforms,
        output_shape=tf.convert_to_tensor(size, tf.int32),
        interpolation=interpolation.upper(),
        fill_mode=fill_mode.upper(),
        fill_value=tf.convert_to_tensor(fill_value, tf.float32),
    )
    return as_given(moved, images)


def angles_to_projective_transforms(angles, image_height, image_width, name=None):
    """Return the transforms that turn images about their centres, counterclockwise."""
    angles = tf.convert_to_tensor(angles, dtype=tf.float32)
    angles = angles[None] if len(angles.shape) == 0 else angles
    cosine, sine = tf.cos(angles), tf.sin(angles)
    right, below = image_width - 1, image_height - 1
    x = (right - (cosine * right - sine * below)) / 2.0
    y = (below - (sine * right + cosine * below)) / 2.0
    rows = tf.stack([cosine, -sine, x, sine, cosine, y], axis=1)
    return tf.concat([rows, tf.zeros((tf.shape(angles)[0], 2))], axis=1)


def rotate(
    images,
    angles,
    interpolation="nearest",
    fill_mode="constant",
    name=None,
    fill_value=0.0,
):
    """Return images that are turned counterclockwise, by radians."""
    images = tf.convert_to_tensor(images)
    batch = as_batch(images)
    height = tf.cast(tf.shape(batch)[1], tf.float32)
    width = tf.cast(tf.shape(batch)[2], tf.float32)
    turns = angles_to_projective_transforms(angles, height, width)
    turned = transform(batch, turns, interpolation, fill_mode, fill_value=fill_value)
    return as_given(turned, images)


def translations_to_projective_transforms(translations, name=None):
    """Return the transforms that move images, each by `(dx, dy)`."""
    moves = tf.convert_to_tensor(translations, dtype=tf.float32)
    moves = moves[None] if len(moves.shape) == 1 else moves
    zeros = tf.zeros_like(moves[:, :1])
    ones = tf.ones_like(zeros)
    x, y = -moves[:, :1], -moves[:, 1:2]
    return tf.concat([ones, zeros, x, zeros, ones, y, zeros, zeros], axis=1)


def translate(
    images,
    translations,
    interpolation="nearest",
    fill_mode="constant",
    name=None,
    fill_value=0.0,
):
    """Return images that are moved, each by `(dx, dy)`."""
    moves = translations_to_projective_transforms(translations)
    return transform(images, moves, interpolation, fill_mode, fill_value=fill_value)


def compose_transforms(transforms, name=None):
    """Return one transform that does what several do one after the other."""
    if not transforms:
        raise AssertionError("transforms cannot be empty")
    matrices = []
    for each in transforms:
        rows = tf.reshape(tf.convert_to_tensor(each), [-1, 8])
        ones = tf.ones([tf.shape(rows)[0], 1])
        matrices.append(tf.reshape(tf.concat([rows, ones], axis=1), [-1, 3, 3]))
    composed = matrices[0]
    for each in matrices[1:]:
        composed = tf.matmul(composed, each)
    composed = tf.reshape(composed, [-1, 9])
    return (composed / composed[:, 8:9])[:, :8]


def gaussian_filter2d(
    image,
    filter_shape=(3, 3),
    sigma=1.0,
    padding="REFLECT",
    constant_values=0,
    name=None,
):
    """Return images blurred by a Gaussian of these standard deviations, in pixels."""
    image = tf.convert_to_tensor(image)
    batch = as_batch(image)
    if not batch.dtype.is_floating:
        batch = tf.cast(batch, tf.float32)
    sizes = (
        (filter_shape,) * 2 if isinstance(filter_shape, int) else tuple(filter_shape)
    )
    sigmas = tuple(sigma) if isinstance(sigma, (list, tuple)) else (sigma,) * 2
    if len(sigmas) != 2 or min(sigmas) < 0:
        raise ValueError(f"sigma is a number or two, not below 0: {sigma}")
    lines = []
    for size, deviation in zip(sizes, sigmas):
        steps = tf.cast(tf.range(-size // 2 + 1, size // 2 + 1) ** 2, batch.dtype)
        variance = tf.cast(deviation, batch.dtype) ** 2
        lines.append(tf.nn.softmax(-steps / (2.0 * variance)))
    kernel = (lines[0][:, None] * lines[1][None, :])[:, :, None, None]
    kernel = tf.tile(kernel, [1, 1, tf.shape(batch)[3], 1])
    pads = [((size - 1) // 2, size - 1 - (size - 1) // 2) for size in sizes]
    fill = tf.cast(constant_values, batch.dtype)
    padded = tf.pad(batch, [(0, 0), *pads, (0, 0)], padding, fill)
    blurred = tf.nn.depthwise_conv2d(padded, kernel, (1, 1, 1, 1), "VALID")
    return tf.cast(as_given(blurred, image), image.dtype)


def halved_mask(mask_size):
    """Return half of the height and of the width of a mask."""
    mask_size = tf.broadcast_to(mask_size, (2,))
    tf.debugging.assert_equal(mask_size % 2, 0, "mask_size should be divisible by 2")
    return mask_size // 2


def cutout(images, mask_size, offset=(0, 0), constant_values=0):
    """Fill a rectangle of each image, around its offset."""
    images = tf.convert_to_tensor(images)
    half = halved_mask(mask_size)
    centers = tf.reshape(tf.cast(offset, "int32"), (-1, 2))
    masks = []
    for axis in (0, 1):
        places = tf.range(tf.shape(images)[axis + 1])[None]
        center = centers[:, axis : axis + 1]
        is_behind = places >= center - half[axis]
        masks.append(tf.logical_and(is_behind, places < center + half[axis]))
    mask = tf.logical_and(masks[0][:, :, None], masks[1][:, None, :])
    return tf.where(mask[..., None], tf.cast(constant_values, images.dtype), images)


def random_cutout(images, mask_size, constant_values=0, seed=None):
    """Fill a rectangle of each image, somewhere."""
    images = tf.convert_to_tensor(images)
    half = halved_mask(mask_size)
    centers = []
    for axis in (0, 1):
        size = tf.shape(images)[axis + 1]
        fits = half[axis] < size - half[axis]
        low = tf.where(fits, half[axis], size // 2)
        high = tf.where(fits, size - half[axis], size // 2 + 1)
        count = tf.shape(images)[:1]
        centers.append(tf.random.uniform(count, low, high, "int32", seed))
    return cutout(images, mask_size, tf.stack(centers, axis=1), constant_values)
