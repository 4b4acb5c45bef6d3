"""Generated inputs, the same on every machine, and arguments to try."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import types
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class Pair(NamedTuple):
    """Targets and predictions. With ``is_wide`` no gradients are compared: there are kinks."""

    label: str
    true: np.ndarray
    predicted: np.ndarray
    is_edge: bool = False
    is_wide: bool = False


class Drawn(NamedTuple):
    """A placeholder for an object that each side makes for itself: a model, its data, a layer."""

    what: str


_NOTHING: Mapping[str, Any] = types.MappingProxyType({})
_COUNTS = (
    *("units", "filters", "dim", "channels", "size", "classes", "features", "depth"),
    *("_num", "_number", "_count"),
)
_IMAGE = (32, 32, 3)
# Arguments that Keras takes as one number, or as one for each spatial axis.
_OF_SIDES = ("kernel_size", "pool_size", "strides", "dilation_rate")
# A volume, and images large enough for networks without padding.
_OTHER_IMAGES = ((16, 16, 16, 1), (64, 64, 3), (188, 188, 3), (224, 224, 3))
_BY_NAME: dict[str, Any] = {
    **dict.fromkeys(("kernel_size", "k_size", "window"), 3),
    **dict.fromkeys(("pool_size", "strides", "heads", "n_heads", "num_heads", "groups", "n"), 2),
    **dict.fromkeys(("axis", "channel_axis", "concat_axis", "bn_axis"), -1),
    **dict.fromkeys(("padding", "border_mode"), "same"),
    **dict.fromkeys(("kernel_initializer", "initializer", "init"), "he_normal"),
    **dict.fromkeys(("weight_decay", "l2", "epsilon", "eps"), 1e-3),
    **dict.fromkeys(("dilation_rate", "dilation", "stage"), 2),
    **dict.fromkeys(("data_format",), "channels_last"),
    **dict.fromkeys(("activation", "act"), "relu"),
    **dict.fromkeys(("name", "prefix"), "thing"),
    **dict.fromkeys(("input_shape", "shape", "img_shape", "image_shape"), _IMAGE),
    **dict.fromkeys(("input_dim", "vocab_size", "max_features"), 10),
    **dict.fromkeys(("maxlen", "max_len", "seq_len", "length", "timesteps"), 6),
    **dict.fromkeys(
        ("rate", "dropout", "dropout_rate", "alpha", "beta", "gamma", "p", "scale", "factor"), 0.5
    ),
    **dict.fromkeys(
        ("clip_value", "value", "weight", "margin", "delta", "momentum", "smooth"), 0.5
    ),
}
# Parameters of callbacks, and of functions that take a model.
OF_MODELS: dict[str, Any] = {
    **dict.fromkeys(("model", "base_model", "keras_model"), Drawn("model")),
    **dict.fromkeys(("x_train", "train_x", "x_data"), Drawn("x")),
    **dict.fromkeys(("y_train", "train_y", "y_data"), Drawn("y")),
    **dict.fromkeys(("x", "xs", "x_val", "x_test", "x_valid", "inputs", "images"), Drawn("x")),
    **dict.fromkeys(("y", "ys", "y_val", "y_test", "y_valid", "targets", "labels"), Drawn("y")),
    **dict.fromkeys(
        ("validation_data", "val_data", "valid_data", "test_data", "data"), Drawn("held_out")
    ),
    **dict.fromkeys(("training_data", "train_data"), Drawn("trained")),
    **dict.fromkeys(("optimizer", "opt"), Drawn("optimizer")),
    **dict.fromkeys(("schedule", "scheduler", "lr_schedule"), Drawn("schedule")),
    **dict.fromkeys(("layer_name",), Drawn("layer name")),
    **{each: [Drawn("layer name")] for each in ("layer_names", "layers_name", "layers_names")},
    **dict.fromkeys(("class_index", "class_idx", "label", "initial_epoch", "verbose"), 0),
    **dict.fromkeys(("hyperparameter",), "learning_rate"),
    **dict.fromkeys(("monitor", "metric"), "val_loss"),
    **dict.fromkeys(("period", "interval", "patience", "freq", "frequency"), 1),
    **dict.fromkeys(("epochs", "nb_epochs", "n_epochs", "num_epochs", "total_epochs"), 3),
    **dict.fromkeys(("batch_size", "step_size", "steps_per_epoch"), 4),
    **dict.fromkeys(("lr", "base_lr", "init_lr", "initial_lr", "learning_rate"), 0.1),
    **dict.fromkeys(("max_lr", "lr_max"), 0.2),
    **dict.fromkeys(("min_lr", "lr_min"), 0.01),
    **dict.fromkeys(("output_dir", "log_dir", "save_dir", "logdir", "folder", "outdir"), "out"),
}
# Parameters of layers that take other layers.
OF_LAYERS: dict[str, Any] = {
    **dict.fromkeys(("layer", "inner_layer", "base_layer", "wrapped"), Drawn("layer")),
    **dict.fromkeys(("cell", "rnn_cell"), Drawn("cell")),
}
# Only for what accepts nothing else: on Keras 2, what takes an image may accept it too.
VOLUME = "a volume"
# Shows where a function clips, and its value at zero.
WIDE = "small and large numbers, and zero"
_TENSOR = re.compile(r"(^|_)(inputs?(_tensor|_layer)?|tensor)$")
_COUNTER = re.compile(r"epoch|step|iteration|index|idx|batch|^(i|n|t|ep)$")
_COUNTED = (0, 1, 2, 5, 9, 10, 11, 20, 30, 31, 40, 50, 60, 80, 100, 120, 150, 200, 1000)
_MAX_TENSORS = 3  # positional tensors of a function
_MAX_ELEMENTS = 500_000
_UNKNOWN: tuple[Any, ...] = (4, 0.5, (4, 4), "relu", 2, (8, 8, 3))


def rng(number: int = 0) -> np.random.Generator:
    """Return an independent random generator."""
    return np.random.default_rng([20, number])


def pairs() -> list[Pair]:
    """Return typical targets and predictions for losses and metrics."""
    draw = rng()

    def normal(*shape: int) -> np.ndarray:
        return draw.normal(size=shape).astype("float32")

    def uniform(*shape: int) -> np.ndarray:
        return draw.uniform(0.02, 0.98, size=shape).astype("float32")

    def softmax(*shape: int) -> np.ndarray:
        raised = np.exp(2 * normal(*shape))
        return np.asarray(raised / raised.sum(-1, keepdims=True), "float32")

    def one_hot(*shape: int) -> np.ndarray:
        return np.eye(shape[-1], dtype="float32")[draw.integers(0, shape[-1], shape[:-1])]

    def bits(*shape: int) -> np.ndarray:
        return draw.integers(0, 2, shape).astype("float32")

    def classes(number: int, *shape: int) -> np.ndarray:
        return draw.integers(0, number, shape).astype("int32")

    sure = np.eye(3, dtype="float32")[[0, 1, 2, 0]]
    nearly = np.abs(sure[[0, 2, 2, 0]] - 1e-6).astype("float32")
    return [
        Pair("one-hot, probabilities (4, 3)", one_hot(4, 3), softmax(4, 3)),
        Pair("masks (2, 4, 5, 1)", bits(2, 4, 5, 1), uniform(2, 4, 5, 1)),
        Pair("one-hot masks (2, 4, 5, 3)", one_hot(2, 4, 5, 3), softmax(2, 4, 5, 3)),
        Pair("numbers (3, 7)", 2 * normal(3, 7), 2 * normal(3, 7)),
        Pair("bits (5, 1)", bits(5, 1), uniform(5, 1)),
        Pair("bits (6,)", bits(6), uniform(6)),
        Pair("dense (2, 4, 3)", uniform(2, 4, 3), uniform(2, 4, 3)),
        Pair("hard predictions (4, 3)", sure, sure[[0, 2, 1, 1]], is_edge=True),
        Pair("confident predictions (4, 3)", sure, nearly, is_edge=True),
        Pair(f"{WIDE} (4, 6)", normal(4, 6), wide(normal(4, 6)), is_wide=True),
        Pair("all-zero truth (2, 4, 5, 1)", np.zeros((2, 4, 5, 1), "float32"), uniform(2, 4, 5, 1)),
        Pair("integer truth (4, 3)", one_hot(4, 3).astype("int32"), softmax(4, 3)),
        Pair("class indices (4, 1)", classes(3, 4, 1), softmax(4, 3)),
        Pair("class indices (4,)", classes(3, 4), softmax(4, 3)),
        Pair("class indices as floats (2, 4, 5, 1)", bits(2, 4, 5, 1), softmax(2, 4, 5, 3)),
    ]


def wide(array: np.ndarray) -> np.ndarray:
    """Return numbers scaled to be very small, large or zero; the first row is all zeros."""
    scales = rng(array.size).choice([0.0, 1e-2, 1.0, 10.0, 100.0], size=array.shape)
    found = np.asarray(array * scales, array.dtype)
    if len(found) > 1:
        found[0] = 0
    return found


def tensors(given: list[tuple[int, ...]] | None = None) -> list[tuple[str, np.ndarray]]:
    """Return typical inputs for layers and activations, those of ``given`` shapes first."""
    shapes = [*(given or []), (3, 5), (2, 6, 4), (2, 8, 8, 3), (1, 5), (1, 6, 4), (5, 5)]
    shapes += [(2, 32), (2, 6, 32), (2, 4, 4, 32)]  # for groups and attention heads
    found = []
    for number, shape in enumerate(dict.fromkeys(shapes)):
        values = rng(number).normal(size=shape).astype("float32") * 1.5
        found.append((f"numbers {shape}", values))
    found.append(("class indices (2, 6)", rng(9).integers(0, 8, (2, 6)).astype("int32")))
    volume = rng(8).normal(size=(2, 4, 4, 4, 3)).astype("float32")
    found.append((f"{VOLUME} {volume.shape}", volume))
    for shape in ((4, 6), (3, 5, 4), (2, 8, 8, 3)):
        values = rng(30 + len(shape)).normal(size=shape).astype("float32")
        found.append((f"{WIDE} {shape}", wide(values)))
    return found


def inputs(given: list[tuple[int, ...]] | None = None) -> list[tuple[str, list[np.ndarray]]]:
    """Return inputs of one tensor, then lists of two or three tensors."""
    single = [(label, [array]) for label, array in tensors(given)]
    several = []
    for count, word in ((2, "two"), (3, "three")):
        for label, array in tensors()[:3]:
            drawn = [array[..., ::-1].copy() * (0.5 + n) for n in range(count)]
            several.append((f"{word} inputs of {label}", drawn))
    return [*single, *several, *_mixed()]


def named_inputs(names: Sequence[str]) -> list[tuple[str, list[np.ndarray]]]:
    """Return inputs with one tensor for each name."""
    drawn = [
        (label, [array * (0.5 + n) for n, _ in enumerate(names)]) for label, array in tensors()
    ]
    told = ", ".join(map(repr, names))
    return [(f"a dict of {told}, each {label}", arrays) for label, arrays in drawn]


def _mixed() -> list[tuple[str, list[np.ndarray]]]:
    """Return mixed inputs, as for graph layers, masks and embedding tables."""
    draw = rng(77)
    steps = draw.normal(size=(2, 6, 4)).astype("float32")
    near = np.eye(6, dtype="float32") + (draw.uniform(size=(2, 6, 6)) < 0.4)
    numbers = draw.integers(0, 2, (2, 6)).astype("int32")
    table = draw.normal(size=(8, 4)).astype("float32")
    return [
        ("two inputs, steps and a matrix", [steps, near.astype("float32")]),
        ("two inputs, steps and an integer matrix", [steps, near.astype("int32")]),
        ("two inputs, steps and class indices", [steps, numbers]),
        ("two inputs, steps and a table", [steps, table]),
        ("two inputs of class indices", [numbers, 1 - numbers]),
        ("three inputs, steps, numbers and a table", [steps, numbers, table]),
    ]


def project_inputs(given: list[list[Any]]) -> list[tuple[str, list[np.ndarray]]]:
    """Return inputs with the shapes and dtypes that the project uses, and two samples."""
    found = []
    for number, parts in enumerate(given):
        arrays = []
        for place, (shape, dtype) in enumerate(parts):
            sizes = (2, *(each if isinstance(each, int) else 6 for each in shape))
            if np.prod(sizes) > _MAX_ELEMENTS:
                break
            draw = rng(40 + 7 * number + place)
            whole = dtype.startswith(("int", "uint", "bool"))
            array = draw.integers(0, 2, sizes) if whole else draw.normal(size=sizes)
            arrays.append(array.astype(dtype or "float32"))
        if arrays and len(arrays) == len(parts):
            shapes = " and ".join(str(each.shape) for each in arrays)
            found.append((f"inputs as in the project, {shapes}", arrays))
    return found


def direction(shape: tuple[int, ...]) -> np.ndarray:
    """Return weights to multiply a result with before its gradient is taken."""
    return (3 * rng(sum(shape) + 31).normal(size=shape)).astype("float32")


def arguments_for(
    function: Any,
    calls: list[dict[str, Any]],
    *,
    skip: int = 0,
    names: Mapping[str, Any] = _NOTHING,
) -> list[tuple[list[Any], dict[str, Any]]]:
    """Return arguments to try: those of calls in the file, then defaults and guesses.

    The caller passes the first ``skip`` parameters. ``names`` gives values by parameter name.
    What is to be ``varied`` is given with all of them.
    """
    others = {
        name: ast.literal_eval(text)
        for call in calls
        if call.get("varied")
        for name, text in call["kwargs"].items()
    }
    calls = [call for call in calls if not call.get("varied")]
    if others:
        tried = arguments_for(function, calls, skip=skip, names=names)
        return [(args, {**kwargs, **others}) for args, kwargs in tried]
    found = []
    for call in calls:
        if call.get("partial"):
            continue
        if call.get("open") and not skip:
            continue  # its first argument is unknown, but needed here
        args = [ast.literal_eval(each) for each in call["args"]]
        kwargs = {key: ast.literal_eval(each) for key, each in call["kwargs"].items()}
        found.append((args[skip:], kwargs))
    try:
        required = required_of(function)[skip:]
    except (TypeError, ValueError):
        return found or [([], {})]
    known = {name: names.get(name.lower(), guess(name)) for name in required}
    rest = [name for name in required if known[name] is None]
    found += [
        ([], {name: value if known[name] is None else known[name] for name in required})
        for value in (_UNKNOWN if rest else (None,))
    ]
    found += [
        ([], {name: other if known[name] == _IMAGE else known[name] for name in required})
        for other in _OTHER_IMAGES
        if _IMAGE in known.values() and not rest
    ]
    further = _required_above(function, known)
    found += [([], {**known, **further})] if further and not rest else []
    for call in calls:
        if call.get("partial"):
            found += _completed(function, call, known, skip)
    pairs = {name: (value, value) for name, value in known.items() if name in _OF_SIDES}
    found += [([], {**known, **pairs})] if pairs and not rest else []
    kept: list[tuple[list[Any], dict[str, Any]]] = []
    for each in found:
        if each not in kept:
            kept.append(each)
    return kept


def _completed(
    function: Any, call: dict[str, Any], known: Mapping[str, Any], skip: int
) -> list[tuple[list[Any], dict[str, Any]]]:
    """Return the arguments of a partly known call; missing ones are guessed by name.

    The result is empty if one of them cannot be guessed.
    """
    parameters = list(inspect.signature(function).parameters)
    given = dict(zip(parameters, call["args"]))  # noqa: B905 - strict= is of Python 3.10
    given.update(call["kwargs"])
    values = {
        name: ast.literal_eval(text)
        for name, text in given.items()
        if text is not None and name not in parameters[:skip]
    }
    rest = {name: value for name, value in known.items() if name not in values}
    if not values or None in rest.values():
        return []
    return [([], {**rest, **values})]


def counted_from(made_with: tuple[list[Any], dict[str, Any]]) -> list[Any]:
    """Return the arguments with other numbers for what counts: a schedule changes at some epoch."""
    args, kwargs = made_with
    return [
        (args, {**kwargs, name: number})
        for name, value in kwargs.items()
        if isinstance(value, int) and _COUNTER.search(name.lower())
        for number in _COUNTED
    ]


def counts_of_tensors(function: Any) -> list[int]:
    """Return how many leading parameters may be tensors: one, or all with unknown names."""
    try:
        required = required_of(function)
    except (TypeError, ValueError):
        return [1]
    count = 0
    while count < len(required) and guess(required[count]) is None:
        count += 1
    return [1] if count < 2 or count > _MAX_TENSORS else [1, count]


def required_of(function: Any) -> list[str]:
    """Return the names of the parameters without a default."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind in kinds and each.default is inspect.Parameter.empty
    ]


