"""``MaxPooling2D(padding="SAME")``: in capitals, which pooling of Keras 3 does not take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.model import Edit
from kdoctor.rules.arguments._refused_value import Refused
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

POOLING: Final = frozenset(
    f"{name}{rank}D"
    for name in ("MaxPooling", "MaxPool", "AveragePooling", "AvgPool")
    for rank in (1, 2, 3)
)
NO_CAUSAL: Final = frozenset({"SeparableConv1D", "SeparableConvolution1D"})
KNOWN: Final = frozenset({"same", "valid"})
# Where `padding` stands by position.
PLACES: Final = {**dict.fromkeys(POOLING, 2), **dict.fromkeys(NO_CAUSAL, 3)}


def padding(module: Module, call: KerasCall) -> Iterator[Refused]:
    """Yield the padding of a layer, where it is one that the layer refuses."""
    given = argument(call.call, "padding", PLACES[call.leaf]) if call.leaf in PLACES else None
    how = None if given is None else literal(value_of(module, given.value))
    if given is None or not isinstance(how, str):
        return
    if call.leaf in POOLING and how not in KNOWN and how.lower() in KNOWN:
        yield _in_capitals(module, given, call.made, how)
    elif call.leaf in NO_CAUSAL and how.lower() == "causal":
        yield Refused(
            given,
            "ValueError: The `padding` argument must be a list/tuple or one of",
            "Pad before the layer: `keras.layers.ZeroPadding1D(((kernel_size - 1) * "
            "dilation_rate, 0))`, then use `padding='valid'`.",
            no_fix_because="it needs an additional layer",
        )


def _in_capitals(module: Module, given: cst.Arg, cls: str, how: str) -> Refused:
    node = given.value
    edits = (
        (Edit(module.span(node), (node.value.replace(how, how.lower()),)),)
        if isinstance(node, cst.SimpleString)
        else ()
    )
    return Refused(
        given,
        f"ValueError: Exception encountered when calling {cls}.call(). Argument `padding` must be "
        f"either 'valid' or 'same'. Received: padding={how}",
        f"Write '{how.lower()}', in lower case.",
        edits,
        f"Write '{how.lower()}'",
        no_fix_because="the string is defined elsewhere, and may also be passed to TensorFlow",
        proofs=("Pool",),
    )
