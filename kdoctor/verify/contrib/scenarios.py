"""What is asked of each class and function of ``keras_contrib``, on both sides alike.

This file is also run beside keras_contrib itself, on Python 3.7 with keras 2.2.4 on TensorFlow
1.15: it imports NumPy alone, and is given the rest.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from typing import Any, Callable, Iterator, NamedTuple, Tuple  # noqa: UP035 - of Python 3.7

import numpy as np


class Side(NamedTuple):
    """The class or function that is asked, Keras, and how to get others of the package."""

    made: Callable[..., Any]
    keras: Any
    other: Callable[[str], Any]


Found = Iterator[Tuple[str, Any]]  # noqa: UP006 - as above
Scenario = Callable[[Side], Found]


def _floats(seed: int, *shape: int) -> Any:
    return np.asarray(np.random.default_rng(seed).normal(size=shape), "float32")


def _numbers(side: Side, function: Callable[..., Any], *arrays: Any) -> Any:
    """Return what a function makes of arrays, as an array."""
    ops = getattr(side.keras, "ops", None)
    if ops is not None:
        return ops.convert_to_numpy(function(*map(ops.convert_to_tensor, arrays)))
    backend = side.keras.backend
    return backend.eval(function(*map(backend.variable, arrays)))


def _set(model: Any) -> None:
    """Give each weight numbers that hang on its place."""
    for place, layer in enumerate(model.layers[-3:]):
        values = [
            _floats(10 * place + number, *each.shape) * 0.5 + 0.3
            for number, each in enumerate(map(np.asarray, layer.get_weights()))
        ]
        layer.set_weights(values)


def _trained(model: Any, batches: Any, about: str) -> Found:
    """Train some steps, and yield losses and weights.

    Metrics of a step are not asked: a graph of Keras 2 may have changed the weights before.
    """
    for number, (x, y) in enumerate(batches):
        if hasattr(model, "reset_metrics"):  # since Keras 2.3
            model.reset_metrics()
        found = model.train_on_batch(x, y)
        yield f"{about} step {number}", np.array(found, "float32").ravel()[0]
    for number, value in enumerate(model.get_weights()):
        yield f"{about} weight {number}", value


def of_layer(*cases: dict, shapes: tuple) -> Scenario:  # type: ignore[type-arg]
    """Return the scenario of a layer behind another one, which is trained through it."""

    def run(side: Side) -> Found:
        keras = side.keras
        for number, case in enumerate(cases):
            for shape in shapes:
                start = keras.layers.Input(shape)
                middle = keras.layers.Dense(shape[-1])(start)
                layer = side.made(**case)
                model = keras.models.Model(start, layer(middle))
                about = f"{number} {shape}"
                yield f"{about} shape", [each or 0 for each in model.output_shape]
                _set(model)
                x = _floats(1, 4, *shape)
                yield about, model.predict(x, verbose=0)
                model.compile(keras.optimizers.SGD(0.05), "mse")
                y = _floats(2, 4, *model.output_shape[1:])
                yield from _trained(model, [(x, y)] * 3, about)
                again = type(layer).from_config(layer.get_config())
                yield f"{about} again", isinstance(again, type(layer))
                yield f"{about} arguments", layer.get_config().keys() >= {*case}

    return run


def of_function(*cases: dict) -> Scenario:  # type: ignore[type-arg]
    """Return the scenario of a function of one tensor."""

    def run(side: Side) -> Found:
        for number, case in enumerate(cases):
            for shape in ((3,), (2, 4), (2, 3, 5)):
                made = side.made(**case) if isinstance(side.made, type) else None
                own = made or (lambda x, case=case: side.made(x, **case))
                yield f"{number} {shape}", _numbers(side, own, _floats(3, *shape))

    return run


def of_loss(*cases: dict, shapes: tuple) -> Scenario:  # type: ignore[type-arg]
    """Return the scenario of a loss: its values, and a training."""

    def run(side: Side) -> Found:
        keras = side.keras
        for number, case in enumerate(cases):
            is_class = isinstance(side.made, type)
            loss = side.made(**case) if is_class else _with(side.made, case)
            for shape in shapes:
                about = f"{number} {shape}"
                y_true = np.random.default_rng(5).random((4, *shape)).astype("float32")
                y_pred = np.random.default_rng(6).random((4, *shape)).astype("float32")
                yield about, _numbers(side, loss, y_true, y_pred)
                start = keras.layers.Input(shape)
                model = keras.models.Model(start, keras.layers.Dense(shape[-1])(start))
                _set(model)
                model.compile(keras.optimizers.SGD(0.05), loss)
                yield from _trained(model, [(y_pred, y_true)] * 3, about)

    return run


def _with(function: Callable[..., Any], case: Any) -> Callable[..., Any]:
    return lambda y_true, y_pred: function(y_true, y_pred, **case)


def of_network(*cases: tuple, size: int = 32, trained: bool = True) -> Scenario:  # type: ignore[type-arg]
    """Return the scenario of a function that makes a network for images.

    Of its training the losses are asked, and what the last layer learns: variances that move are
    others on Keras 3. Norms of few numbers blow up what is rounded, so deep ones are not trained.
    """

    def run(side: Side) -> Found:
        keras = side.keras
        for number, (arguments, options) in enumerate(cases):
            keras.backend.clear_session()
            model = side.made(*arguments, **options)
            yield f"{number} layers", [type(each).__name__ for each in model.layers]
            yield f"{number} shape", [each or 0 for each in model.output_shape]
            values = [
                _floats(place, *each.shape) * (0.3 if each.ndim == 1 else _he(each.shape))
                for place, each in enumerate(map(np.asarray, model.get_weights()))
            ]
            model.set_weights([np.abs(each) + 0.5 if each.ndim == 1 else each for each in values])
            x = _floats(1, 2, size, size, 3)
            found = model.predict(x, verbose=0)
            yield f"{number} predicted", found.reshape(2, -1)[:, :8]
            if not trained:
                continue
            model.compile(keras.optimizers.SGD(0.0001), "mse")
            y = _floats(2, *found.shape)
            for step in range(2):
                yield f"{number} step {step}", np.array(model.train_on_batch(x, y), "float32")
            last = [each.get_weights() for each in model.layers if each.get_weights()][-1]
            yield f"{number} offset", last[1][:8]  # of a dense layer, a convolution or a norm

    return run


def _he(shape: Any) -> float:
    return float(np.sqrt(2 / np.prod(shape[:-1])))


_WORDS = [[1, 2, 3, 4, 5], [2, 6, 1, 0, 0], [3, 0, 0, 0, 0], [4, 4, 1, 2, 0]]


def of_crf(ask: Callable[[Side, dict], tuple], *cases: dict) -> Scenario:  # type: ignore[type-arg]
    """Return the scenario of a CRF: trained, with and without a mask.

    ``ask`` returns the layer, its loss and its metrics.
    """

    def run(side: Side) -> Found:
        keras = side.keras
        for number, case in enumerate(cases):
            for masked in (False, True):
                layer, loss, metrics = ask(side, case)
                start = keras.layers.Input((5,), dtype="int32")
                found = keras.layers.Embedding(7, 4, mask_zero=masked)(start)
                model = keras.models.Model(start, layer(found))
                _set(model)
                model.compile(keras.optimizers.SGD(0.5), loss, metrics=metrics)
                about = f"{number} {masked}"
                x = np.array(_WORDS)
                labels = np.random.default_rng(9).integers(0, 3, (4, 5))
                y = labels[:, :, None] if layer.sparse_target else np.eye(3)[labels]
                y = y.astype("float32")
                yield f"{about} before", model.predict(x, verbose=0)
                yield from _trained(model, [(x, y)] * 3, about)
                yield about, model.predict(x, verbose=0)
                if hasattr(model, "reset_metrics"):
                    model.reset_metrics()
                yield f"{about} tested", np.array(model.test_on_batch(x, y), "float32")
                again = type(layer).from_config(layer.get_config())
                yield f"{about} again", [again.units, again.learn_mode, again.test_mode]

    return run


_JOIN: Any = ({}, {"sparse_target": True}, {"use_boundary": False}, {"use_bias": False})
_MARGINAL: Any = (
    {"learn_mode": "marginal"},
    {"learn_mode": "marginal", "sparse_target": True},
    {"learn_mode": "marginal", "test_mode": "viterbi"},
)
_MIXED: Any = ({"test_mode": "marginal"},)


def _crf(side: Side, case: Any) -> Any:
    layer = side.made(3, **case)
    return layer, layer.loss_function, [layer.viterbi_acc, layer.marginal_acc]


def _loss_of_crf(side: Side, case: Any) -> Any:
    return side.other("CRF")(3, **case), side.made, None


def _metric_of_crf(side: Side, case: Any) -> Any:
    return side.other("CRF")(3, **case), side.other("crf_loss"), [side.made]


def cyclic_rates(side: Side) -> Found:
    """Train with a rate that rises and falls."""
    keras = side.keras
    cases: Any = ({}, {"mode": "triangular2"}, {"mode": "exp_range", "gamma": 0.9})
    for number, case in enumerate((*cases, {"scale_fn": np.sin})):
        start = keras.layers.Input((2,))
        model = keras.models.Model(start, keras.layers.Dense(1)(start))
        _set(model)
        model.compile(keras.optimizers.SGD(0.1), "mse")
        rates = side.made(base_lr=0.01, max_lr=0.1, step_size=3, **case)
        x, y = _floats(1, 6, 2), _floats(2, 6, 1)
        done = model.fit(x, y, batch_size=2, epochs=3, verbose=0, shuffle=False, callbacks=[rates])
        yield f"{number} rates", np.array(rates.history["lr"], "float32")
        yield f"{number} logged", np.array(done.history["lr"], "float32")
        yield f"{number} iterations", np.array(rates.history["iterations"], "float32")
        yield f"{number} weights", model.get_weights()[0]


_CHUNKS = "He PRP B-NP\nruns VBZ B-VP\n. . O\n\nhe PRP B-NP\nsleeps VBZ B-VP\n"


def chunks(side: Side) -> Found:
    """Read a small file of the form of CoNLL-2000."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "conll2000.zip")  # noqa: PTH118 - a text on both sides
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("conll2000/train.txt", _CHUNKS)
            archive.writestr("conll2000/test.txt", _CHUNKS.replace("runs", "falls"))
        for least in (1, 2):
            train, test, names = side.made(path, least)
            for place, each in enumerate((*train, *test)):
                yield f"{least} {place}", np.array(each)
            yield f"{least} names", [list(each) for each in names]


