"""An integer `seed=` returns the same random numbers on every call."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.calls import argument, literal, literal_of, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, keyword
from kdoctor.keras_api import split_root
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Context

_REPEATED = (Context.CALL, Context.LOSS_OR_METRIC, Context.TRAIN_LOOP)


def _may_be_seeded(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        any(_is_random(facts, each) for each in called.names)
        and any(isinstance(literal_of(e), int) for e in quick.values_of(called.argument("seed")))
        for called in quick.calls_with("seed")
    )


def _is_random(facts: TargetFacts, name: str) -> bool:
    split = split_root(name)
    return split is not None and split[1].startswith("random.") and facts.runs_keras_3(split[0])


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each fixed seed in what runs again and again."""
    for reference in module.references:
        if reference.call is None or not _is_random(facts, reference.name):
            continue
        given = argument(reference.call, "seed")
        value = literal(value_of(module, given.value)) if given else None
        if given is None or not isinstance(value, int):
            continue
        if module.context_of(reference.node) not in _REPEATED:
            continue
        yield rule.finding(
            module.place(given),
            "with an integer seed this returns the same numbers on every call",
            symbol=reference.name,
            confidence=reference.confidence,
            help=f"Create `keras.random.SeedGenerator({value})` once, in `__init__`, and pass "
            "that.",
            fix=NoFix("you have to decide where the generator is stored"),
        )


rule = Rule(
    code="KD419",
    name="seed-repeats",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=keyword("seed") & Trigger(_may_be_seeded),
    since="3.0",
)
