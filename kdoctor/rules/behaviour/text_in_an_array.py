"""`model.predict(np.array(["some text"]))`: Keras 3 does not accept NumPy arrays of strings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, speller_at, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.constructors import CONVERTING
from kdoctor.analysis.training.generators import is_a_librarys
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Edit, Finding, Fix, Hole, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_METHODS: Final = ("fit", "evaluate", "predict")
_MAX_DEPTH: Final = 6  # lists in lists, and names


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call that gets such an array."""
    for use in module.members:
        if use.member not in _METHODS or use.owner.kind is not Kind.MODEL or use.called is None:
            continue
        if use.owner_defines or module.is_guarded(use.called) or is_a_librarys(module, use):
            continue
        given = argument(use.called, "x", 0)
        arrays = [] if given is None else [*_arrays_of_text(module, given.value)]
        if arrays:
            yield _finding(module, facts, use, arrays)


def _arrays_of_text(module: Module, given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what is such an array, of what is passed: it, or parts of a list or dict."""
    value = value_of(module, given)
    parts: list[cst.BaseExpression] = [given]
    if isinstance(value, cst.List | cst.Tuple):
        parts = [each.value for each in value.elements if isinstance(each, cst.Element)]
    elif isinstance(value, cst.Dict):
        parts = [each.value for each in value.elements if isinstance(each, cst.DictElement)]
    for part in parts:
        made = value_of(module, part)
        if isinstance(made, cst.Call) and _is_of_text(module, made):
            yield part


def _is_of_text(module: Module, made: cst.Call) -> bool:
    name = module.qualified(made.func) or ""
    if not name.startswith("numpy.") or name.removeprefix("numpy.") not in CONVERTING:
        return False
    of = argument(made, "object", 0)
    # Of another type it may hold numbers; and one of objects, of one axis, Keras 3 does take.
    if of is None or is_hidden(made) or argument(made, "dtype", 1) is not None:
        return False
    return isinstance(value_of(module, of.value), cst.List | cst.Tuple) and _holds_text(
        module, of.value
    )


def _holds_text(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Say whether it surely is text, or a list of nothing else."""
    value = value_of(module, node)
    match value:
        case cst.SimpleString():
            return not value.prefix.lower().startswith(("b", "br", "rb"))
        case cst.ConcatenatedString() | cst.FormattedString():
            return True
        case cst.BinaryOperation(operator=cst.Add() | cst.Multiply()) if depth < _MAX_DEPTH:
            return _holds_text(module, value.left, depth + 1)
        case cst.List() | cst.Tuple() if depth < _MAX_DEPTH and value.elements:
            return all(
                isinstance(each, cst.Element) and _holds_text(module, each.value, depth + 1)
                for each in value.elements
            )
    return False


def _finding(
    module: Module, facts: TargetFacts, use: MemberUse, arrays: list[cst.BaseExpression]
) -> Finding:
    spelled, need = speller_at(module, use.node).spell("tensorflow.constant")
    return rule.finding(
        module.place(arrays[0]),
        "Keras 3 does not accept NumPy arrays of strings: ValueError: Invalid dtype: str",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}",
        confidence=use.confidence,
        help="Use `tf.constant(…)`.",
        fix=Fix(
            "Convert it to a tensor",
            tuple(_edit(module, each, spelled) for each in arrays),
            facts.applicability(*(each for each in rule.invalid if each.after)),
            () if need is None else (need,),
        ),
    )


def _edit(module: Module, array: cst.BaseExpression, spelled: str) -> Edit:
    """Write the other function where the array is made on the spot, or put it around."""
    if isinstance(array, cst.Call) and len(array.args) == 1 and array.args[0].keyword is None:
        return Edit(module.span(array.func), (spelled,))
    span = module.outer_span(array)
    return Edit(span, (f"{spelled}(", Hole(span), ")"))


def _may_get_text(quick: QuickFacts, _: TargetFacts) -> bool:
    given = (
        value
        for method in _METHODS
        for called in quick.calls_by_leaf.get(method, ())
        for value in quick.values_of(called.argument("x", 0))
    )
    return any(
        isinstance(inner, ast.Call) and _may_be_of_text(quick, inner)
        for each in given
        for inner in quick.reached([each])
    )


def _may_be_of_text(quick: QuickFacts, made: ast.Call) -> bool:
    names = {each.removeprefix("numpy.") for each in quick.meant_by(made.func)}
    return not names.isdisjoint(CONVERTING) and any(
        isinstance(each, ast.JoinedStr)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str))
        for each in quick.reached(made.args)
    )


rule = Rule(
    code="KD479",
    name="text-in-an-array",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*_METHODS) & Trigger(_may_get_text),
    since="3.0",
)
