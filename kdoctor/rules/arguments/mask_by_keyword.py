"""`layer.compute_mask(inputs=x, mask=m)`: layers call these arguments by different names."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import arguments, is_hidden
from kdoctor.analysis.queries import Call, calls
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_NAMES: Final = ("inputs", "mask")
_UNEXPECTED: Final = "TypeError: {}.compute_mask() got an unexpected keyword argument '{}'"
_REFUSED: Final = {
    "inputs": f"recurrent layers: {_UNEXPECTED.format('RNN', 'inputs')}",
    "mask": f"most layers: {_UNEXPECTED.format('Layer', 'mask')}",
}
_MISSING: Final = (
    "`compute_mask` without a mask is refused by most layers: TypeError: Layer.compute_mask() "
    "missing 1 required positional argument: 'previous_mask'"
)


@rule(
    "KD332",
    severity=Severity.LEGACY,
    since="3.0",
    look_for=calls("compute_mask", on=Kind.LAYER, overridden=True).passing("inputs")
    | calls("compute_mask", on=Kind.LAYER, overridden=True).passing("mask"),
)
def check(call: Call) -> Finding | None:
    """Report each such call of a layer of which nobody knows the class: KD303 tells the others."""
    if call.owner is None or call.owner.qualified is not None or is_hidden(call.node):
        return None
    given = arguments(call.node)
    named = [each for each in given if each.keyword is not None]
    keywords = {each.keyword.value for each in named if each.keyword is not None}
    if not keywords or not keywords <= set(_NAMES):
        return None
    name = max(keywords)  # `mask`, which more of them refuse
    return call.finding(
        f"`{name}=` of `compute_mask` is refused by {_REFUSED[name]}"
        if len(given) > 1
        else _MISSING,
        at=named[0],
        symbol="compute_mask",
        help="Pass the input and the mask by position.",
        fix=_by_position(call, [*given]),
    )


def _by_position(call: Call, given: list[cst.Arg]) -> Fix | NoFix:
    names = [None if each.keyword is None else each.keyword.value for each in given]
    if any(name not in (None, wanted) for name, wanted in zip(names, _NAMES, strict=False)):
        return NoFix("the mask stands before the input")
    module = call.module
    edits = [
        Edit(Span(module.span(each.keyword).start, module.outer_span(each.value).start), ("",))
        for each in given
        if each.keyword is not None
    ]
    if len(given) == 1:
        end = module.outer_span(given[0].value).end
        edits.append(Edit(Span(end, end), (", None",)))
    return call.fix("Pass them by position", *edits)
