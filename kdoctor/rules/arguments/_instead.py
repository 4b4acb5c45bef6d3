"""Keywords that another expression stands for: not renamed, not left out, but written anew."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from kdoctor.model import Edit, Hole, Precedence, Span
from kdoctor.rewrite import without
from kdoctor.rewrite.precedence import binds
from kdoctor.rules.arguments._calls import KerasCall
from kdoctor.rules.calls import literal, value_of
from kdoctor.syntax import Module

_NEEDED_FOR_IF = Precedence.OR  # what stands on either side of an `if … else …`


@dataclass(frozen=True, slots=True)
class Instead:
    """What to write in place of a keyword."""

    title: str
    edits: tuple[Edit, ...]
    unsafe_because: str = ""


def instead_of(module: Module, call: KerasCall, argument: cst.Arg) -> Instead | None:
    """Return what stands for a keyword, None where nothing is known to."""
    assert argument.keyword is not None
    match call.leaf, argument.keyword.value:
        case "to_categorical", "dtype":
            return _converted(module, call, argument)
        case "load_img", "grayscale":
            return _color_mode(module, call, argument)
    return None


def _converted(module: Module, call: KerasCall, argument: cst.Arg) -> Instead | None:
    edits = without(module, call.call, [argument])
    if edits is None:
        return None
    end = module.span(call.call).end
    value = module.source(argument.value)
    if "\n" in value:
        return None
    return Instead(
        f"Write `.astype({value})` behind it",
        (*edits, Edit(Span(end, end), (f".astype({value})",))),
        unsafe_because="of a tensor it gives a tensor, which has no `astype`",
    )


def _color_mode(module: Module, call: KerasCall, argument: cst.Arg) -> Instead | None:
    if call.keyword("color_mode") is not None:
        return None
    span = module.span(argument)
    if literal(value_of(module, argument.value)) is True:
        return Instead("Write `color_mode='grayscale'`", (Edit(span, ("color_mode='grayscale'",)),))
    hole = Hole(
        module.outer_span(argument.value),
        required=_NEEDED_FOR_IF,
        own=binds(argument.value),
    )
    return Instead(
        "Write `color_mode=`",
        (Edit(span, ("color_mode='grayscale' if ", hole, " else 'rgb'")),),
    )
