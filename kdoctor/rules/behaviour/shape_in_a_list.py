"""`compute_output_shape` returns `[shape]` although `call` returns a single tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class, methods_in
from kdoctor.analysis.triggers import Trigger, method_of, word
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, Precedence, Severity
from kdoctor.rules.behaviour._single_output import gives_one
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import returned_in
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_METHOD: Final = "compute_output_shape"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such list."""
    for node in module.nodes(cst.ClassDef):
        methods = methods_in(node)
        call, asked = methods.get("call"), methods.get(_METHOD)
        if call is None or asked is None or kind_of_class(module, node) is not Kind.LAYER:
            continue
        given = returned_in(asked)
        lists = [each for each in given if _is_one_shape(each)]
        if not lists or len(lists) < len(given) or module.is_guarded(asked):
            continue
        returned = returned_in(call)  # nothing where it is left to subclasses
        is_computed = bool(returned) and all(map(_is_computed, returned))
        if is_computed or gives_one(module, facts, call):
            yield from (_finding(module, facts, node, each) for each in lists)


def _is_one_shape(given: cst.BaseExpression | None) -> bool:
    match given:
        case cst.List(elements=[cst.Element(value=cst.Tuple())]):
            return True
    return False


def _is_computed(given: cst.BaseExpression | None) -> bool:
    """Say whether it is a tensor for sure: `+` alone joins lists, too."""
    match given:
        case cst.BinaryOperation(operator=cst.Subtract() | cst.Multiply() | cst.Divide()):
            return not any(
                isinstance(e, cst.List | cst.ListComp) for e in (given.left, given.right)
            )
        case cst.BinaryOperation(operator=cst.Add()):
            return _is_computed(given.left) or _is_computed(given.right)
    return False


def _finding(
    module: Module, facts: TargetFacts, node: cst.ClassDef, given: cst.BaseExpression | None
) -> Finding:
    assert isinstance(given, cst.List)
    inner = given.elements[0].value
    hole = Hole(module.outer_span(inner), Precedence.PRIMARY, Precedence.PRIMARY)
    return rule.finding(
        module.place(given),
        f"`{node.name.value}` returns a list of one tensor while a model is constructed; most "
        "layers reject that: ValueError: Cannot convert '((None, …), …)' to a shape",
        symbol=f"{node.name.value}.{_METHOD}",
        confidence=Confidence.LIKELY,
        help=f"Write `({module.source(inner)})`: `call` returns one tensor.",
        fix=Fix(
            "Return the shape without a list",
            (Edit(module.span(given), (hole,), Precedence.PRIMARY),),
            facts.applicability(*rule.invalid),
        ),
    )


def _may_give_one(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Return)
        and isinstance(each.value, ast.List)
        and len(each.value.elts) == 1
        for node in quick.nodes.get(ast.ClassDef, ())
        if (method := method_of(node, _METHOD)) is not None
        for each in ast.walk(method)
    )


rule = Rule(
    code="KD456",
    name="shape-in-a-list",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(_METHOD) & Trigger(_may_give_one),
    since="3.0",
)
