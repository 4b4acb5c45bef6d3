"""`self.non_trainable_weights.append(self.w)` has no effect: the list is a copy."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import FACADES, TargetFacts
from kdoctor.analysis.models.user_classes import class_around
from kdoctor.analysis.triggers import attribute, calls
from kdoctor.keras_api import split_root
from kdoctor.model import Applicability, Edit, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickCall
from kdoctor.value_types import Kind

_LISTS = {
    "trainable_weights": True,
    "_trainable_weights": True,
    "non_trainable_weights": False,
    "_non_trainable_weights": False,
}
# That of tf.keras still works, and makes TensorFlow's variable, which can't be told so later.
_MAKERS = frozenset((root, "Variable") for root in ("keras", *FACADES)) | {
    ("keras", "backend.variable")
}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each append of an attribute of the layer's own."""
    for use in module.members:
        if use.owner.kind is not Kind.LAYER or use.member not in _LISTS or use.owner_defines:
            continue
        appended = appended_weight(module, use.node)
        if appended is not None and not module.is_guarded(use.node):
            yield _finding(module, facts, use, appended)


def appended_weight(module: Module, node: cst.CSTNode) -> tuple[cst.Call, cst.Attribute] | None:
    """Return ``self.list.append(self.w)`` and ``self.w`` where the class makes that variable."""
    method = module.parent(node)
    call = None if method is None else module.parent(method)
    match call:
        case cst.Call(
            func=cst.Attribute(value=listed, attr=cst.Name(value="append")),
            args=[cst.Arg(value=cst.Attribute(value=cst.Name()) as weight, keyword=None)],
        ) if listed is node and isinstance(module.parent(call), cst.Expr):
            pass
        case _:
            return None
    receiver = node.value if isinstance(node, cst.Attribute) else None
    if receiver is None or not receiver.deep_equals(weight.value):
        return None
    return (call, weight) if _is_a_variable(module, weight) else None


def _is_a_variable(module: Module, weight: cst.Attribute) -> bool:
    """Say whether all that the class assigns to the attribute are variables of Keras."""
    cls = class_around(module, weight)
    values = [
        each.value
        for each in (() if cls is None else descendants(cls))
        if isinstance(each, cst.Assign)
        for target in each.targets
        if target.target.deep_equals(weight)
    ]
    return bool(values) and all(_makes_a_variable(module, each) for each in values)


def _makes_a_variable(module: Module, value: cst.BaseExpression) -> bool:
    if not isinstance(value, cst.Call):
        return False
    name = module.qualified(value.func) or ""
    added = isinstance(value.func, cst.Attribute) and value.func.attr.value == "add_weight"
    return added or split_root(name) in _MAKERS


def _finding(
    module: Module, facts: TargetFacts, use: MemberUse, appended: tuple[cst.Call, cst.Attribute]
) -> Finding:
    call, weight = appended
    trained = _LISTS[use.member]
    source = module.source(weight)
    is_gone = use.member.startswith("_")
    error = f"AttributeError: '{use.owner.cls}' object has no attribute '{use.member}'"
    return rule.finding(
        module.place(use.node),
        f"a layer no longer has `{use.member}`: {error}"
        if is_gone
        else f"appending to `{use.member}` has no effect: the list is a copy, and `{source}` is "
        "trained",
        symbol=f"Layer.{use.member}.append",
        severity=Severity.ERROR if is_gone else Severity.CHANGE,
        confidence=use.confidence,
        help=f"Set `{source}.trainable = {trained}`.",
        fix=Fix(
            f"Set `{source}.trainable = {trained}`",
            (Edit(module.span(call), (f"{source}.trainable = {trained}",)),),
            facts.applicability(*(each for each in rule.invalid if each.after))
            if "\n" not in source
            else Applicability.UNSAFE,
        ),
    )


def _may_append(_: TargetFacts, called: QuickCall) -> bool:
    match called.node:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr=listed), attr="append"),
            args=[ast.Attribute()],
        ):
            return listed in _LISTS
    return False


rule = Rule(
    code="KD430",
    name="weights-appended",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=attribute(*_LISTS) & calls(_may_append, "append"),
    since="3.0",
)
