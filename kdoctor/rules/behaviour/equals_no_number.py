"""`x == 0` on a symbolic tensor compares identity in Keras 3, and is always False."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.elements import numbers_of_scalar
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC, is_symbolic
from kdoctor.analysis.triggers import Operator, Trigger, may_have_kind, some_operator
from kdoctor.keras_api import split_root
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

if TYPE_CHECKING:
    from kdoctor.syntax.may_types import MayTypes
    from kdoctor.syntax.symbol_table import Namespace

_ASKING: Final = (
    *(cst.If, cst.While, cst.IfExp, cst.CompIf, cst.BooleanOperation, cst.Comparison),
)
"""What wants a bool, there and then."""
_CONDITIONS: Final = (ast.If, ast.While, ast.IfExp, ast.Assert)
_LITERALS: Final = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)
_PYTHONS: Final = frozenset({"all", "any", "bool", "int", "print"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such comparison."""
    for node in module.nodes(cst.Comparison):
        if len(node.comparisons) != 1 or not isinstance(node.comparisons[0].operator, cst.Equal):
            continue
        sides = (node.left, node.comparisons[0].comparator)
        if (
            _is_symbolic_and_number(module, *sides)
            and module.context_of(node) not in RUN_WITH_VALUES
            and not _is_asked(module, node)
            and not module.is_guarded(node)
        ):
            yield _finding(module, facts, node, sides)


def _is_symbolic_and_number(
    module: Module, left: cst.BaseExpression, right: cst.BaseExpression
) -> bool:
    return any(
        is_symbolic(module, one) and numbers_of_scalar(module, other) is not None
        for one, other in ((left, right), (right, left))
    )


def _is_asked(module: Module, node: cst.Comparison) -> bool:
    """Say whether it is a condition, or the function of a ``Lambda``, or no one's value."""
    inner: cst.CSTNode = node
    for each in module.ancestors(node):
        match each:
            case cst.Lambda() | cst.UnaryOperation(operator=cst.Not()) | cst.Assert():
                return True
            case cst.IfExp() if each.test is not inner:
                pass  # it is what is chosen
            case cst.Call(func=cst.Name(value=name)) if name in _PYTHONS:
                return True
            case cst.BaseSmallStatement():
                return isinstance(each, cst.Expr) and each.value is node
            case _ if isinstance(each, _ASKING):
                return True
        inner = each
    return False


def _finding(
    module: Module,
    facts: TargetFacts,
    node: cst.Comparison,
    sides: tuple[cst.BaseExpression, cst.BaseExpression],
) -> Finding:
    whole = module.span(node)
    first, second = map(module.span, sides)
    gaps = (whole.start, first.start), (first.end, second.start), (second.end, whole.end)
    written, need = speller_at(module, node).spell("keras.ops.equal")
    around = _function_around(module, node)
    refused = None
    if any("#" in module.text[start:end] for start, end in gaps):
        refused = "the expression contains a comment"
    elif around.startswith("tensorflow.") and split_root(around) is None:
        refused = (
            f"`{around}` does not accept a symbolic tensor: both must be functions of `keras.ops`"
        )
    is_legacy = (split_root(around) or ("", ""))[1].startswith("backend.")
    fix = Fix(
        f"Write `{written}`",
        (Edit(whole, (f"{written}(", Hole(first), ", ", Hole(second), ")")),),
        Applicability.UNSAFE
        if is_legacy
        else facts.applicability(*(each for each in rule.invalid if each.after)),
        imports=() if need is None else (need,),
        unsafe_because="the function around it must accept symbolic tensors" if is_legacy else "",
    )
    told = ""
    if _is_given_to_a_layer(module, node):
        told = ": ValueError: Only input tensors may be passed as positional arguments"
    return rule.finding(
        module.place(node),
        f"`==` on symbolic tensors compares identity in Keras 3: this is always False{told}",
        symbol="KerasTensor.__eq__",
        confidence=Confidence.LIKELY,
        severity=Severity.ERROR if told else Severity.CHANGE,
        help=f"Write `{written}`.",
        fix=NoFix(refused) if refused else fix,
    )


def _function_around(module: Module, node: cst.CSTNode) -> str:
    """Return the dotted name of the function that gets a value, "" of what has none."""
    given = module.parent(node)
    call = module.parent(given) if isinstance(given, cst.Arg) else None
    return (module.qualified(call.func) or "") if isinstance(call, cst.Call) else ""


def _is_given_to_a_layer(module: Module, node: cst.CSTNode) -> bool:
    given = module.parent(node)
    call = module.parent(given) if isinstance(given, cst.Arg) and not given.keyword else None
    layer = module.type_of(call.func) if isinstance(call, cst.Call) else None
    return layer is not None and layer.kind is Kind.LAYER


def _may_compare(quick: QuickFacts, facts: TargetFacts) -> bool:
    nodes = quick.nodes
    if not any(map(_is_equal, nodes.get(ast.Compare, ()))):
        return False
    tests = (each.test for kind in _CONDITIONS for each in nodes.get(kind, ()))
    filters = (test for each in nodes.get(ast.comprehension, ()) for test in each.ifs)
    asked = {inner for each in chain(tests, filters) for inner in _asked_in(each)}

    def compares(possible: MayTypes, node: Operator, space: Namespace) -> bool:
        if not isinstance(node, ast.Compare) or node in asked or not _is_equal(node):
            return False
        sides = _compared_with_numbers(quick, node.left, node.comparators[0])
        return any(may_have_kind(possible, each, space, {Kind.TENSOR}) for each in sides)

    return some_operator(quick, facts, compares)


def _is_equal(node: ast.Compare) -> bool:
    return len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)


def _asked_in(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the conditions that one is made of."""
    match test:
        case ast.BoolOp(values=values):
            for each in values:
                yield from _asked_in(each)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _asked_in(inner)
        case _:
            yield test


def _compared_with_numbers(
    quick: QuickFacts, left: ast.expr, right: ast.expr
) -> Iterator[ast.expr]:
    """Yield the sides that are no literals, where the other may be a number."""
    for one, other in ((left, right), (right, left)):
        if _may_be_a_number(quick, one) and not isinstance(other, _LITERALS):
            yield other


def _may_be_a_number(quick: QuickFacts, node: ast.expr) -> bool:
    """Say whether it is a number, or worked out: no text, no attribute and no display."""
    if isinstance(node, ast.Name):
        return any(
            isinstance(each, ast.Name) or _may_be_a_number(quick, each)
            for each in quick.values_of(node)
        )
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    return isinstance(node, ast.UnaryOp | ast.BinOp | ast.Call | ast.Subscript | ast.IfExp)


rule = Rule(
    code="KD474",
    name="equals-no-number",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=SYMBOLIC & Trigger(_may_compare),
    since="3.0",
)
