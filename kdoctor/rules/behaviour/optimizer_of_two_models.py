"""An optimizer shared by two models raises when the second one is trained."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.freezing import TRAINING, copy_optimizer_edit
from kdoctor.analysis.triggers import Trigger, attribute, calls_that_make
from kdoctor.model import Applicability, Confidence, Finding, Fix, Severity
from kdoctor.rules.behaviour._shared_optimizers import Compiled, Sharing
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import ast_dotted_name
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_RAISED = "ValueError: Unknown variable"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each optimizer of several models, where the second is compiled."""
    sharing = Sharing(module)
    if sharing.freezing.is_too_much:
        return
    for clash in sharing.clashes():
        yield _finding(module, clash)


def _finding(module: Module, clash: Sequence[Compiled]) -> Finding:
    ordered = sorted(clash, key=lambda each: module.span(each.given))
    places = {module.span(each.given): each for each in ordered}
    several = list(places.values())
    here = several[min(1, len(several) - 1)]
    written, model = module.source(here.given), module.source(here.use.model)
    made = module.type_of(here.optimizer.call)
    if len(several) == 1:
        message = (
            f"`{written}` is created once, but `{model}` is a new model each time: it only knows "
            f"the weights of the first, and training the second raises `{_RAISED}`"
        )
    else:
        message = (
            f"`{written}` is also the optimizer of `{module.source(several[0].use.model)}`: it "
            "only knows the weights of the model that is trained first, and training the other "
            f"raises `{_RAISED}`"
        )
    changed = several if len(several) == 1 else several[:-1]
    return rule.finding(
        module.place(here.given),
        message,
        symbol=f"{(made and made.cls) or 'Optimizer'}.apply",
        confidence=Confidence.LIKELY,
        help="Create one optimizer per model.",
        fix=Fix(
            f"Give each model its own optimizer, a copy of `{written}`",
            tuple(copy_optimizer_edit(module, each.given) for each in changed),
            Applicability.UNSAFE,
            unsafe_because="each copy counts the steps of its own model, and a rate that is set "
            "later applies to only one of them",
        ),
    )


def _may_be_shared(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether two calls of ``compile`` may pass one optimizer, or one call again and again."""
    given = [
        (written, called.node)
        for called in quick.calls_by_leaf.get("compile", ())
        if (value := called.argument("optimizer", 0)) is not None
        if (written := ast_dotted_name(value))
    ]
    if not given or not any(calls_that_make(quick, facts, Kind.OPTIMIZER)):
        return False
    if len({written for written, _ in given}) < len(given):
        return True
    return any(
        _is_around(place, call) and not _assigns(quick, place, written)
        for kind in (ast.For, ast.While, ast.FunctionDef)
        for place in quick.nodes.get(kind, ())
        for written, call in given
        if kind is not ast.FunctionDef or "." not in written
    )


def _is_around(place: ast.stmt, node: ast.stmt | ast.expr) -> bool:
    """Say whether a node stands in the lines of a statement."""
    return place.lineno <= node.lineno <= (place.end_lineno or place.lineno)


def _assigns(quick: QuickFacts, place: ast.stmt, written: str) -> bool:
    return any(
        ast_dotted_name(target) == written and _is_around(place, assign)
        for assign in quick.nodes.get(ast.Assign, ())
        for target in assign.targets
    )


rule = Rule(
    code="KD446",
    name="optimizer-of-two-models",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute("compile") & attribute(*TRAINING) & Trigger(_may_be_shared),
    since="2.11",
)
