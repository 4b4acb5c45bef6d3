"""``optimizer.variables()``, ``weight.value()``: they are properties now."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import calls, member_of
from kdoctor.model import Applicability, Finding, Severity
from kdoctor.rewrite import MemberRewrite, MemberTable, method
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.members._variable_reads import used_at_once
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

ROWS = (
    method("keras.optimizers.Optimizer.variables(self)", "self.variables"),
    method("keras.Variable.value(self)", "self.value", when=used_at_once()),
    method("keras.Variable.value(self)", "keras.ops.copy(self)"),
)
_KINDS = {
    "keras.optimizers.Optimizer": (Kind.OPTIMIZER,),
    "keras.Variable": (Kind.VARIABLE,),
}
_GIVES = {"variables": "list", "value": "ResourceVariable"}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    table = MemberTable(ROWS, _KINDS, facts.signature)
    for use in module.members:
        if use.called is None or use.owner_defines or use.owner.is_tf_variable:
            continue
        if not table.rows_for(use.owner, use.member) or module.is_guarded(use.node):
            continue
        if use.owner.kind is Kind.OPTIMIZER and _may_be_compiled_with_another(module, use):
            continue
        attempt = table.attempt(module, use, lambda row: _proven(facts, row))
        yield rule.finding(
            module.place(use.node),
            f"`{use.member}` is a property: TypeError: '{_GIVES[use.member]}' object is not "
            "callable",
            symbol=symbol(use.owner, use.member),
            confidence=use.confidence,
            help="Read it without parentheses.",
            fix=attempt,
        )


def _may_be_compiled_with_another(module: Module, use: MemberUse) -> bool:
    """Say whether the optimizer of a model may be of a class that is not known here.

    So it may be where the file compiles that model with something of which nothing is known.
    """
    if use.owner.cls is not None or not isinstance(use.node.value, cst.Attribute):
        return False
    model = module.source(use.node.value.value)
    compiled = (
        argument(each.called, "optimizer", 0)
        for each in module.members
        if each.member == "compile" and each.called and module.source(each.node.value) == model
    )
    return any(given is not None and not _is_of_keras(module, given.value) for given in compiled)


def _is_of_keras(module: Module, optimizer: cst.BaseExpression) -> bool:
    """Say whether it is an optimizer whose class is known, or the name of one."""
    made = module.type_of(optimizer)
    is_named = isinstance(value_of(module, optimizer), cst.SimpleString)
    return is_named or (made is not None and made.kind is Kind.OPTIMIZER)


def _proven(facts: TargetFacts, row: MemberRewrite) -> Applicability:
    return facts.applicability(
        *(each for each in rule.invalid if f".{row.member}()" in each.before)
    )


rule = Rule(
    code="KD217",
    name="property-is-not-called",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=calls(lambda _, called: called.leaf in _GIVES and called.is_attribute, *_GIVES)
    & (member_of({Kind.OPTIMIZER}, "variables") | member_of({Kind.VARIABLE}, "value")),
    since="3.0",
)
