"""The models of the matrix: all built-in layers, alone and in one another, and what trains them.

It runs under each Keras that writes, so on Python 3.7 and keras 2.2.4, too.
"""

import inspect

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
    for name, make in _SHAPED:
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


def sequential(keras, shape, *layers):
    """Return a Sequential of these layers; keras 2.2 takes no `Input` in one."""
    try:
        return keras.Sequential([keras.layers.Input(shape), *layers])
    except TypeError:
        return keras.Sequential([keras.layers.InputLayer(input_shape=shape), *layers])


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


def _several_inputs(keras):
    starts = [keras.layers.Input((4,)) for _ in range(3)]
    return keras.Model(starts, keras.layers.Concatenate()(starts))


def _several_outputs(keras):
    start = keras.layers.Input((4,))
    outputs = [keras.layers.Dense(2, name="a")(start), keras.layers.Dense(3, name="b")(start)]
    model = keras.Model(start, outputs)
    model.compile("adam", loss={"a": "mse", "b": "mae"}, metrics={"a": ["mae"], "b": ["mse"]})
    return model


def _loss_list(keras):
    start = keras.layers.Input((4,))
    model = keras.Model(start, [keras.layers.Dense(2)(start), keras.layers.Dense(3)(start)])
    model.compile("rmsprop", loss=["mse", "mae"], loss_weights=[1.0, 0.5], metrics=["accuracy"])
    return model


def _shared(keras):
    start = keras.layers.Input((4,))
    shared = keras.layers.Dense(4)
    return keras.Model(start, keras.layers.Add()([shared(start), shared(shared(start))]))


def _shared_model(keras):
    inside = sequential(keras, (4,), keras.layers.Dense(4))
    one, two = keras.layers.Input((4,)), keras.layers.Input((4,))
    return keras.Model([one, two], keras.layers.Add()([inside(one), inside(two)]))


def _nested_twice(keras):
    deep = sequential(keras, (4,), keras.layers.Dense(4))
    start = keras.layers.Input((4,))
    inside = keras.Model(start, keras.layers.Dense(3)(deep(start)))
    begin = keras.layers.Input((4,))
    return keras.Model(begin, keras.layers.Dense(2)(inside(begin)))


def _model_in_sequential(keras):
    start = keras.layers.Input((4,))
    inside = keras.Model(start, keras.layers.Dense(3)(start))
    return keras.Sequential([inside, keras.layers.Dense(2)])


def _sequential_in_sequential(keras):
    inside = sequential(keras, (4,), keras.layers.Dense(3))
    return keras.Sequential([inside, keras.layers.Dense(2)])


def _inner_of_two(keras):
    one, two = keras.layers.Input((4,)), keras.layers.Input((4,))
    inside = keras.Model([one, two], keras.layers.Concatenate()([one, two]))
    begin, other = keras.layers.Input((4,)), keras.layers.Input((4,))
    return keras.Model([begin, other], keras.layers.Dense(2)(inside([begin, other])))


def _time_distributed_model(keras):
    inside = sequential(keras, (4,), keras.layers.Dense(3))
    start = keras.layers.Input((5, 4))
    return keras.Model(start, keras.layers.TimeDistributed(inside)(start))


def _masked(keras):
    embedding = keras.layers.Embedding(9, 4, mask_zero=True)
    return sequential(keras, (5,), embedding, keras.layers.LSTM(3), keras.layers.Dense(1))


def _masking(keras):
    layers = (keras.layers.Masking(0.0), keras.layers.GRU(3, return_sequences=True))
    return sequential(keras, (5, 4), *layers)


def _gru_before_bidirectional(keras):
    layers = keras.layers
    inside = layers.GRU(4, return_sequences=True), layers.Bidirectional(layers.LSTM(3))
    return sequential(keras, (5, 4), *inside)


def _bidirectional_of_both(keras):
    layers = keras.layers
    backward = layers.LSTM(3, go_backwards=True)
    return sequential(keras, (5, 4), layers.Bidirectional(layers.LSTM(3), backward_layer=backward))


def _state_handed_on(keras):
    first, second = keras.layers.Input((5, 4)), keras.layers.Input((5, 4))
    _, *state = keras.layers.LSTM(3, return_state=True)(first)
    return keras.Model([first, second], keras.layers.LSTM(3)(second, initial_state=state))


def _stateful(keras):
    start = keras.layers.Input(batch_shape=(2, 5, 4))
    return keras.Model(start, keras.layers.LSTM(3, stateful=True)(start))


def _cells(keras):
    cells = [keras.layers.LSTMCell(3), keras.layers.GRUCell(2)]
    return sequential(keras, (5, 4), keras.layers.RNN(cells))


def _attention(keras):
    one, two = keras.layers.Input((5, 4)), keras.layers.Input((5, 4))
    return keras.Model([one, two], keras.layers.Attention()([one, two]))


