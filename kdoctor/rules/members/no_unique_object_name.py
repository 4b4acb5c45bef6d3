"""``.unique_object_name``: not an attribute of tensors, weights, layers or models."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, owner_in_words, symbol
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

_MEMBER = "unique_object_name"
_NAMED = {
    Kind.TENSOR: "name",
    Kind.LAYER: "name",
    Kind.MODEL: "name",
    Kind.OPTIMIZER: "name",
    Kind.METRIC: "name",
    Kind.LOSS: "name",
    Kind.VARIABLE: "path",
}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each use that the user's own class does not define."""
    for use in module.members:
        is_it = use.member == _MEMBER and (use.owner.kind in _NAMED or use.owner.kind is Kind.EAGER)
        if not is_it or use.owner_defines or module.is_guarded(use.node):
            continue
        name = "name" if use.owner.is_tf_variable else _NAMED.get(use.owner.kind)
        fix = _read_the_name(module, use, name)
        yield rule.finding(
            module.place(use.node),
            f"{owner_in_words(use.owner)} has no `{_MEMBER}`: "
            f"{attribute_error(use.owner, _MEMBER)}",
            symbol=symbol(use.owner, _MEMBER),
            confidence=use.confidence,
            help=f"Read `.{name}`." if name else "A tensor with values has no name.",
            fix=fix or NoFix(_reason(name)),
        )


def _read_the_name(module: Module, use: MemberUse, name: str | None) -> Fix | None:
    parent = module.parent(use.node)
    called = isinstance(parent, cst.Call) and parent.func is use.node
    if name is None or called:
        return None
    edit = Edit(module.span(use.node.attr), (name,))
    return Fix(
        f"Read `.{name}` instead",
        (edit,),
        Applicability.UNSAFE,
        unsafe_because="no Keras release defines what this name should be",
    )


def _reason(name: str | None) -> str:
    return "a name is not callable" if name else "a tensor with values has no name to read instead"


rule = Rule(
    code="KD202",
    name="no-unique-object-name",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({*_NAMED, Kind.EAGER}, _MEMBER),
)
