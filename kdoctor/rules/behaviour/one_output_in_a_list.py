"""A model created with `outputs=[y]` returns a list of one instead of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, calls_that_make, word
from kdoctor.model import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Hole,
    NoFix,
    Precedence,
    Severity,
)
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.behaviour._list_uses import UseOfList, uses_of_lists
from kdoctor.rules.behaviour._single_item_lists import SingleItemLists, models_with_one_in_a_list
from kdoctor.rules.behaviour._visible_model_uses import counts_on_no_list
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts

_MAX_QUOTED_LENGTH = 60  # of code that is quoted


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such list by which something breaks."""
    made = dict(models_with_one_in_a_list(module, facts))
    if not made:
        return
    lists = SingleItemLists(module, frozenset(made))
    found: dict[cst.Call, list[UseOfList]] = {}
    for use in uses_of_lists(module, facts, lists):
        for model in use.models:
            found.setdefault(model, []).append(use)
    for model, outputs in made.items():
        if model in found:
            uses = sorted(found[model], key=lambda each: module.span(each.node))
            yield _finding(module, facts, model, outputs, uses)


def _finding(
    module: Module,
    facts: TargetFacts,
    model: cst.Call,
    outputs: cst.List,
    uses: Sequence[UseOfList],
) -> Finding:
    errors = [each for each in uses if each.severity is Severity.ERROR]
    first = (errors or uses)[0]
    more = len({each.node for each in uses}) - 1
    fix = _fix(module, facts, model, outputs)
    return rule.finding(
        module.place(outputs),
        f"the output is in a list, so {_quoted(module, first)} {first.how} a list of one, not a "
        f"tensor as in Keras 2: {first.what}" + (f" (and {more} more)" if more else ""),
        symbol="keras.Model(outputs)",
        confidence=Confidence.LIKELY,
        severity=first.severity,
        help="Pass the single output without a list.",
        fix=fix or NoFix("there is a comment in the list"),
    )


def _quoted(module: Module, use: UseOfList) -> str:
    place, source = module.place(use.node), " ".join(module.source(use.node).split())
    where = f"line {place.line}" if place.cell is None else f"cell {place.cell}, line {place.line}"
    shown = source if len(source) <= _MAX_QUOTED_LENGTH else f"{source[: _MAX_QUOTED_LENGTH - 1]}…"
    return f"`{shown}` ({where})"


def _fix(module: Module, facts: TargetFacts, model: cst.Call, outputs: cst.List) -> Fix | None:
    output = outputs.elements[0].value
    if module.source(outputs).count("#") > module.source(output).count("#"):
        return None
    inner = Hole(module.outer_span(output), Precedence.LAMBDA, precedence_of(output))
    is_safe = counts_on_no_list(module, model)
    return Fix(
        "Remove the list around the single output",
        (Edit(module.span(outputs), (inner,)),),
        facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))
        if is_safe
        else Applicability.UNSAFE,
        unsafe_because="other code uses the model or its result: `[0]` on that now takes the "
        "tensor out of the list, and would then take the first sample of the batch",
    )


def _may_be_in_a_list(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        isinstance(outputs := called.argument("outputs", 1), ast.List) and len(outputs.elts) == 1
        for _, called in calls_that_make(quick, facts, cls="Functional")
    )


rule = Rule(
    code="KD450",
    name="one-output-in-a-list",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word("Model", "Functional", "Network", "Container") & Trigger(_may_be_in_a_list),
    since="3.0",
)
