"""`LSTM(4)(inputs=x)`: recurrent layers now call their input `sequences`, and have no `constants`."""  # noqa: E501 - as on its page

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, is_keras_3, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, keyword, may_hold
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.members.call_of_recurrent_layer import RECURRENT
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind, Type

_INPUT: Final = "inputs"
_CONSTANTS: Final = "constants"
_LAYERS: Final = RECURRENT | {"SimpleRNNCell"}


class _Refused(Struct, frozen=True):
    """A keyword of a call of a layer. ``first`` is what the layer calls its input."""

    layer: Type
    call: cst.Call
    given: cst.Arg
    first: str


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each keyword that such a layer does not take."""
    for call in module.nodes(cst.Call):
        for name in (_INPUT, _CONSTANTS):
            given = argument(call, name)
            # The cheaper question first: few calls pass one of them.
            if given is None or module.is_guarded(call):
                continue
            layer = module.type_of(call.func)
            takes = None if layer is None else _parameters(facts, layer)
            if layer is not None and takes and name not in takes:
                yield _finding(module, facts, _Refused(layer, call, given, takes[0]))


def _parameters(facts: TargetFacts, layer: Type) -> list[str] | None:
    """Return what the ``call`` of a recurrent layer of Keras 3 itself takes."""
    if layer.kind is not Kind.LAYER or layer.cls not in _LAYERS or layer.qualified is None:
        return None
    if not layer.is_of_imported_class or not is_keras_3(facts, layer.qualified):
        return None
    found = facts.lookup(layer.qualified)
    qualified = found.moved_to[0] if found.moved_to else found.qualified
    signature = facts.signature(f"{qualified}.call")
    return None if signature is None else [each.name for each in signature.parameters]


def _finding(module: Module, facts: TargetFacts, refused: _Refused) -> Finding:
    assert refused.given.keyword is not None
    name, cls = refused.given.keyword.value, refused.layer.cls
    if name == _INPUT:
        fix: Fix | None = _by_position(module, facts, refused)
        error = f"missing a required argument: '{refused.first}'"
    else:
        fix = _left_out(module, facts, refused)
        error = f"got an unexpected keyword argument '{name}'"
    return rule.finding(
        module.place(refused.given),
        f"calling `{cls}` with `{name}=` no longer works: TypeError: {error}",
        symbol=f"{cls}.call({name})",
        confidence=Confidence.LIKELY,
        help=f"{fix.title}."
        if fix
        else "Concatenate what is the same for each step to the input, or store it in the cell.",
        fix=fix or NoFix("the cell must receive it in another way"),
    )


def _by_position(module: Module, facts: TargetFacts, refused: _Refused) -> Fix:
    assert refused.given.keyword is not None
    proof = facts.applicability(*(each for each in rule.invalid if each.after))
    place = module.span(refused.given.keyword)
    if refused.call.args[0] is refused.given:
        edit = Edit(Span(place.start, module.outer_span(refused.given.value).start), ("",))
        return Fix("Pass the input by position", (edit,), proof)
    title = f"Write `{refused.first}=` instead of `{_INPUT}=`"
    return Fix(title, (Edit(place, (refused.first,)),), proof)


def _left_out(module: Module, facts: TargetFacts, refused: _Refused) -> Fix | None:
    """Leave out ``constants=None``, which says nothing."""
    if literal(refused.given.value) is not None:
        return None
    edits = remove_arguments(module, refused.call, [refused.given])
    if edits is None:
        return None
    proof = facts.applicability(*(each for each in rule.invalid if each.after))
    return Fix(f"Leave out `{_CONSTANTS}=None`", tuple(edits), proof)


def _may_be_called_so(quick: QuickFacts, facts: TargetFacts) -> bool:
    asked = [each for each in quick.calls if each.keywords & {_INPUT, _CONSTANTS}]
    return bool(asked) and may_hold(
        quick,
        facts,
        lambda possible: any(
            layer.cls in _LAYERS
            for each in asked
            for layer in possible.types_in(each.node, each.node.func)
        ),
    )


rule = Rule(
    code="KD324",
    name="call-argument-gone",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword(_INPUT, _CONSTANTS) & Trigger(_may_be_called_so),
    since="3.0",
)
