"""Functions of tensorflow_addons that read images between their pixels."""

import keras


def interpolate_bilinear(grid, query_points, indexing="ij", name=None):
    """Return the values of images at points between pixels, or at their edges."""
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    grid = keras.ops.convert_to_tensor(grid)
    points = keras.ops.convert_to_tensor(query_points)
    if (
        len(grid.shape) != 4
        or len(points.shape) != 3
        or points.shape[2] not in (2, None)
    ):
        raise ValueError("images have rank 4, and points the shape (batch, count, 2)")
    _, height, width, channels = keras.ops.shape(grid)
    if any(isinstance(each, int) and each < 2 for each in (height, width)):
        raise ValueError("Grid height and width must be at least 2.")
    alphas, places = [], []
    for size, axis in zip((height, width), (0, 1) if indexing == "ij" else (1, 0)):
        queries = points[:, :, axis]
        last = keras.ops.cast(keras.ops.convert_to_tensor(size - 2), points.dtype)
        lowest = keras.ops.maximum(0.0, keras.ops.floor(queries))
        floor = keras.ops.minimum(lowest, last)
        alpha = keras.ops.cast(queries - floor, grid.dtype)
        alpha = keras.ops.minimum(keras.ops.maximum(0.0, alpha), 1.0)
        alphas.append(keras.ops.expand_dims(alpha, 2))
        places.append(keras.ops.cast(floor, "int32"))
    pixels = keras.ops.reshape(grid, (-1, height * width, channels))

    def read(down, right):
        found = (places[0] + down) * width + places[1] + right
        found = keras.ops.expand_dims(found, 2)
        found = found + keras.ops.zeros_like(pixels[:, :1], "int32")
        return keras.ops.take_along_axis(pixels, found, axis=1)

    first, last = read(0, 0), read(1, 0)
    top = alphas[1] * (read(0, 1) - first) + first
    bottom = alphas[1] * (read(1, 1) - last) + last
    return alphas[0] * (bottom - top) + top


def pixel_places(height, width):
    """Return the row and the column of each pixel, as integers."""
    rows, columns = keras.ops.meshgrid(
        keras.ops.arange(height), keras.ops.arange(width), indexing="ij"
    )
    return keras.ops.stack([rows, columns], axis=-1)


def dense_image_warp(image, flow, name=None):
    """Return images whose pixels are those that `flow` leads back to."""
    image = keras.ops.convert_to_tensor(image)
    flow = keras.ops.convert_to_tensor(flow)
    _, height, width, channels = keras.ops.shape(image)
    places = keras.ops.cast(pixel_places(height, width), flow.dtype)
    points = keras.ops.expand_dims(places, 0) - flow
    points = keras.ops.reshape(points, (-1, height * width, 2))
    found = interpolate_bilinear(image, points)
    return keras.ops.reshape(found, (-1, height, width, channels))


def spline_kernel(square, order):
    """Return what counts at squared distances, for splines of an order."""
    least = keras.ops.maximum(square, 1e-10)
    if order == 1:
        return keras.ops.sqrt(least)
    if order == 2:
        return 0.5 * square * keras.ops.log(least)
    if order == 4:
        return 0.5 * keras.ops.square(square) * keras.ops.log(least)
    power = keras.ops.power(least, 0.5 * order)
    return 0.5 * power * keras.ops.log(least) if order % 2 == 0 else power


def with_ones(points):
    """Return points with a last coordinate of 1."""
    ones = keras.ops.ones_like(points[:, :, :1])
    return keras.ops.concatenate([points, ones], axis=2)


def interpolate_spline(
    train_points,
    train_values,
    query_points,
    order,
    regularization_weight=0.0,
    name="interpolate_spline",
):
    """Return the values at points of a polyharmonic spline through others."""
    known = keras.ops.convert_to_tensor(train_points)
    values = keras.ops.convert_to_tensor(train_values)
    asked = keras.ops.convert_to_tensor(query_points)
    products = keras.ops.matmul(known, keras.ops.transpose(known, (0, 2, 1)))
    lengths = keras.ops.diagonal(products, axis1=1, axis2=2)
    apart = keras.ops.expand_dims(lengths, 2) - 2 * products
    kernel = spline_kernel(apart + keras.ops.expand_dims(lengths, 1), order)
    if regularization_weight > 0:
        numbers = keras.ops.arange(keras.ops.shape(known)[1])
        one = keras.ops.equal(keras.ops.expand_dims(numbers, 1), numbers)
        kernel = kernel + regularization_weight * keras.ops.cast(one, kernel.dtype)
    linear, more = with_ones(known), known.shape[2] + 1
    pads = ((0, 0), (0, more), (0, 0))
    left = keras.ops.concatenate(
        [kernel, keras.ops.transpose(linear, (0, 2, 1))], axis=1
    )
    system = keras.ops.concatenate([left, keras.ops.pad(linear, pads)], axis=2)
    solved = keras.ops.solve(system, keras.ops.pad(values, pads))
    weights, slopes = solved[:, :-more], solved[:, -more:]
    square = keras.ops.sum(keras.ops.square(asked), 2, keepdims=True)
    products = keras.ops.matmul(asked, keras.ops.transpose(known, (0, 2, 1)))
    apart = square - 2 * products
    lengths = keras.ops.sum(keras.ops.square(known), 2)
    apart = apart + keras.ops.expand_dims(lengths, 1)
    found = keras.ops.matmul(spline_kernel(apart, order), weights)
    return found + keras.ops.matmul(with_ones(asked), slopes)


