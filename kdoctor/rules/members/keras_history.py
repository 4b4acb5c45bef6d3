"""``tensor._keras_history``: private, only on symbolic tensors, and without ``.layer`` on Keras 3."""  # noqa: E501 - as on its page

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of, word
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, owner_in_words, symbol
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

_MEMBER = "_keras_history"
_MEMBERS = frozenset({_MEMBER, "layer"})
_WITHOUT = {Kind.EAGER, Kind.VARIABLE, Kind.LAYER, Kind.MODEL}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report what raises; what is merely private where nothing behind it raises."""
    for use in module.members:
        if use.member not in _MEMBERS or use.owner_defines or module.is_guarded(use.node):
            continue
        if use.owner.kind is Kind.KERAS_HISTORY and use.member == "layer":
            yield _renamed(module, facts, use)
        elif use.member == _MEMBER and use.owner.kind in _WITHOUT:
            yield _absent(module, use)
        elif use.member == _MEMBER and use.owner.kind is Kind.TENSOR:
            parent = module.parent(use.node)
            if not isinstance(parent, cst.Attribute) or parent.attr.value != "layer":
                yield _private(module, use)


def _renamed(module: Module, facts: TargetFacts, use: MemberUse) -> Finding:
    edit = Edit(module.span(use.node.attr), ("operation",))
    proof = facts.applicability(*(each for each in rule.invalid if each.after))
    return rule.finding(
        module.place(use.node),
        f"a KerasHistory has no `layer`: {attribute_error(use.owner, 'layer')}",
        symbol="KerasHistory.layer",
        confidence=use.confidence,
        help="It is now `operation`.",
        fix=Fix("Read `.operation` instead of `.layer`", (edit,), proof),
    )


def _absent(module: Module, use: MemberUse) -> Finding:
    return rule.finding(
        module.place(use.node),
        f"{owner_in_words(use.owner)} has no `{_MEMBER}`: {attribute_error(use.owner, _MEMBER)}",
        symbol=symbol(use.owner, _MEMBER),
        confidence=use.confidence,
        help="Only symbolic tensors (`keras.Input(…)`, a layer called on one) record which "
        "operation made them.",
        fix=NoFix("only symbolic tensors of a model record which operation made them"),
    )


def _private(module: Module, use: MemberUse) -> Finding:
    return rule.finding(
        module.place(use.node),
        f"`{_MEMBER}` is private to Keras and may change without notice; "
        "it exists on symbolic tensors, before and after `compile`",
        symbol=f"KerasTensor.{_MEMBER}",
        confidence=use.confidence,
        severity=Severity.LEGACY,
        help="Ask the model: `model.layers`, `model.get_layer(name)`, `layer.output`.",
        fix=NoFix("kdoctor cannot tell what it is used for"),
    )


rule = Rule(
    code="KD203",
    name="keras-history",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({*_WITHOUT, Kind.TENSOR}, _MEMBER)
    | (word(_MEMBER) & member_of({Kind.KERAS_HISTORY}, "layer")),
    since="3.0",
)