_NORMS = ((8,), (5, 8), (4, 3, 8))
SCENARIOS = {
    "CRF": of_crf(_crf, *_JOIN[:3], *_MARGINAL),
    "crf_loss": of_crf(_loss_of_crf, _JOIN[1], *_MARGINAL[:2]),
    "crf_nll": of_crf(_loss_of_crf, _JOIN[0]),
    "crf_viterbi_accuracy": of_crf(_metric_of_crf, _JOIN[1]),
    "crf_marginal_accuracy": of_crf(_metric_of_crf, _MARGINAL[1]),
    "crf_accuracy": of_crf(_metric_of_crf, _JOIN[0], _MIXED[0]),
    "jaccard_distance": of_loss({}, {"smooth": 1}, shapes=((4,), (3, 2), (4, 4, 1))),
    "DSSIMObjective": of_loss(
        {}, {"kernel_size": 4}, {"max_value": 255.0, "k1": 0.1}, shapes=((8, 8, 3), (9, 7, 1))
    ),
    "InstanceNormalization": of_layer(
        {}, {"axis": -1}, {"axis": 2, "epsilon": 0.1}, {"center": False}, {"scale": False},
        shapes=_NORMS[1:],
    ),
    "GroupNormalization": of_layer(
        {"groups": 4}, {"groups": 2, "epsilon": 0.1}, {"groups": 8, "center": False},
        {"groups": 2, "scale": False}, shapes=_NORMS[1:],
    ),
    "Swish": of_layer({}, {"beta": 2.0}, {"beta": 1.5, "trainable": True}, shapes=_NORMS),
    "SineReLU": of_layer({}, {"epsilon": 0.5}, shapes=_NORMS),
    "SubPixelUpscaling": of_layer({}, {"scale_factor": 4}, shapes=((2, 3, 16),)),
    "squash": of_function({}, {"axis": 0}),
    "Clip": of_function({}, {"c": 0.5}),
    "CyclicLR": cyclic_rates,
    "load_data": chunks,
    "ResNet": of_network(
        ((), {"repetitions": [1, 1], "initial_filters": 8}),
        (
            ((32, 32, 3), 1, "basic", "v1"),
            {"repetitions": [2, 1], "initial_filters": 8, "activation": "sigmoid"},
        ),
        (
            ((32, 32, 3),),
            {"repetitions": [2], "initial_filters": 4, "include_top": False, "final_pooling": "max",
             "transition_dilation_rate": (2, 2), "initial_pooling": None,
             "initial_strides": (1, 1), "initial_kernel_size": (3, 3)},
        ),
        (
            ((32, 32, 3), 2, "bottleneck"),
            {"repetitions": [1], "initial_filters": 4, "top": "segmentation",
             "transition_dilation_rate": (2, 2), "initial_pooling": None,
             "initial_strides": (1, 1)},
        ),
        (
            ((32, 32, 3), 3),
            {"repetitions": [1], "initial_filters": 4, "include_top": False, "dropout": 0.0},
        ),
    ),
    **{
        f"ResNet{layers}": of_network((((64, 64, 3), 5), {}), size=64, trained=layers == 18)
        for layers in (18, 34, 50, 101)
    },
    "WideResidualNetwork": of_network(
        ((10, 1), {"weights": None}),
        ((16, 2, 0.0, False, None), {"input_shape": (32, 32, 3)}),
        ((10, 2), {"weights": None, "classes": 4, "activation": "sigmoid"}),
    ),
}  # fmt: skip
"""By the name of the class or function."""
