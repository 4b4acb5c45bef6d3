"""``model.reset_states()``: only layers have it on Keras 3."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import (
    kind_of_class,
    lineage_with_keras_3_base,
    methods_in,
)
from kdoctor.analysis.queries import Read, reads
from kdoctor.keras_api import Presence
from kdoctor.memoize import once
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.fixes.helper_definition import (
    helper_edits,
    is_name_of_module,
    not_added,
    top_statement,
)
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.rule import rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_MEMBER = "reset_states"
_STATEFUL = "stateful"
HELPER = '''def reset_states(model):
    """Do what `model.reset_states()` of Keras 2 did, in inner models, too."""
    for layer in model.layers:
        if isinstance(layer, {model}) and not hasattr(layer, "reset_states"):
            reset_states(layer)
        elif hasattr(layer, "reset_states") and getattr(layer, "stateful", True):
            layer.reset_states()'''


@rule("KD208", severity=Severity.ERROR, since="3.0", look_for=reads(_MEMBER, on=Kind.MODEL))
def check(read: Read) -> Finding:
    """Report each use that the user's own model does not define."""
    return read.finding(
        f"a model no longer has `{_MEMBER}`: {attribute_error(read.owner, _MEMBER)}",
        symbol=symbol(read.owner, _MEMBER),
        help="Reset the stateful layers, including those of nested models: `kdoctor rules "
        "KD208` shows the function.",
        fix=_fix(read),
    )


def _is_it(use: MemberUse) -> bool:
    is_of_a_model = use.owner.kind is Kind.MODEL and use.member == _MEMBER
    return is_of_a_model and not use.owner_defines


def _fix(read: Read) -> Fix | NoFix:
    """Call a function of the file that does what the method did."""
    module, call, owner = read.module, read.called, read.node.value
    if call is None or call.args:
        return NoFix("it is not called here" if call is None else "it is called with arguments")
    span = module.span(call)
    if "#" in module.text[module.outer_span(owner).end : span.end]:
        return NoFix("there is a comment in the call")
    before = top_statement(module, _first(module))
    written, need = speller_at(module, before).spell("keras.Model")
    helper = helper_edits(module, before, _MEMBER, HELPER.format(model=written))
    if helper is None or not is_name_of_module(module, _MEMBER, call):
        return not_added(_MEMBER)
    model = Hole(module.outer_span(owner), Precedence.ANY, precedence_of(owner))
    edit = Edit(span, (f"{_MEMBER}(", model, ")"), Precedence.PRIMARY)
    return read.fix(
        f"Call `{_MEMBER}`, a new function in this file that does what the method did",
        *helper,
        edit,
        imports=[need],
        unsafe_because=_always_reset(module, read.facts),
    )


@once
def _first(module: Module) -> cst.CSTNode:
    """Return the first use of the file: the function stands above it."""
    uses = module.members_named(_MEMBER)
    return min((each.node for each in uses if _is_it(each)), key=module.span)


def _always_reset(module: Module, facts: TargetFacts) -> str:
    """Tell of a class whose layers Keras 2 may have passed over; "" where there is none."""
    for node in module.nodes(cst.ClassDef):
        if _MEMBER not in methods_in(node) or _speaks_of_stateful(node):
            continue
        if not _may_be_a_layer(module, node):
            continue
        made = lineage_with_keras_3_base(module, facts, node)[1]
        if made is None or facts.member(made, _STATEFUL) is not Presence.EXISTS:
            return (
                f"`{node.name.value}.{_MEMBER}` is always called; Keras 2 called it only if "
                "something in the layer was stateful"
            )
    return ""


def _may_be_a_layer(module: Module, node: cst.ClassDef) -> bool:
    """Say whether it is made from a layer or model, or from something that is not known."""
    if all(module.source(each.value) == "object" for each in node.bases):
        return False
    return kind_of_class(module, node) in (Kind.LAYER, Kind.MODEL, None)


def _speaks_of_stateful(node: cst.ClassDef) -> bool:
    names = (each.attr for each in descendants(node) if isinstance(each, cst.Attribute))
    return any(each.value == _STATEFUL for each in names)
