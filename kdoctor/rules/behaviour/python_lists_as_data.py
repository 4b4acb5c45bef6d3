"""`model.predict([[1.0, 2.0]])`: lists of numbers are no longer accepted as data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, literal, literal_of, speller_at, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.generators import is_a_librarys
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_DATA = {"fit": ("x", "y"), "evaluate": ("x", "y"), "predict": ("x",)}


def _may_get_lists(quick: QuickFacts, _: TargetFacts) -> bool:
    given = (
        called.argument(name, place)
        for method, names in _DATA.items()
        for called in quick.calls_by_leaf.get(method, ())
        for place, name in enumerate(names)
    )
    return any(
        isinstance(value, ast.List) and _holds_data(literal_of(value))
        for each in given
        for value in quick.values_of(each)
    )


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each list that is passed as data."""
    for use in module.members:
        if use.member not in _DATA or use.owner.kind is not Kind.MODEL or use.called is None:
            continue
        if use.owner_defines or module.is_guarded(use.called) or is_a_librarys(module, use):
            continue
        lists = [
            given.value
            for position, name in enumerate(_DATA[use.member])
            if (given := argument(use.called, name, position)) is not None
            and _is_data(value_of(module, given.value))
        ]
        if lists:
            yield _finding(module, facts, use, lists)


def _is_data(node: cst.BaseExpression) -> bool:
    """Say whether a list holds numbers, or lists of numbers; or text."""
    return isinstance(node, cst.List) and _holds_data(literal(node))


def _holds_data(value: object) -> bool:
    parts = _parts(value)
    if not parts:
        return False
    return all(isinstance(e, int | float) for e in parts) or _is_text(parts)


def _is_text(parts: list[object]) -> bool:
    return all(isinstance(each, str) for each in parts)


def _parts(value: object) -> list[object]:
    """Return the elements of a list, and of lists in it where it has nothing else."""
    while isinstance(value, list) and value and all(isinstance(e, list) for e in value):
        value = [each for part in value for each in part]
    return value if isinstance(value, list) else []


def _finding(
    module: Module, facts: TargetFacts, use: MemberUse, lists: list[cst.BaseExpression]
) -> Finding:
    shown = module.source(lists[0])
    text = any(_is_text(_parts(literal(value_of(module, each)))) for each in lists)
    spelled, need = speller_at(module, use.node).spell("numpy.array")
    edits = []
    for each in lists:
        span = module.outer_span(each)
        edits.append(Edit(span, (f"{spelled}(", Hole(span), ")")))
    return rule.finding(
        module.place(lists[0]),
        "a list is a list of inputs, but its elements are not arrays: ValueError: Unrecognized "
        f"data type: x={shown if isinstance(lists[0], cst.List) else '…'} (of type <class "
        "'list'>)",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}",
        confidence=use.confidence,
        help="Write `tf.constant([…])`." if text else "Write `np.array([…])`.",
        fix=NoFix("strings have to be passed as a TensorFlow tensor")
        if text
        else Fix(
            "Convert it to an array",
            tuple(edits),
            facts.applicability(*(each for each in rule.invalid if each.after)),
            () if need is None else (need,),
        ),
    )


rule = Rule(
    code="KD410",
    name="python-lists-as-data",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*_DATA) & Trigger(_may_get_lists),
    since="3.0",
)
