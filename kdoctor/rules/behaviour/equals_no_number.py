"""`x == 0` on a symbolic tensor compares identity in Keras 3, and is always False."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.queries.operations import Operation, operations
from kdoctor.analysis.queries.sorts import of_form, of_kind
from kdoctor.analysis.tensors.elements import numbers_of_scalar
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ASKING: Final = (
    *(cst.If, cst.While, cst.IfExp, cst.CompIf, cst.BooleanOperation, cst.Comparison),
)
"""What wants a bool, there and then."""
_PYTHONS: Final = frozenset({"all", "any", "bool", "int", "print"})


def _may_be_a_number(form: object) -> bool:
    """Say whether it is a number, or worked out: no text, no attribute and no display."""
    if isinstance(form, Expression):
        return form.kind in {"UnaryOp", "BinOp", "Call", "Subscript", "IfExp"}
    return isinstance(form, int | float)


@rule(
    "KD474",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=operations(
        "==", of=of_form(_may_be_a_number, named=True), with_=of_kind(Kind.TENSOR)
    ).beside(SYMBOLIC),
)
def check(comparison: Operation) -> Finding | None:
    """Report each such comparison."""
    module, node = comparison.module, comparison.node
    assert isinstance(node, cst.Comparison)
    if len(node.comparisons) > 1 or numbers_of_scalar(module, comparison.one) is None:
        return None
    if module.context_of(node) in RUN_WITH_VALUES or _is_asked(module, node):
        return None
    told = ""
    if _is_given_to_a_layer(module, node):
        told = ": ValueError: Only input tensors may be passed as positional arguments"
    return comparison.finding(
        f"`==` on symbolic tensors compares identity in Keras 3: this is always False{told}",
        symbol="KerasTensor.__eq__",
        severity=Severity.ERROR if told else Severity.CHANGE,
        help=f"Write `{speller_at(module, node).spell('keras.ops.equal')[0]}`.",
        fix=_by_function(comparison, node),
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


def _by_function(comparison: Operation, node: cst.Comparison) -> Fix | NoFix:
    """Return the fix that writes the function that compares the elements."""
    module = comparison.module
    sides = (node.left, node.comparisons[0].comparator)
    whole, first, second = map(module.span, (node, *sides))
    gaps = (whole.start, first.start), (first.end, second.start), (second.end, whole.end)
    if any("#" in module.text[start:end] for start, end in gaps):
        return NoFix("the expression contains a comment")
    around = _function_around(module, node)
    if around.startswith("tensorflow.") and split_root(around) is None:
        return NoFix(
            f"`{around}` does not accept a symbolic tensor: both must be functions of `keras.ops`"
        )
    is_legacy = (split_root(around) or ("", ""))[1].startswith("backend.")
    written, need = speller_at(module, node).spell("keras.ops.equal")
    return comparison.fix(
        f"Write `{written}`",
        Edit(whole, (f"{written}(", Hole(first), ", ", Hole(second), ")")),
        imports=() if need is None else (need,),
        unsafe_because="the function around it must accept symbolic tensors" if is_legacy else "",
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
