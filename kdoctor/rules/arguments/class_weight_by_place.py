"""`class_weight` must be a dict from class to weight: not a list, an array or a dict per output."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, attribute, keyword
from kdoctor.model import Applicability, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_METHODS = ("fit", "train_on_batch")
_NUMBERS = (cst.BaseNumber, cst.BinaryOperation, cst.UnaryOperation)
_MAKES_ARRAYS = frozenset({
    *("sklearn.utils.class_weight.compute_class_weight", "sklearn.utils.compute_class_weight"),
    *("numpy.array", "numpy.asarray", "numpy.ones"),
})  # fmt: skip


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such argument."""
    for use in module.members:
        if use.member not in _METHODS or use.owner.kind is not Kind.MODEL or use.called is None:
            continue
        given = argument(use.called, "class_weight")
        if given is None or use.owner_defines or module.is_guarded(use.called):
            continue
        value = value_of(module, given.value)
        if _is_for_each_output(module, value):
            yield _of_outputs(module, use, given)
        else:
            made = _made(module, value)
            if made is not None:
                yield _by_place(module, use, given, made, is_known=_holds_numbers(value))


def _is_for_each_output(module: Module, value: cst.BaseExpression) -> bool:
    """Say whether it is a list, a tuple or a dict with dicts in it."""
    match value:
        case cst.List(elements=parts) | cst.Tuple(elements=parts) | cst.Dict(elements=parts):
            values = (value_of(module, each.value) for each in parts)
            return any(isinstance(each, cst.Dict | cst.DictComp) for each in values)
    return False


def _made(module: Module, value: cst.BaseExpression) -> str | None:
    """Return how Python names what is passed, where it is a list, a tuple or an array."""
    match value:
        case cst.List():
            return "list"
        case cst.Tuple():
            return "tuple"
        case cst.Call() if module.qualified(value.func) in _MAKES_ARRAYS:
            return "numpy.ndarray"
    return None


def _holds_numbers(value: cst.BaseExpression) -> bool:
    """Say whether a list or a tuple surely holds weights; an array does."""
    if not isinstance(value, cst.List | cst.Tuple):
        return True
    return all(isinstance(each.value, _NUMBERS) for each in value.elements)


def _of_outputs(module: Module, use: MemberUse, given: cst.Arg) -> Finding:
    error = (
        "ValueError: `class_weight` is only supported for Models with a single output."
        if use.member == "fit"
        else "an error about the shape of an array"
    )
    return rule.finding(
        module.place(given),
        f"`class_weight` only works for a single output: {error}",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}(class_weight)",
        confidence=use.confidence,
        help="Pass `sample_weight`: one array of weights for each output.",
        fix=NoFix("the weight of each sample has to be looked up in the data"),
    )


def _by_place(
    module: Module, use: MemberUse, given: cst.Arg, made: str, *, is_known: bool
) -> Finding:
    span = module.outer_span(given.value)
    fix = Fix(
        "Turn it into a dict: `dict(enumerate(…))`",
        (Edit(span, ("dict(enumerate(", Hole(span), "))")),),
        Applicability.UNSAFE,
        unsafe_because="it assumes that the classes are 0, 1, 2, … in this order; "
        "and Keras up to 2.3 ignored such weights",
    )
    return rule.finding(
        module.place(given),
        f"`class_weight` must be a dict: AttributeError: '{made}' object has no attribute 'get'",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}(class_weight)",
        confidence=use.confidence,
        help="Pass a dict from class to weight.",
        fix=fix if is_known else NoFix("its contents are not known"),
    )


def _may_be_no_dict(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether something else than a dict of numbers may be passed."""
    given = (called.argument("class_weight") for called in quick.calls_with("class_weight"))
    return any(_is_asked(quick, value) for each in given for value in quick.values_of(each))


def _is_asked(quick: QuickFacts, value: ast.expr) -> bool:
    if isinstance(value, ast.Dict):
        inner = (each for part in value.values for each in quick.values_of(part))
        return any(isinstance(each, ast.Dict | ast.DictComp) for each in inner)
    if isinstance(value, ast.Call):
        return not _MAKES_ARRAYS.isdisjoint(quick.meant_by(value.func))
    return isinstance(value, ast.List | ast.Tuple)


rule = Rule(
    code="KD318",
    name="class-weight-by-place",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword("class_weight") & attribute(*_METHODS) & Trigger(_may_be_no_dict),
    since="3.0",
)
