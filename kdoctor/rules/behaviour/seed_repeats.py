"""An integer `seed=` returns the same random numbers on every call."""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, functions
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Context

_REPEATED = (Context.CALL, Context.LOSS_OR_METRIC, Context.TRAIN_LOOP)


@rule(
    "KD419",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=functions(within="random")
    .even(hidden=True, guarded=True)
    .argument("seed", where=lambda form: isinstance(form, int)),
)
def check(seed: Argument) -> Finding | None:
    """Report each fixed seed in what runs again and again."""
    assert seed.reference is not None
    if seed.module.context_of(seed.reference.node) not in _REPEATED:
        return None
    value = literal(seed.value_node)
    return seed.finding(
        "with an integer seed this returns the same numbers on every call",
        at=seed.arg,
        symbol=seed.name,
        help=f"Create `keras.random.SeedGenerator({value})` once, in `__init__`, and pass that.",
        fix=NoFix("you have to decide where the generator is stored"),
    )
