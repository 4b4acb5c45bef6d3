"""The models of the matrix: all built-in layers, alone and in one another, and what trains them.

It runs under each Keras that writes, so on Python 3.7 and keras 2.2.4, too.
"""

import inspect

from tools.model_files.shaped import SHAPED, sequential

# What a layer is made with where its parameters without default are not enough to go by.
ARGUMENTS = {
    "Permute": {"dims": (1,)},
    "Reshape": {"target_shape": (-1,)},
    "RepeatVector": {"n": 3},
    "Embedding": {"input_dim": 9, "output_dim": 4},
    "CategoryEncoding": {"num_tokens": 9},
    "Discretization": {"bin_boundaries": [0.0, 1.0]},
    "Hashing": {"num_bins": 5},
    "Normalization": {"mean": 0.0, "variance": 1.0},
    "Rescaling": {"scale": 2.0, "offset": 1.0},
    "Resizing": {"height": 4, "width": 4},
    "CenterCrop": {"height": 4, "width": 4},
    "RandomCrop": {"height": 4, "width": 4},
    "MultiHeadAttention": {"num_heads": 2, "key_dim": 3},
    "GroupQueryAttention": {"head_dim": 4, "num_query_heads": 2, "num_key_value_heads": 1},
    "EinsumDense": {"equation": "ab,bc->ac", "output_shape": 4},
    "IntegerLookup": {"vocabulary": [1, 2]},
    "StringLookup": {"vocabulary": ["a", "b"]},
    "HashedCrossing": {"num_bins": 5},
    "GroupNormalization": {"groups": 2},
}
_NUMBERS = {
    "units": 4,
    "filters": 4,
    "kernel_size": 2,
    "rate": 0.5,
    "stddev": 0.5,
    "factor": 0.2,
    "l1": 0.1,
    "l2": 0.1,
    "pool_size": 2,
    "size": 2,
    "padding": 1,
    "cropping": 1,
    "max_value": 1.0,
    "min_value": 0.0,
    "num_bins": 4,
    "output_size": 2,
    "height_factor": 0.2,
    "width_factor": 0.2,
    "seed": 1,
    "depth_multiplier": 1,
    "num_ops": 2,
    "height": 4,
    "width": 4,
    "value_range": (0, 255),
    "output_dim": 4,
}
_SHAPES = ((8,), (8, 4), (8, 8, 4), (8, 8, 8, 4), (3, 8, 8, 4), (3, 4, 4, 4, 4))
_NOT_MADE = ("get", "serialize", "deserialize")


class NotMade(Exception):
    """A release cannot build such a model."""


def models(keras):
    """Yield the name of each model and a function that makes it, in the same order each time."""
    for name, kind in layer_classes(keras):
        yield from _of_layer(keras, name, kind)
    for module, argument in (
        ("optimizers", "optimizer"),
        ("losses", "loss"),
        ("metrics", "metrics"),
    ):
        yield from _compiled(keras, module, argument)
    yield from _arguments(keras)
    for name, make in SHAPED:
        yield name, _bound(make, keras)


def layer_classes(keras):
    """Return the built-in layers of a release, by name."""
    found = {}
    places = [keras.layers]
    experimental = getattr(keras.layers, "experimental", None)
    if experimental is not None and hasattr(experimental, "preprocessing"):
        places.append(experimental.preprocessing)
    for place in places:
        for name in dir(place):
            each = getattr(place, name, None)
            if inspect.isclass(each) and issubclass(each, keras.layers.Layer):
                found.setdefault(name, each)
    return sorted(found.items())


def _bound(make, *given):
    return lambda: make(*given)


def _made(kind, name):
    if name in ARGUMENTS:
        return kind(**ARGUMENTS[name])
    wanted = [
        each.name
        for each in inspect.signature(kind).parameters.values()
        if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    ]
    return kind(**{each: _NUMBERS[each] for each in wanted if each != "self"})


def _of_layer(keras, name, kind):
    yield "layer-" + name, lambda: _alone(keras, name, kind)[0]
    yield "inner-" + name, lambda: _inner(keras, name, kind)
    yield "functional-" + name, lambda: _inner_functional(keras, name, kind)
    for wrapper in ("TimeDistributed", "Bidirectional"):
        yield wrapper + "-" + name, _bound(_wrapped, keras, name, kind, wrapper)
    if name.endswith("Cell"):
        yield "RNN-" + name, lambda: _of_cell(keras, name, kind)


def _alone(keras, name, kind):
    for shape in _SHAPES:
        try:
            start = keras.layers.Input(shape)
            return keras.Model(start, _made(kind, name)(start)), shape
        except Exception:  # noqa: BLE001, S112 - not for tensors of this rank
            continue
    for count in (2, 3):
        try:
            starts = [keras.layers.Input((8, 4)) for _ in range(count)]
            return keras.Model(starts, _made(kind, name)(starts)), None
        except Exception:  # noqa: BLE001, S112
            continue
    raise NotMade(name)


