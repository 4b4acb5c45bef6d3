"""``optimizer.variables()``, ``weight.value()``: they are properties now."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.queries import Call, calls
from kdoctor.model import Applicability, Finding, Severity
from kdoctor.rewrite import MemberRewrite, MemberTable, method
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.members._variable_reads import used_at_once
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
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


@rule(
    "KD217",
    severity=Severity.ERROR,
    since="3.0",
    look_for=(
        calls("variables", on=Kind.OPTIMIZER).even(hidden=True)
        | calls("value", on=Kind.VARIABLE).even(hidden=True)
    ),
)
def check(call: Call) -> Finding | None:
    """Report each such call."""
    assert call.use is not None
    owner, member = call.use.owner, call.use.member
    if owner.is_tf_variable or _may_be_compiled_with_another(call):
        return None
    table = MemberTable(ROWS, _KINDS, call.facts.signature)
    return call.finding(
        f"`{member}` is a property: TypeError: '{_GIVES[member]}' object is not callable",
        at=call.use.node,
        symbol=symbol(owner, member),
        help="Read it without parentheses.",
        fix=table.attempt(call.module, call.use, _proven),
    )


def _may_be_compiled_with_another(call: Call) -> bool:
    """Say whether the optimizer of a model may be of a class that is not known here.

    So it may be where the file compiles that model with something of which nothing is known.
    """
    assert call.use is not None
    module, optimizer = call.module, call.use.node.value
    if call.leaf != "variables" or call.cls or not isinstance(optimizer, cst.Attribute):
        return False
    is_same = points_to_of(module).is_same
    compiled = (
        argument(each.called, "optimizer", 0)
        for each in module.members_named("compile")
        if each.called and is_same(each.node.value, optimizer.value)
    )
    return any(given is not None and not _is_of_keras(module, given.value) for given in compiled)


def _is_of_keras(module: Module, optimizer: cst.BaseExpression) -> bool:
    """Say whether it is an optimizer whose class is known, or the name of one."""
    made = module.type_of(optimizer)
    is_named = isinstance(value_of(module, optimizer), cst.SimpleString)
    return is_named or (made is not None and made.kind is Kind.OPTIMIZER)


def _proven(row: MemberRewrite) -> Applicability:
    return check.applicability(each for each in check.invalid if f".{row.member}()" in each.before)