def _required_above(function: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return guesses for parameters of a base class that are passed by ``**kwargs``."""
    found: dict[str, Any] = {}
    for each in getattr(function, "__mro__", ()):
        maker = vars(each).get("__init__")
        if maker is None:
            continue
        parameters = inspect.signature(maker).parameters.values()
        for name in required_of(maker)[1:]:
            value = guess(name)
            if name not in known and value is not None:
                found[name] = value
        if all(each.kind is not inspect.Parameter.VAR_KEYWORD for each in parameters):
            break
    return found


def named_tensors(function: Any) -> list[str]:
    """Return the required parameters whose names suggest a tensor, at any position."""
    with contextlib.suppress(TypeError, ValueError):
        return [each for each in required_of(function) if _TENSOR.search(each.lower())]
    return []


def is_model(name: str) -> bool:
    """Say whether a parameter with this name takes a model."""
    found = OF_MODELS.get(name.lower())
    return isinstance(found, Drawn) and found.what == "model"


def guess(name: str) -> Any:
    """Return a value for a parameter with this name; None if it is unknown."""
    lower = name.lower()
    if lower in _BY_NAME:
        return _BY_NAME[lower]
    if lower.startswith(("use_", "is_", "with_", "has_", "include_")):
        return True
    counted = lower.startswith(("n_", "num_", "nb_", "output_")) or lower.endswith(_COUNTS)
    return 4 if counted else None
