"""What is compared of a value: its kind, shapes and dtypes, and numbers where they are no draw."""

import hashlib

import numpy as np

MAX_ELEMENTS = 300_000
MAX_WEIGHTS = 3_000_000


def number(value):
    """Return a number that JSON can hold and :mod:`figures` compares with a tolerance."""
    value = float(value)
    return ["num", value if np.isfinite(value) else str(value)]


def described(value, tf, depth=0):
    """Return kind, shapes and dtypes of a value."""
    if isinstance(value, list) and value[:1] == ["trained"]:
        return value
    if isinstance(value, tf.keras.Model):
        try:
            shapes = [[str(each.shape) for each in of] for of in (value.inputs, value.outputs)]
            return ["model", *shapes, value.count_params()]
        except (TypeError, ValueError, AttributeError):
            return ["model"]
    if isinstance(value, tf.keras.layers.Layer):
        return ["layer", type(value).__name__]
    if isinstance(value, np.ndarray | np.generic):
        return ["array", list(value.shape), str(value.dtype)]
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return ["tensor", _shape(value), str(getattr(value.dtype, "name", value.dtype))]
    if isinstance(value, list | tuple) and depth < 3:
        return ["seq", [described(each, tf, depth + 1) for each in value[:20]]]
    if isinstance(value, dict) and depth < 3:
        items = [*value.items()][:20]
        return ["dict", [[str(key), described(each, tf, depth + 1)] for key, each in items]]
    return ["value", type(value).__name__]


def _shape(tensor):
    try:
        return [str(size) for size in tensor.shape]
    except ValueError:  # the number of axes is not known
        return None


def trained(model, target):
    """Train a model one step on drawn data; return what it predicts, its loss, and that again."""
    tensors = model.inputs
    shapes = [_sizes(tensor.shape) for tensor in tensors]
    if any(np.prod(each) > MAX_ELEMENTS for each in shapes) or model.count_params() > MAX_WEIGHTS:
        return ["large"]
    random = np.random.RandomState(1)
    inputs = [
        np.ones((2, *shape), "int32")
        if "int" in str(getattr(tensor.dtype, "name", tensor.dtype))
        else random.rand(2, *shape).astype("float32")
        for shape, tensor in zip(shapes, tensors, strict=True)
    ]
    return one_step(model, inputs, target)


def _sizes(shape):
    pixels = len(shape) == 4
    return tuple(
        (32 if pixels and axis < 2 else 8) if size is None else size
        for axis, size in enumerate(shape[1:])
    )


def one_step(model, inputs, target):
    """Do what :func:`trained` says with these inputs."""
    given = inputs if len(inputs) > 1 else inputs[0]
    model(given)
    _put_weights(model)
    before = _list(model.predict(given, verbose=0))
    told = ["trained", [[str(n) for n in np.shape(each)] for each in before]]
    told.append([number(np.mean(np.abs(each))) for each in before])
    if not getattr(model, "optimizer", None):
        model.compile("sgd", "mse")
    wanted = [_target(np.shape(each), target) for each in before]
    alike = np.allclose(*(_flat(model(given, training=True)) for _ in range(2)), equal_nan=True)
    _put_weights(model)
    history = model.fit(
        given, wanted if len(wanted) > 1 else wanted[0], batch_size=2, epochs=1, verbose=0
    )
    after = _list(model.predict(given, verbose=0))
    if not alike:  # it draws: the numbers of two Kerases differ by chance
        return [*told, "random"]
    return [
        *told,
        number(history.history["loss"][0]),
        [number(np.mean(np.abs(each))) for each in after],
    ]


def _list(predicted):
    return predicted if isinstance(predicted, list | tuple) else [predicted]


def _flat(outputs):
    return np.concatenate([np.ravel(np.asarray(each, "float32")) for each in _list(outputs)])


def _target(shape, kind):
    if kind == "zeros":
        return np.zeros(shape, "float32")
    if kind == "onehot":
        rows = np.arange(int(np.prod(shape[:-1]))) % shape[-1]
        return np.eye(shape[-1], dtype="float32")[rows].reshape(shape)
    return np.zeros((*shape[:-1], 1), "int32")


def _put_weights(model):
    """Give a model the same numbers on both Kerases: by place of the layer and shape."""
    counts = {}

    def put(layer, place):
        inner = getattr(layer, "layers", None)
        if isinstance(inner, list) and inner:
            for number_, each in enumerate(_without_inputs(inner)):
                put(each, (*place, number_))
            return
        new = []
        for weight in layer.get_weights():
            key = (place, weight.shape)
            counts[key] = counts.get(key, -1) + 1
            new.append(_drawn_weight(weight, repr((*key, counts[key]))))
        if new:
            layer.set_weights(new)

    put(model, ())


def _without_inputs(layers):
    """Leave out what has no weights, and stands in the list of one Keras only."""
    return [each for each in layers if type(each).__name__ != "InputLayer"]


def _drawn_weight(weight, key):
    if weight.dtype.kind != "f":
        return weight
    random = np.random.RandomState(int(hashlib.sha256(key.encode()).hexdigest()[:7], 16))
    if weight.ndim < 2:
        return (random.rand(*weight.shape) * 0.2 + 0.4).astype(weight.dtype)
    scale = np.sqrt(max(1, np.prod(weight.shape[:-1])))
    return (random.randn(*weight.shape) / scale).astype(weight.dtype)
