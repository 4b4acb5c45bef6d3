"""Models whose layers stand together in some way: shared, nested, masked, with several inputs.

It runs under each Keras that writes, so on Python 3.7 and keras 2.2.4, too.
"""

import inspect


def sequential(keras, shape, *layers):
    """Return a Sequential of these layers; keras 2.2 takes no `Input` in one."""
    try:
        return keras.Sequential([keras.layers.Input(shape), *layers])
    except TypeError:
        return keras.Sequential([keras.layers.InputLayer(input_shape=shape), *layers])


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
SHAPED = [
    (name.lstrip("_").replace("_", "-"), each)
    for name, each in sorted(globals().items())
    if inspect.isfunction(each)
    and list(inspect.signature(each).parameters) == ["keras"]
    and name.startswith("_")
]