def _single(keras, name, kind):
    _, shape = _alone(keras, name, kind)
    if shape is None:
        raise NotMade(name)
    return shape


def _inner(keras, name, kind):
    shape = _single(keras, name, kind)
    start = keras.layers.Input(shape)
    return keras.Model(start, sequential(keras, shape, _made(kind, name))(start))


def _inner_functional(keras, name, kind):
    model, shape = _alone(keras, name, kind)
    if shape is None:
        raise NotMade(name)
    start = keras.layers.Input(shape)
    return keras.Model(start, keras.layers.Activation("relu")(model(start)))


def _wrapped(keras, name, kind, wrapper):
    shape = _single(keras, name, kind)
    start = keras.layers.Input((3,) + shape if wrapper == "TimeDistributed" else shape)
    return keras.Model(start, getattr(keras.layers, wrapper)(_made(kind, name))(start))


def _of_cell(keras, name, kind):
    start = keras.layers.Input((8, 4))
    return keras.Model(start, keras.layers.RNN(_made(kind, name))(start))


def _compiled(keras, module, argument):
    holder = getattr(keras, module)
    for name in sorted(dir(holder)):
        kind = getattr(holder, name)
        if name in _NOT_MADE or name.startswith("_") or not callable(kind):
            continue
        yield module + "-" + name, _bound(_compiled_with, keras, argument, kind)


def _compiled_with(keras, argument, kind):
    made = kind() if inspect.isclass(kind) else kind
    given = {"optimizer": "sgd", "loss": "mse", argument: made}
    if argument == "metrics":
        given["metrics"] = [made]
    model = sequential(keras, (8,), keras.layers.Dense(4))
    model.compile(**given)
    return model


def _arguments(keras):
    """Yield models of a layer with each regularizer, constraint, initializer and activation."""
    for module in ("regularizers", "constraints", "initializers"):
        holder = getattr(keras, module)
        for name in sorted(dir(holder)):
            kind = getattr(holder, name)
            if name in _NOT_MADE or name.startswith("_") or not callable(kind):
                continue
            yield module + "-" + name, _bound(_with_kernel, keras, module[:-1], kind, name)
    for name in sorted(dir(keras.activations)):
        function = getattr(keras.activations, name)
        if name not in _NOT_MADE and not name.startswith("_") and inspect.isfunction(function):
            yield "activations-" + name, _bound(_activated, keras, function)
            yield "activations-string-" + name, _bound(_activated, keras, name)
    for name in ("LeakyReLU", "PReLU", "ReLU", "ELU", "ThresholdedReLU", "Softmax"):
        if hasattr(keras.layers, name):
            yield "activations-layer-" + name, _bound(_activated_by_layer, keras, name)
    schedules = getattr(keras.optimizers, "schedules", None)
    for name in sorted(dir(schedules)) if schedules is not None else ():
        if inspect.isclass(getattr(schedules, name)):
            yield "schedule-" + name, _bound(_scheduled, keras, getattr(schedules, name))


def _with_kernel(keras, argument, kind, name):
    made = kind(0.1) if name.lower() in ("l1", "l2", "l1_l2", "l1l2") else kind()
    layer = keras.layers.Dense(4, **{"kernel_" + argument: made})
    wide = keras.layers.Conv2D(4, 2, **{"bias_" + argument: made}) if _fits_bias(made) else None
    if wide is None:
        return sequential(keras, (4,), layer)
    return sequential(keras, (8, 8, 4), wide, keras.layers.Flatten(), keras.layers.Dense(4))


def _fits_bias(made):
    return type(made).__name__ in ("L1", "L2", "L1L2", "NonNeg", "Zeros", "Ones", "Constant")


def _activated(keras, function):
    dense = keras.layers.Dense(4, activation=function)
    return sequential(keras, (8,), dense, keras.layers.Activation(function))


def _activated_by_layer(keras, name):
    layer = getattr(keras.layers, name)()
    return sequential(keras, (8,), keras.layers.Dense(4, activation=layer))


def _scheduled(keras, kind):
    arguments = {
        "initial_learning_rate": 0.1,
        "decay_steps": 10,
        "decay_rate": 0.5,
        "first_decay_steps": 10,
        "boundaries": [1, 2],
        "values": [0.1, 0.05, 0.01],
    }
    wanted = [
        each.name
        for each in inspect.signature(kind).parameters.values()
        if each.default is each.empty and each.name in arguments
    ]
    schedule = kind(**{each: arguments[each] for each in wanted})
    model = sequential(keras, (8,), keras.layers.Dense(4))
    model.compile(optimizer=keras.optimizers.SGD(schedule), loss="mse")
    return model
