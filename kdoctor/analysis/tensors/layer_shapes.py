"""What the layers of Keras make of a shape.

Of a size only what the call of the layer says is known; the number of axes always.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_hidden, passed, value_of
from kdoctor.analysis.tensors.known_shapes import Shape, size_of, sizes_in
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

KEEP_SHAPE: Final = frozenset({
    "Activation", "ActivityRegularization", "AlphaDropout", "BatchNormalization", "Dropout", "ELU",
    "GaussianDropout", "GaussianNoise", "GroupNormalization", "Identity", "LayerNormalization",
    "LeakyReLU", "Masking", "PReLU", "ReLU", "Rescaling", "Softmax", "SpatialDropout1D",
    "SpatialDropout2D", "SpatialDropout3D", "UnitNormalization",
})  # fmt: skip
"""What comes out has the shape of what goes in."""
AXES_OF: Final = {
    **{
        f"{name}{n}D": n + 2
        for n in (1, 2, 3)
        for name in (
            "AveragePooling",
            "Conv",
            "Cropping",
            "MaxPooling",
            "UpSampling",
            "ZeroPadding",
        )
    },
    **{f"Conv{n}DTranspose": n + 2 for n in (1, 2, 3)},
    **{f"{name}{n}D": n + 2 for n in (1, 2) for name in ("DepthwiseConv", "SeparableConv")},
}
"""Layers that take a tensor of so many axes, and give one of as many."""
POOLED_AXES: Final = {
    f"Global{name}{n}D": n + 2 for n in (1, 2, 3) for name in ("AveragePooling", "MaxPooling")
}
"""Layers that take a tensor of so many axes, and give one of two."""
MERGING: Final = frozenset({"Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"})
_RECURRENT: Final = frozenset({"GRU", "LSTM", "SimpleRNN"})
_INPUTS: Final = frozenset({"Input", "InputLayer"})
_MAX_DEPTH: Final = 4  # of layers in wrappers


def class_of_keras(module: Module, layer: cst.Call) -> str | None:
    """Return the class of the layer that a call creates, if it is one of Keras and no subclass."""
    made, name = module.type_of(layer), module.qualified(layer.func)
    is_one = made is not None and made.kind is Kind.LAYER
    return made.cls if made is not None and is_one and name and split_root(name) else None


def made_by(module: Module, layer: cst.Call, given: Shape, depth: int = 0) -> Shape | None:
    """Return what the Keras layer that a call creates makes of one tensor; None if unknown."""
    cls = class_of_keras(module, layer)
    if cls is None or is_hidden(layer) or depth > _MAX_DEPTH:
        return None
    if cls in KEEP_SHAPE:
        return given
    if cls in AXES_OF:
        return (given[0], *(None for _ in given[1:])) if len(given) == AXES_OF[cls] else None
    if cls in POOLED_AXES:
        fits = len(given) == POOLED_AXES[cls] and passed(layer, "keepdims") is None
        return (given[0], None) if fits else None
    if cls in _RECURRENT:
        return _recurrent(module, layer, given)
    match cls:
        case "Dense" if len(given) > 1:
            return (*given[:-1], _size(module, layer, "units", 0))
        case "Embedding":
            return (*given, _size(module, layer, "output_dim", 1))
        case "Flatten":
            return (given[0], None)
        case "RepeatVector" if len(given) == 2:
            return (given[0], _size(module, layer, "n", 0), given[1])
        case "Reshape":
            return _reshaped(module, layer, given)
        case "Permute":
            return (given[0], *(None for _ in given[1:]))
        case "TimeDistributed" if len(given) > 2:
            inner = _wrapped(module, layer)
            found = inner and made_by(module, inner, (given[0], *given[2:]), depth + 1)
            return (given[0], given[1], *found[1:]) if found else None
        case "Bidirectional":
            inner = _wrapped(module, layer)
            found = inner and made_by(module, inner, given, depth + 1)
            is_one = literal(passed(layer, "merge_mode", 1), absent="concat") is not None
            return (*found[:-1], None) if found and is_one else None
    return None


def merged_by(module: Module, layer: cst.Call, given: list[Shape]) -> Shape | None:
    """Return what a Keras layer makes of several tensors that have as many axes."""
    cls = class_of_keras(module, layer)
    if not given or len({len(each) for each in given}) != 1:
        return None
    if cls in MERGING:
        return given[0] if len(set(given)) == 1 else tuple(None for _ in given[0])
    if cls == "Concatenate":
        return joined(given, literal(passed(layer, "axis", 0), absent=-1))
    return None


def joined(given: list[Shape], axis: object) -> Shape | None:
    """Return the shape of tensors that are put behind each other."""
    axes = len(given[0])
    if type(axis) is not int or not -axes <= axis < axes:
        return None
    if len({len(each) for each in given}) != 1:
        return None
    sizes = [each[axis] for each in given]
    known = [each for each in sizes if each is not None]
    whole = sum(known) if len(known) == len(sizes) else None
    at = axis % axes
    return (*given[0][:at], whole, *given[0][at + 1 :])


def shape_of_input(module: Module, call: cst.Call) -> Shape | None:
    """Return the shape that `Input` or `InputLayer` is given, the axis of the batch with it."""
    if is_hidden(call) or passed(call, "tensor") is not None:
        return None
    whole = passed(call, "batch_shape") or passed(call, "batch_input_shape")
    if whole is not None:
        return _written(module, whole)
    shape = passed(call, "shape", 0) or passed(call, "input_shape")
    if shape is None:
        return None
    inner = _written(module, shape)
    return None if inner is None else (None, *inner)


def shape_passed_to(module: Module, layer: cst.Call) -> Shape | None:
    """Return the input shape that the first layer of a `Sequential` is given."""
    name = (module.qualified(layer.func) or "").rpartition(".")[2]
    if name in _INPUTS:
        return shape_of_input(module, layer)
    whole, inner = passed(layer, "batch_input_shape"), passed(layer, "input_shape")
    if whole is not None:
        return _written(module, whole)
    shape = None if inner is None else _written(module, inner)
    return None if shape is None else (None, *shape)


def _written(module: Module, shape: cst.BaseExpression) -> Shape | None:
    """Return a shape that is a tuple or a list for sure: `Input(3)` is refused."""
    value = value_of(module, shape)
    return sizes_in(module, value) if isinstance(value, cst.Tuple | cst.List) else None


def _size(module: Module, layer: cst.Call, name: str, place: int) -> int | None:
    given = passed(layer, name, place)
    return None if given is None else size_of(module, given)


def _recurrent(module: Module, layer: cst.Call, given: Shape) -> Shape | None:
    state, sequences = (
        literal(passed(layer, name), absent=False) for name in ("return_state", "return_sequences")
    )
    if len(given) != 3 or state is not False or type(sequences) is not bool:
        return None
    units = _size(module, layer, "units", 0)
    return (given[0], given[1], units) if sequences else (given[0], units)


def _reshaped(module: Module, layer: cst.Call, given: Shape) -> Shape | None:
    target = passed(layer, "target_shape", 0)
    shape = None if target is None else _written(module, target)
    if shape is None:
        return None
    return (given[0], *(None if each == -1 else each for each in shape))


def _wrapped(module: Module, layer: cst.Call) -> cst.Call | None:
    inner = value_of(module, passed(layer, "layer", 0))
    return inner if isinstance(inner, cst.Call) else None
