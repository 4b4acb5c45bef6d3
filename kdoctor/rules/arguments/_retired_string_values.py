"""Values that are a name in a string, by which the target does not know the thing any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, speller_at
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.model import Edit
from kdoctor.rewrite.dtypes import SHORT_DTYPES, full_dtype
from kdoctor.rules.arguments._refused_value import Refused
from kdoctor.rules.arguments._short_names import CONSTANT
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

# These two pass on no dtype: "float" did not make tables of numbers in Keras 2 either.
_DEAF_LAYERS: Final = frozenset({"IntegerLookup", "StringLookup"})
# What takes a dtype, or by another name a policy, as its first argument, and what it says.
_TAKE_IT_FIRST: Final = {
    "InputSpec": "dtype",
    "Policy": "name",
    "set_global_policy": "policy",
}
_TAKE_A_DTYPE: Final = frozenset({"Input", "InputLayer", "InputSpec", "add_weight"})


def known_as(
    module: Module,
    node: cst.BaseExpression,
    names: dict[str, str],
    what: str,
    unsafe_because: str = "",
) -> Iterator[Refused]:
    """Report a short name that has become another, ``what`` being the thing it names."""
    if not isinstance(node, cst.SimpleString) or node.raw_value not in names:
        return
    old, new = node.raw_value, names[node.raw_value]
    if new == "cosine_similarity":
        unsafe_because = "its sign changed between releases of Keras 2"
    text = node.value.replace(old, new)
    yield Refused(
        node,
        f"ValueError: Could not interpret {what} identifier: {old}",
        f"It is `{new}` now.",
        (Edit(module.span(node), (text,)),),
        f"Write {text}",
        unsafe_because=unsafe_because,
        proofs=tuple(names),
    )


def regularizer(module: Module, given: cst.Arg) -> Iterator[Refused]:
    """Report the text for both penalties, which are a class now."""
    if literal(given.value) != "l1_l2":
        return
    spelled, need = speller_at(module, given).spell("keras.regularizers.L1L2")
    text = f"{spelled}(l1=0.01, l2=0.01)"
    yield Refused(
        given,
        "ValueError: Could not interpret regularizer identifier: l1_l2",
        "The string meant 0.01 for both.",
        (Edit(module.outer_span(given.value), (text,)),),
        f"Write `{text}`",
        proofs=("l1_l2",),
        imports=() if need is None else (need,),
    )


def initializer(module: Module, given: cst.Arg) -> Iterator[Refused]:
    """Report the text for a constant, which has no number any more: it was 0."""
    if not isinstance(given.value, cst.SimpleString) or literal(given.value) not in CONSTANT:
        return
    text = given.value.value.replace(given.value.raw_value, "zeros")
    yield Refused(
        given,
        "KeyError: 'value'",
        "The string meant the constant 0.",
        (Edit(module.span(given.value), (text,)),),
        f"Write {text}",
        proofs=("initializer='constant'",),
    )


def dtype(module: Module, call: KerasCall) -> Iterator[Refused]:
    """Report a dtype by a name that only TensorFlow has for it."""
    given = _dtype_of(call)
    if given is None or not isinstance(given.value, cst.SimpleString):
        return
    written = full_dtype(given.value)
    if written is None:
        return
    short = given.value.raw_value
    yield Refused(
        given,
        f"ValueError: Invalid dtype: {short}"
        if call.leaf in _TAKE_A_DTYPE
        else f"ValueError: Cannot convert '{short}' to a mixed precision DTypePolicy.",
        f"Keras 3 only knows it as `{SHORT_DTYPES[short]}`.",
        (Edit(module.span(given.value), (written,)),),
        f"Write {written}",
        proofs=("double", "half"),
    )


def _dtype_of(call: KerasCall) -> cst.Arg | None:
    first = _TAKE_IT_FIRST.get(call.leaf)
    if first is not None:
        return argument(call.call, first, 0)
    takes_one = call.leaf in _TAKE_A_DTYPE or call.kind in (Kind.LAYER, Kind.METRIC)
    return call.keyword("dtype") if takes_one and call.leaf not in _DEAF_LAYERS else None
