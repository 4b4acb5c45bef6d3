"""The two sides of rewrites, as the tables of rules have them."""

SUM = ("keras.backend.sum(x, axis=None, keepdims=False)", "keras.ops.sum(x, axis, keepdims)")


MEAN = ("keras.backend.mean(x, axis=None, keepdims=False)", "keras.ops.mean(x, axis, keepdims)")


SQUARE = ("keras.backend.square(x)", "keras.ops.square(x)")


ABS = ("keras.backend.abs(x)", "keras.ops.abs(x)")


ARGMAX = ("keras.backend.argmax(x, axis=-1)", "keras.ops.argmax(x, axis)")


EXPAND = ("keras.backend.expand_dims(x, axis=-1)", "keras.ops.expand_dims(x, axis)")


PERMUTE = ("keras.backend.permute_dimensions(x, pattern)", "keras.ops.transpose(x, pattern)")


FLATTEN = ("keras.backend.flatten(x)", "keras.ops.reshape(x, (-1,))")


REPEAT = ("keras.backend.repeat(x, n)", "keras.ops.repeat(keras.ops.expand_dims(x, 1), n, axis=1)")


BIAS = ("keras.backend.bias_add(x, bias, data_format=None)", "x + bias")


SET = ("keras.backend.set_value(x, value)", "x.assign(value)")


POW = ("keras.backend.pow(x, a)", "keras.ops.power(x, a)")


RELU = (
    "keras.backend.relu(x, alpha=0.0, max_value=None, threshold=0.0)",
    "keras.activations.relu(x, negative_slope=alpha, max_value=max_value, threshold=threshold)",
)


SHAPE = ("keras.backend.int_shape(x)", "tuple(x.shape)")


CAST = ("keras.backend.cast(x, dtype)", "keras.ops.cast(x, dtype)")


ZEROS = (
    "keras.backend.zeros(shape, dtype=None, name=None)",
    "keras.Variable(keras.ops.zeros(shape, dtype=dtype), name=name)",
)


IDENTITY = ("keras.backend.identity(x, name=None)", "x")


UID = (
    "keras.backend.unique_object_name(name)",
    'f"{name}_{keras.backend.get_uid(name)}"',
)