def _multi_head(keras):
    one, two = keras.layers.Input((5, 4)), keras.layers.Input((5, 4))
    attended = keras.layers.MultiHeadAttention(num_heads=2, key_dim=3)(one, two)
    return keras.Model([one, two], attended)


def _multi_head_by_name(keras):
    one = keras.layers.Input((5, 4))
    attended = keras.layers.MultiHeadAttention(num_heads=2, key_dim=3)(query=one, value=one)
    return keras.Model(one, attended)


def _operator(keras):
    start = keras.layers.Input((4,))
    return keras.Model(start, start * 2 + 1)


def _sliced(keras):
    start = keras.layers.Input((4, 3))
    return keras.Model(start, start[:, 1])


def _operator_between(keras):
    start = keras.layers.Input((4,))
    other = keras.layers.Dense(4)(start)
    return keras.Model(start, keras.layers.Dense(2)(start - other))


def _lambda(keras):
    return sequential(keras, (4,), keras.layers.Lambda(lambda x: x * 2.0))


def _lambda_first(keras):
    first = keras.layers.Lambda(lambda x: x * 2.0, input_shape=(4,))
    return keras.Sequential([first, keras.layers.Dense(2)])


def _double(x):
    return x * 2.0


def _lambda_of_function(keras):
    return sequential(keras, (4,), keras.layers.Lambda(_double))


def _lambda_with_arguments(keras):
    layer = keras.layers.Lambda(lambda x, by: x * by, arguments={"by": 3.0}, output_shape=(4,))
    return sequential(keras, (4,), layer)


def _input_shape(keras):
    dense = keras.layers.Dense(3, input_shape=(4,))
    return keras.Sequential([dense, keras.layers.BatchNormalization(), keras.layers.Dense(2)])


def _image_network(keras):
    layers = keras.layers
    return sequential(
        keras,
        (16, 16, 3),
        layers.Conv2D(4, 3, padding="same", use_bias=False),
        layers.BatchNormalization(axis=-1),
        layers.DepthwiseConv2D(3),
        layers.SeparableConv2D(4, 3),
        layers.LeakyReLU(),
        layers.GlobalAveragePooling2D(),
        layers.Dense(2, activation="softmax"),
    )


def _mixed_precision(keras):
    dense = keras.layers.Dense(3, dtype="mixed_float16")
    return sequential(keras, (4,), dense, keras.layers.Dense(2, dtype="float64"))


def _own_class(keras):
    class Mine(keras.layers.Layer):
        def call(self, inputs):
            return inputs * 2.0

    return sequential(keras, (4,), Mine(), keras.layers.Dense(2))


def _own_inside(keras):
    class Mine(keras.layers.Layer):
        def call(self, inputs):
            return inputs * 2.0

        def compute_output_shape(self, shape):
            return shape

    return sequential(keras, (3, 4), keras.layers.TimeDistributed(Mine()))


def _own_activation(keras):
    return sequential(keras, (4,), keras.layers.Dense(2, activation=_double))


def _own_loss(keras):
    def weighted(weight):
        def loss(y_true, y_pred):
            return keras.backend.mean((y_true - y_pred) ** 2 * weight)

        return loss

    model = sequential(keras, (4,), keras.layers.Dense(2))
    model.compile("adam", loss=weighted(2.0))
    return model


def _own_metric(keras):
    def spread(y_true, y_pred):
        return y_true - y_pred

    model = sequential(keras, (4,), keras.layers.Dense(2))
    model.compile("adam", loss="mse", metrics=[spread, "mae"])
    return model


def _short_names(keras):
    model = sequential(keras, (4,), keras.layers.Dense(2, activation="softmax"))
    model.compile("adadelta", loss="categorical_crossentropy", metrics=["acc", "mse", "MAE", "ce"])
    return model


def _weighted_metrics(keras):
    model = sequential(keras, (4,), keras.layers.Dense(2))
    model.compile(keras.optimizers.Adam(), loss="mse", weighted_metrics=["mae"])
    return model


def _clipped(keras):
    model = sequential(keras, (4,), keras.layers.Dense(2))
    model.compile(keras.optimizers.SGD(clipnorm=1.0), loss="mse")
    return model


def _frozen(keras):
    layer = keras.layers.Dense(3)
    layer.trainable = False
    return sequential(keras, (4,), layer, keras.layers.Dense(2))


def _outputs_by_name(keras):
    start = keras.layers.Input((4,))
    return keras.Model({"x": start}, {"a": keras.layers.Dense(2)(start)})


# Those whose layers stand together in some way.
_SHAPED = [
    (name.lstrip("_").replace("_", "-"), each)
    for name, each in sorted(globals().items())
    if inspect.isfunction(each)
    and list(inspect.signature(each).parameters) == ["keras"]
    and name.startswith("_")
    and name != "_arguments"
]
