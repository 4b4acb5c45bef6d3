"""`layer.call(inputs=x)`, `layer.compute_mask(inputs=x, mask=m)`: names differ among layers."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final

from kdoctor.analysis.calls import arguments, is_hidden
from kdoctor.analysis.queries import Call, calls
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

# What layers of Keras 2 call their first arguments: the places are the same in all layers.
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "call": ("inputs",),
    "build": ("input_shape",),
    "compute_output_shape": ("input_shape",),
    "compute_mask": ("inputs", "mask"),
}
_MASK: Final = "compute_mask"


@rule(
    "KD332",
    severity=Severity.LEGACY,
    since="3.0",
    look_for=reduce(
        or_,
        (
            calls(method, on=Kind.LAYER, overridden=True).passing(*names)
            for method, names in _NAMES.items()
        ),
    ),
)
def check(call: Call) -> Finding | None:
    """Report each such call of a layer of which nobody knows the class: KD303 tells the others."""
    if call.owner is None or call.owner.qualified is not None or is_hidden(call.node):
        return None
    method = call.name.rpartition(".")[2]
    named = {each.keyword.value: each for each in arguments(call.node) if each.keyword}
    keywords = [each for each in _NAMES[method] if each in named]
    if not keywords:
        return None
    return call.finding(
        f"`{keywords[-1]}=` of `{method}` is refused by {_who_refuses(method, keywords[-1])}",
        at=named[keywords[0]],
        symbol=method,
        help="Pass it by position, as the first argument."
        if len(_NAMES[method]) == 1
        else "Pass the input and the mask by position.",
        fix=_by_position(call, method),
    )


def _who_refuses(method: str, keyword: str) -> str:
    who = (
        "most layers: TypeError: Layer" if keyword == "mask" else "recurrent layers: TypeError: RNN"
    )
    return f"{who}.{method}() got an unexpected keyword argument '{keyword}'"


def _by_position(call: Call, method: str) -> Fix | NoFix:
    given, names = arguments(call.node), _NAMES[method]
    edits: list[Edit] = []
    for place, each in enumerate(given):
        keyword = each.keyword
        if keyword is None or keyword.value not in names:
            continue
        if place != names.index(keyword.value):
            return NoFix("another argument stands before it")
        start = call.module.span(keyword).start
        edits.append(Edit(Span(start, call.module.outer_span(each.value).start), ("",)))
    if method == _MASK and len(given) == 1:
        end = call.module.outer_span(given[0].value).end
        edits.append(Edit(Span(end, end), (", None",)))
    return call.fix("Pass them by position" if len(edits) > 1 else "Pass it by position", *edits)
