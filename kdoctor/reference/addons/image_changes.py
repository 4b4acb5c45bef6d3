"""Changes of images of tensorflow_addons, on TensorFlow: datasets use them."""

import tensorflow as tf

from kdoctor.reference.addons.images import as_batch, as_given, transform, translate


def padded_images(batch, sizes, padding, constant_values):
    """Return images with what a filter of these sizes reads beyond their edges."""
    if padding.upper() not in {"REFLECT", "CONSTANT", "SYMMETRIC"}:
        raise ValueError("padding is REFLECT, CONSTANT or SYMMETRIC")
    pads = [((size - 1) // 2, size - 1 - (size - 1) // 2) for size in sizes]
    fill = tf.cast(constant_values, batch.dtype)
    return tf.pad(batch, [(0, 0), *pads, (0, 0)], padding, fill)


def mean_filter2d(
    image, filter_shape=(3, 3), padding="REFLECT", constant_values=0, name=None
):
    """Return images of which each pixel is the mean of those around it."""
    image = tf.convert_to_tensor(image)
    batch = as_batch(image)
    if not batch.dtype.is_floating:
        batch = tf.cast(batch, tf.float32)
    sizes = (
        (filter_shape,) * 2 if isinstance(filter_shape, int) else tuple(filter_shape)
    )
    batch = padded_images(batch, sizes, padding, constant_values)
    kernel = tf.ones((*sizes, tf.shape(batch)[3], 1), batch.dtype)
    found = tf.nn.depthwise_conv2d(batch, kernel, (1, 1, 1, 1), "VALID")
    found = found / tf.cast(sizes[0] * sizes[1], batch.dtype)
    return tf.cast(as_given(found, image), image.dtype)


def median_filter2d(
    image, filter_shape=(3, 3), padding="REFLECT", constant_values=0, name=None
):
    """Return images of which each pixel is the median of those around it."""
    image = tf.convert_to_tensor(image)
    batch = as_batch(image)
    sizes = (
        (filter_shape,) * 2 if isinstance(filter_shape, int) else tuple(filter_shape)
    )
    shape, area = tf.shape(batch), sizes[0] * sizes[1]
    padded = padded_images(batch, sizes, padding, constant_values)
    ones = [1, 1, 1, 1]
    parts = tf.image.extract_patches(padded, [1, *sizes, 1], ones, ones, "VALID")
    parts = tf.reshape(parts, [shape[0], shape[1], shape[2], area, shape[3]])
    parts = tf.transpose(parts, [0, 1, 2, 4, 3])
    top = tf.nn.top_k(parts, k=area // 2 + 1).values
    median = top[..., area // 2]
    if area % 2 == 0:
        median = (top[..., area // 2 - 1] + median) / 2
    return as_given(tf.cast(median, batch.dtype), image)


def blend(image1, image2, factor):
    """Return what is between two images, or beyond the second one."""
    if not tf.is_symbolic_tensor(factor) and factor in (0.0, 1.0):
        return tf.convert_to_tensor(image2 if factor == 1.0 else image1)
    first, second = tf.cast(image1, tf.float32), tf.cast(image2, tf.float32)
    factor = tf.cast(factor, tf.float32)
    found = first + factor * (second - first)
    is_between = tf.logical_and(factor > 0.0, factor < 1.0)
    clipped = tf.clip_by_value(found, 0.0, 255.0)
    found = tf.round(tf.where(is_between, found, clipped))
    found = tf.where(tf.equal(factor, 1.0), second, found)
    return tf.where(tf.equal(factor, 0.0), first, found)


def sharpness(image, factor, name=None):
    """Return images that are sharper, or blurred below 1."""
    image = tf.convert_to_tensor(image)
    batch = as_batch(image)
    kernel = tf.constant([[1.0, 1.0, 1.0], [1.0, 5.0, 1.0], [1.0, 1.0, 1.0]]) / 13.0
    kernel = tf.tile(kernel[:, :, None, None], [1, 1, tf.shape(batch)[3], 1])
    floats = tf.cast(batch, tf.float32)
    inner = tf.nn.depthwise_conv2d(floats, kernel, [1, 1, 1, 1], "VALID")
    inner = tf.cast(inner, batch.dtype)
    pads = [(0, 0), (1, 1), (1, 1), (0, 0)]
    is_inner = tf.equal(tf.pad(tf.ones_like(inner), pads), 1)
    blurred = tf.where(is_inner, tf.pad(inner, pads), batch)
    found = blend(blurred, batch, factor)
    return as_given(tf.cast(found, batch.dtype), image)


def equalize(image, bins=256, name=None):
    """Return images whose values are as often each, channel by channel."""
    image = tf.convert_to_tensor(image)
    batch = as_batch(image)
    shape = tf.shape(batch)
    rows = tf.transpose(batch, [0, 3, 1, 2])
    rows = tf.reshape(tf.cast(rows, tf.int32), [shape[0] * shape[3], -1])

    def equalized(row):
        counts = tf.histogram_fixed_width(row, [0, bins - 1], nbins=bins)
        used = tf.boolean_mask(counts, counts != 0)
        step = (tf.reduce_sum(used) - used[-1]) // (bins - 1)
        least = tf.maximum(step, 1)
        table = (tf.cumsum(counts, exclusive=True) + least // 2) // least
        place = tf.clip_by_value(row, 0, bins - 1)
        found = tf.gather(tf.clip_by_value(table, 0, bins - 1), place)
        return tf.where(step == 0, row, found)

    found = tf.map_fn(equalized, rows)
    found = tf.reshape(found, [shape[0], shape[3], shape[1], shape[2]])
    found = tf.cast(tf.transpose(found, [0, 2, 3, 1]), image.dtype)
    return as_given(found, image)


def adjust_hsv_in_yiq(image, delta_hue=0, scale_saturation=1, scale_value=1, name=None):
    """Return images of other hue, saturation and value, by way of YIQ."""
    given = tf.convert_to_tensor(image)
    image = given
    if not image.dtype.is_floating:
        image = tf.image.convert_image_dtype(image, tf.float32)
    if image.shape.rank is not None and image.shape.rank < 3:
        raise ValueError("input must be at least 3-D.")
    if image.shape[-1] not in (None, 3):
        raise ValueError(f"input must have 3 channels but has {image.shape[-1]}.")
    hue, saturation, value = (
        tf.cast(each, image.dtype)
        for each in (delta_hue, scale_saturation, scale_value)
    )
    to_yiq = [[0.299, 0.596, 0.211], [0.587, -0.274, -0.523], [0.114, -0.322, 0.312]]
    back = [
        [1.0, 1.0, 1.0],
        [0.95617069, -0.2726886, -1.103744],
        [0.62143257, -0.64681324, 1.70062309],
    ]
    wide = value * saturation
    u, w = wide * tf.cos(hue), wide * tf.sin(hue)
    none = tf.zeros_like(value)
    turn = tf.stack([[value, none, none], [none, u, w], [none, -w, u]])
    matrix = tf.constant(to_yiq, image.dtype) @ turn @ tf.constant(back, image.dtype)
    found = tf.tensordot(image, matrix, 1)
    return tf.image.convert_image_dtype(found, given.dtype)


def random_hsv_in_yiq(
    image,
    max_delta_hue=0,
    lower_saturation=1,
    upper_saturation=1,
    lower_value=1,
    upper_value=1,
    seed=None,
    name=None,
):
    """Return images of a random hue, saturation and value."""
    if min(max_delta_hue, lower_saturation, lower_value) < 0:
        raise ValueError("bounds must not be negative")
    if lower_saturation > upper_saturation or lower_value > upper_value:
        raise ValueError("lower bounds must not be greater than upper ones")
    drawn = []
    for low, high in (
        (-max_delta_hue, max_delta_hue),
        (lower_saturation, upper_saturation),
        (lower_value, upper_value),
    ):
        is_one = low == high
        drawn.append(low if is_one else tf.random.uniform([], low, high, seed=seed))
    return adjust_hsv_in_yiq(image, *drawn)


def changed_where_it_was(image, change, replace):
    """Return a changed image, with `replace` where nothing of it is now."""
    image = tf.convert_to_tensor(image)
    found = change(tf.concat([image, tf.ones_like(image[:, :, :1])], 2))
    is_image = tf.equal(found[:, :, 3:], 1)
    return tf.where(is_image, found[:, :, :3], tf.cast(replace, image.dtype))


def shear_x(image, level, replace):
    """Return an image whose rows are moved, each more than the last."""
    matrix = [1.0, level, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    return changed_where_it_was(image, lambda each: transform(each, matrix), replace)


def shear_y(image, level, replace):
    """Return an image whose columns are moved, each more than the last."""
    matrix = [1.0, 0.0, 0.0, level, 1.0, 0.0, 0.0, 0.0]
    return changed_where_it_was(image, lambda each: transform(each, matrix), replace)


def translate_xy(image, translate_to, replace):
    """Return an image that is moved by `[x, y]`."""
    move = tf.cast(translate_to, tf.float32)
    return changed_where_it_was(image, lambda each: translate(each, move), replace)


def connected_components(images, name=None):
    """Return the number of the component that each pixel belongs to, 0 for none."""
    given = tf.convert_to_tensor(images)
    if given.shape.rank not in (2, 3):
        raise TypeError(f"images should have rank 2 (HW) or 3 (NHW): {given.shape}")
    batch = given if given.shape.rank == 3 else given[None]
    batch = tf.cast(batch, tf.int32) if batch.dtype == tf.bool else batch
    is_there = batch != 0
    numbers = tf.reshape(tf.range(tf.size(batch)), tf.shape(batch))

    def lowered(labels, axis):
        order = [0, 1, 2] if axis == 1 else [0, 2, 1]
        own, values, there = (
            tf.transpose(each, order) for each in (labels, batch, is_there)
        )
        is_same = tf.logical_and(values[:, 1:] == values[:, :-1], there[:, 1:])
        least = tf.minimum(own[:, 1:], own[:, :-1])
        below = tf.concat([own[:, :1], tf.where(is_same, least, own[:, 1:])], 1)
        above = tf.concat([tf.where(is_same, least, own[:, :-1]), own[:, -1:]], 1)
        return tf.transpose(tf.minimum(below, above), order)

    def step(labels, _):
        found = lowered(lowered(labels, 1), 2)
        found = tf.gather(tf.reshape(found, [-1]), found)
        return found, tf.reduce_any(found != labels)

    labels, _ = tf.while_loop(lambda _, goes_on: goes_on, step, (numbers, True))
    is_first = tf.logical_and(labels == numbers, is_there)
    ids = tf.cumsum(tf.reshape(tf.cast(is_first, tf.int32), [-1]))
    found = tf.where(is_there, tf.gather(ids, labels), 0)
    return found if given.shape.rank == 3 else found[0]


def euclidean_dist_transform(images, dtype=tf.float32, name=None):
    """Return how far each pixel is from the nearest 0, of bytes."""
    given = tf.convert_to_tensor(images)
    if given.dtype != tf.uint8:
        raise TypeError(f"Invalid dtype {given.dtype}. Expected uint8.")
    if dtype not in (tf.float16, tf.float32, tf.float64):
        raise TypeError("`dtype` must be float16, float32 or float64")
    batch = as_batch(given)
    is_zero = batch == 0
    inner = tf.float64 if dtype == tf.float64 else tf.float32
    far = tf.constant(1e9, inner)

    def distances(rows):
        first = tf.zeros_like(rows[0], inner) + far

        def walk(last, zero):
            return tf.where(zero, tf.zeros_like(last), last + 1)

        return tf.scan(walk, rows, first)

    rows = tf.transpose(is_zero, [1, 0, 2, 3])
    behind = distances(rows[::-1])[::-1]
    square = tf.minimum(distances(rows), behind) ** 2
    square = tf.transpose(square, [1, 0, 2, 3])
    columns = tf.cast(tf.range(tf.shape(batch)[2]), inner)[None, None, :, None]

    def nearest(column):
        apart = (columns - tf.cast(column, inner)) ** 2
        return tf.reduce_min(square + apart, axis=2)

    every = tf.range(tf.shape(batch)[2])
    found = tf.map_fn(nearest, every, fn_output_signature=inner)
    found = tf.sqrt(tf.transpose(found, [1, 2, 0, 3]))
    has_zero = tf.reduce_any(is_zero, axis=[1, 2], keepdims=True)
    found = tf.where(has_zero, tf.cast(found, dtype), tf.cast(dtype.max**0.5, dtype))
    return as_given(found, given)
