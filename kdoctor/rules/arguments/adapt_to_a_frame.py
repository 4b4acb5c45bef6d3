"""`adapt` treats a DataFrame or a list of numbers as an iterable of batches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import argument, is_keras_3, keras_version, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.constructors import ArrayForm
from kdoctor.analysis.tensors.elements import numbers_in_list
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.analysis.triggers import Trigger, member_of, package
from kdoctor.model import Edit, Finding, Fix, Hole, ImportNeed, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_METHOD: Final = "adapt"
_STRICT: Final = "Normalization"
_REFUSED: Final = (
    "TypeError: adapt() expects an iterable that yields arrays or tensors with a `.shape` attribute"
)
_OF_A_FRAME: Final = {
    _STRICT: f"{_REFUSED} … Got an element of type str",
    "Discretization": "ValueError: could not convert string to float",
    "IntegerLookup": "TypeError: Cannot convert … to EagerTensor of dtype int64",
    "StringLookup": "",
    "TextVectorization": "",
}
"""What each layer says of the names of the columns; nothing where it learns them."""
_WHAT: Final = {ArrayForm.FRAME: "a DataFrame", ArrayForm.COLUMN: "a column"}
_ITERATES: Final = Version("3.14")
"""Since then all layers go through what they do not know."""


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each layer that is adapted to what is no array."""
    for use in module.members:
        cls, call = use.owner.cls or "", use.called
        if use.member != _METHOD or use.owner.kind is not Kind.LAYER or use.owner_defines:
            continue
        if call is None or cls not in _OF_A_FRAME or not is_keras_3(facts, use.owner.qualified):
            continue
        data = argument(call, "data", 0)
        if data is None or module.is_guarded(use.node):
            continue
        if cls != _STRICT and keras_version(facts) < _ITERATES:
            continue
        found = ranks_of(module).of(data.value)
        form = None if found is None else found.form
        if form is ArrayForm.FRAME or (form is ArrayForm.COLUMN and cls == _STRICT):
            yield _finding(module, facts, use, data.value, form)
        elif form is None and cls == _STRICT and numbers_in_list(module, data.value) is not None:
            yield _finding(module, facts, use, data.value, None)


def _finding(
    module: Module,
    facts: TargetFacts,
    use: MemberUse,
    data: cst.BaseExpression,
    form: ArrayForm | None,
) -> Finding:
    cls = use.owner.cls or ""
    what = "a list of numbers" if form is None else _WHAT[form]
    error = _OF_A_FRAME[cls] if form is ArrayForm.FRAME else _REFUSED
    array = "np.array([…])" if form is None else f"{module.source(data)}.to_numpy()"
    needs: tuple[ImportNeed, ...] = ()
    place = module.outer_span(data)
    if form is None:
        spelled, need = speller_at(module, use.node).spell("numpy.array")
        edit = Edit(place, (f"{spelled}(", Hole(place), ")"))
        needs = () if need is None else (need,)
    else:
        edit = Edit(place, (Hole(place, Precedence.PRIMARY, precedence_of(data)), ".to_numpy()"))
    return rule.finding(
        module.place(data),
        f"`adapt` treats {what} as an iterable of batches: "
        f"{error or f'`{cls}` learns the names of its columns'}",
        symbol=f"{cls}.{_METHOD}",
        confidence=use.confidence,
        severity=Severity.ERROR if error else Severity.CHANGE,
        help=f"Pass an array: `{array}`." if len(array) < 60 else "Pass an array.",
        fix=Fix("Pass an array", (edit,), facts.applicability(*rule.invalid), needs),
    )


def _may_be_numbers(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(value, ast.List | ast.ListComp | ast.BinOp)
        for called in quick.calls_by_leaf.get(_METHOD, ())
        for value in quick.values_of(called.argument("data", 0))
    )


rule = Rule(
    code="KD323",
    name="adapt-to-a-frame",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.LAYER}, _METHOD) & (package("pandas") | Trigger(_may_be_numbers)),
    since="3.0",
)