def edge_points(height, width, count, dtype):
    """Return points along the edges: the corners, and `count` more on each edge."""
    numbers = range(count + 2)
    ends = (0, count + 1)
    pairs = [(i, j) for i in numbers for j in numbers if i in ends or j in ends]
    parts = keras.ops.convert_to_tensor(pairs, "float32") / (count + 1)
    sizes = [keras.ops.cast(each - 1, "float32") for each in (height, width)]
    return keras.ops.cast(parts * keras.ops.stack(sizes), dtype)


def sparse_image_warp(
    image,
    source_control_point_locations,
    dest_control_point_locations,
    interpolation_order=2,
    regularization_weight=0.0,
    num_boundary_points=0,
    name="sparse_image_warp",
):
    """Move points of images to others, and return that with the flow of all pixels."""
    given = keras.ops.convert_to_tensor(image)
    rank = len(given.shape)
    batch = keras.ops.expand_dims(given, -1) if rank == 2 else given
    batch = batch if rank == 4 else keras.ops.expand_dims(batch, 0)
    source = keras.ops.convert_to_tensor(source_control_point_locations)
    goal = keras.ops.convert_to_tensor(dest_control_point_locations)
    flows = goal - source
    _, height, width, _ = keras.ops.shape(batch)
    if num_boundary_points > 0:
        edges = edge_points(height, width, num_boundary_points - 1, goal.dtype)
        edges = keras.ops.expand_dims(edges, 0) + keras.ops.zeros_like(goal[:, :1])
        goal = keras.ops.concatenate([goal, edges], axis=1)
        flows = keras.ops.concatenate([flows, keras.ops.zeros_like(edges)], axis=1)
    places = keras.ops.reshape(pixel_places(height, width), (1, -1, 2))
    places = keras.ops.cast(places, batch.dtype)
    places = places + keras.ops.zeros_like(batch[:, :1, :1, 0])
    flow = interpolate_spline(
        goal, flows, places, interpolation_order, regularization_weight
    )
    flow = keras.ops.reshape(flow, (-1, height, width, 2))
    found = dense_image_warp(batch, flow)
    found = found if rank == 4 else found[0]
    return (found[:, :, 0] if rank == 2 else found), flow


def resampler(data, warp, name=None):
    """Return the values of images at points `(x, y)`; what is outside is 0."""
    data, warp = keras.ops.convert_to_tensor(data), keras.ops.convert_to_tensor(warp)
    _, height, width, channels = keras.ops.shape(data)
    sizes = keras.ops.shape(warp)[1:-1]
    points = keras.ops.reshape(warp, (keras.ops.shape(warp)[0], -1, 2))
    x, y = points[:, :, 0], points[:, :, 1]
    is_near = keras.ops.logical_and(x > -1, y > -1)
    is_near = keras.ops.logical_and(is_near, x < keras.ops.cast(width, x.dtype))
    is_near = keras.ops.logical_and(is_near, y < keras.ops.cast(height, y.dtype))
    left, above = keras.ops.floor(x), keras.ops.floor(y)
    pixels, found = keras.ops.reshape(data, (-1, height * width, channels)), 0
    for down in (0, 1):
        for right in (0, 1):
            share_x = x - left if right else left + 1 - x
            share = share_x * (y - above if down else above + 1 - y)
            column = keras.ops.cast(left, "int32") + right
            row = keras.ops.cast(above, "int32") + down
            is_there = keras.ops.logical_and(column >= 0, column < width)
            is_there = keras.ops.logical_and(is_there, row >= 0)
            is_there = keras.ops.logical_and(is_there, row < height)
            is_there = keras.ops.logical_and(is_there, is_near)
            place = keras.ops.where(is_there, row * width + column, 0)
            place = keras.ops.expand_dims(place, 2)
            place = place + keras.ops.zeros_like(pixels[:, :1], "int32")
            value = keras.ops.take_along_axis(pixels, place, axis=1)
            share = keras.ops.where(is_there, share, keras.ops.zeros_like(share))
            found = found + keras.ops.expand_dims(share, 2) * value
    return keras.ops.reshape(found, (-1, *sizes, channels))
