"""Shapes of the weights that Keras' own layers make of an initializer, by what the layer is given.

``tests/rules/test_constant_is_not_reshaped.py`` builds each of them in both releases, and compares.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import Call
from kdoctor.analysis.tensors.known_shapes import Shape, size_of, sizes_in
from kdoctor.syntax.literals import literal_in


class _Axis(Struct, frozen=True):
    """An axis as long as a parameter of the layer says: ``times`` that, or one item of it.

    Without a parameter its length comes from the inputs.
    """

    parameter: str = ""
    times: int = 1
    item: int | None = None


_FROM_INPUTS: Final = _Axis()
_UNITS: Final = _Axis("units")
_FILTERS: Final = _Axis("filters")
_ONE: Final = 1

Axes = tuple[_Axis | int, ...]


def _window(axes: int) -> tuple[_Axis, ...]:
    return tuple(_Axis("kernel_size", item=each) for each in range(axes))


def _convolution(axes: int) -> dict[str, Axes]:
    kernel = (*_window(axes), _FROM_INPUTS, _FILTERS)
    return {"kernel_initializer": kernel, "bias_initializer": (_FILTERS,)}


def _transposed(axes: int) -> dict[str, Axes]:
    kernel = (*_window(axes), _FILTERS, _FROM_INPUTS)
    return {"kernel_initializer": kernel, "bias_initializer": (_FILTERS,)}


def _depthwise(axes: int) -> dict[str, Axes]:
    kernel = (*_window(axes), _FROM_INPUTS, _Axis("depth_multiplier"))
    return {"depthwise_initializer": kernel, "bias_initializer": (_FROM_INPUTS,)}


def _separable(axes: int) -> dict[str, Axes]:
    return {
        "depthwise_initializer": (*_window(axes), _FROM_INPUTS, _Axis("depth_multiplier")),
        "pointwise_initializer": (*(_ONE,) * axes, _FROM_INPUTS, _FILTERS),
        "bias_initializer": (_FILTERS,),
    }


def _recurrent(gates: int) -> dict[str, Axes]:
    gated = _Axis("units", times=gates)
    return {"kernel_initializer": (_FROM_INPUTS, gated), "recurrent_initializer": (_UNITS, gated)}


_VECTOR: Final[Axes] = (_FROM_INPUTS,)
_SCALE: Final = {"gamma_initializer": _VECTOR, "beta_initializer": _VECTOR}

SHAPES: Final[dict[str, dict[str, Axes]]] = {
    "Dense": {"kernel_initializer": (_FROM_INPUTS, _UNITS), "bias_initializer": (_UNITS,)},
    "Embedding": {"embeddings_initializer": (_Axis("input_dim"), _Axis("output_dim"))},
    **{f"Conv{axes}D": _convolution(axes) for axes in (1, 2, 3)},
    **{f"Conv{axes}DTranspose": _transposed(axes) for axes in (1, 2, 3)},
    **{f"DepthwiseConv{axes}D": _depthwise(axes) for axes in (1, 2)},
    **{f"SeparableConv{axes}D": _separable(axes) for axes in (1, 2)},
    **{f"SimpleRNN{end}": _recurrent(1) for end in ("", "Cell")},
    **{f"GRU{end}": _recurrent(3) for end in ("", "Cell")},
    **{f"LSTM{end}": _recurrent(4) for end in ("", "Cell")},
    "BatchNormalization": {
        **_SCALE,
        "moving_mean_initializer": _VECTOR,
        "moving_variance_initializer": _VECTOR,
    },
    "LayerNormalization": _SCALE,
}
"""The axes of each weight, by the layer and the keyword of its initializer."""
KEYWORDS: Final = tuple(dict.fromkeys(name for each in SHAPES.values() for name in each))
_AXIS: Final = "axis"  # of a normalization: of several axes the weight has several, too


def shape_of_weight(call: Call, keyword: str) -> Shape | None:
    """Return the shape of the weight that a layer makes with this initializer, if it is known."""
    axes = SHAPES.get(call.cls, {}).get(keyword)
    given = call.given(_AXIS)
    is_one_axis = given is None or size_of(call.module, given.value) is not None
    if axes is None or call.is_hidden or not is_one_axis:
        return None
    return tuple(each if isinstance(each, int) else _length(call, each) for each in axes)


def _length(call: Call, axis: _Axis) -> int | None:
    if not axis.parameter:
        return None
    given = call.given(axis.parameter)
    if given is None:
        return _default(call, axis.parameter)
    value = value_of(call.module, given.value)
    size = size_of(call.module, value)
    if size is None and axis.item is not None:
        sizes = sizes_in(call.module, value)
        size = sizes[axis.item] if sizes is not None and axis.item < len(sizes) else None
    return None if size is None else size * axis.times


def _default(call: Call, name: str) -> int | None:
    signature = call.facts.signature(call.name)
    parameter = None if signature is None else signature.parameter(name)
    default = None if parameter is None else literal_in(parameter.default or "")
    return default if isinstance(default, int) else None
