"""`model.optimizer is None`: before `compile` a Keras 3 model has no such attribute."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.analysis.triggers import Trigger, member_of
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.fallback_helpers import handles_only_attribute_error
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_OPTIMIZER = "optimizer"
_COMPILE = "compile"
_CONDITIONS = (ast.If, ast.While, ast.IfExp, ast.Assert)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such question."""
    for use in module.members:
        if use.owner.kind is not Kind.MODEL or use.member != _OPTIMIZER or use.owner_defines:
            continue
        if not isinstance(use.node.value, cst.Name) or not _is_asked(module, use.node):
            continue
        if module.is_guarded(use.node) or _is_caught(module, use.node):
            continue
        if not (_is_trained_meanwhile(module, use.node) or _is_compiled_above(module, use)):
            yield _finding(module, facts, use)


def _is_asked(module: Module, node: cst.Attribute) -> bool:
    """Say whether it is compared with None, or (a part of) a condition itself."""
    match module.parent(node):
        case cst.Comparison(
            left=left,
            comparisons=[
                cst.ComparisonTarget(
                    operator=cst.Is() | cst.IsNot() | cst.Equal() | cst.NotEqual(),
                    comparator=cst.Name(value="None"),
                )
            ],
        ):
            return left is node
    inner: cst.CSTNode = node
    for each in module.ancestors(node):
        match each:
            case cst.UnaryOperation(operator=cst.Not()) | cst.BooleanOperation():
                inner = each
            case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test):
                return test is inner
            case cst.Assert(test=test):
                return test is inner
            case _:
                return False
    return False


def _is_trained_meanwhile(module: Module, node: cst.Attribute) -> bool:
    """Say whether it is of the object that a method is called on."""
    points_to = points_to_of(module)
    function = points_to.function_around(node)
    if function is None or points_to.class_around(function) is None:
        return False
    return member_of_self(node, function) is not None


def _is_caught(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a handler around it waits for attributes that are lacking."""
    return any(
        isinstance(each, cst.Try) and any(map(handles_only_attribute_error, each.handlers))
        for each in module.ancestors(node)
    )


def _is_compiled_above(module: Module, use: MemberUse) -> bool:
    """Say whether a model of that name is, or may be, compiled above it in the same function."""
    assert isinstance(use.node.value, cst.Name)
    name, place = use.node.value.value, module.span(use.node).start
    around = points_to_of(module).function_around
    return any(
        each.member == _COMPILE
        and isinstance(each.node.value, cst.Name)
        and each.node.value.value == name
        and module.span(each.node).start < place
        and around(each.node) is around(use.node)
        for each in module.members
    )


def _finding(module: Module, facts: TargetFacts, use: MemberUse) -> Finding:
    model = module.span(use.node.value)
    is_free = has_builtin(module, use.node, "getattr")
    cls = use.owner.cls or "Functional"  # as models of inputs and outputs are
    return rule.finding(
        module.place(use.node),
        "before `compile` a model has no optimizer, not even None: AttributeError: "
        f"'{cls}' object has no attribute 'optimizer'",
        symbol="Model.optimizer",
        confidence=use.confidence,
        help='Write `getattr(model, "optimizer", None)`.',
        fix=Fix(
            "Read the optimizer with `getattr`",
            (Edit(module.outer_span(use.node), ("getattr(", Hole(model), ', "optimizer", None)')),),
            facts.applicability(*rule.invalid),
        )
        if is_free
        else NoFix(hidden_builtin("getattr")),
    )


def _may_ask(quick: QuickFacts, _: TargetFacts) -> bool:
    nodes = quick.nodes
    tests = (each.test for kind in _CONDITIONS for each in nodes.get(kind, ()))
    compared = (each.left for each in nodes.get(ast.Compare, ()))
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == _OPTIMIZER
        and isinstance(each.value, ast.Name)
        for each in chain(compared, chain.from_iterable(map(nodes_in, tests)))
    )


rule = Rule(
    code="KD235",
    name="optimizer-before-compile",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_ask) & member_of({Kind.MODEL}, _OPTIMIZER),
    since="3.0",
)
