"""`LSTM(4)(inputs=x)`: recurrent layers now call their input `sequences`, and have no `constants`."""  # noqa: E501 - as on its page

from __future__ import annotations

from typing import Final

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.queries import Argument, Instance, applications
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.members.call_of_recurrent_layer import RECURRENT
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_INPUT: Final = "inputs"
_CONSTANTS: Final = "constants"
_CALLS: Final = applications(
    [Instance(Kind.LAYER, cls) for cls in RECURRENT | {"SimpleRNNCell"}]
).even(hidden=True)


@rule(
    "KD324",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_CALLS.argument(_INPUT) | _CALLS.argument(_CONSTANTS),
)
def check(given: Argument) -> Finding | None:
    """Report each keyword that such a layer does not take."""
    takes = _parameters(given)
    if not takes or given.keyword in takes:
        return None
    if given.keyword == _INPUT:
        error = f"missing a required argument: '{takes[0]}'"
        fix = _by_position(given, takes[0])
    else:
        error = f"got an unexpected keyword argument '{given.keyword}'"
        fix = _left_out(given)
    return given.finding(
        f"calling `{given.cls}` with `{given.keyword}=` no longer works: TypeError: {error}",
        at=given.arg,
        symbol=f"{given.cls}.call({given.keyword})",
        help=f"{fix.title}."
        if isinstance(fix, Fix)
        else "Concatenate what is the same for each step to the input, or store it in the cell.",
        fix=fix,
    )


def _parameters(given: Argument) -> list[str] | None:
    """Return what the ``call`` of a recurrent layer of Keras 3 itself takes."""
    layer, facts = given.owner, given.facts
    if layer is None or layer.qualified is None or not layer.is_of_imported_class:
        return None
    if not is_keras_3(facts, layer.qualified):
        return None
    found = facts.lookup(layer.qualified)
    qualified = found.moved_to[0] if found.moved_to else found.qualified
    signature = facts.signature(f"{qualified}.call")
    return None if signature is None else [each.name for each in signature.parameters]


def _by_position(given: Argument, first: str) -> Fix | NoFix:
    assert given.arg.keyword is not None
    place = given.module.span(given.arg.keyword)
    if given.call.args[0] is given.arg:
        edit = Edit(Span(place.start, given.module.outer_span(given.node).start), ("",))
        return given.fix("Pass the input by position", edit)
    return given.fix(f"Write `{first}=` instead of `{_INPUT}=`", Edit(place, (first,)))


def _left_out(given: Argument) -> Fix | NoFix:
    """Leave out ``constants=None``, which says nothing."""
    edits = None
    if literal(given.node) is None:
        edits = remove_arguments(given.module, given.call, [given.arg])
    if edits is None:
        return NoFix("the cell must receive it in another way")
    return given.fix(f"Leave out `{_CONSTANTS}=None`", *edits)
