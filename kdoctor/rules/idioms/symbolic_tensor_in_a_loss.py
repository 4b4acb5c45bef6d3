"""A loss or metric uses a symbolic tensor of the model: `z_mean` of an encoder."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.roots import uses_another_keras
from kdoctor.analysis.tensors.symbolic import REFUSED, SYMBOLIC
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.idioms._outside_tensors import may_read_one, reads, takes_values
from kdoctor.rules.rule import rule


@rule(
    "KD517",
    severity=Severity.ERROR,
    since="3.0",
    # Every file that builds a model and defines a loss would do.
    look_for=files(SYMBOLIC, Trigger(may_read_one)),
)
def check(file: File) -> Iterator[Finding]:
    """Report the first place where a loss reads such a tensor."""
    module, facts = file.module, file.facts
    told: set[tuple[cst.CSTNode, str]] = set()
    others = uses_another_keras(module, facts)
    found = reads(module, lambda name: is_keras_3(facts, name))
    for read in sorted(found, key=lambda each: module.span(each.tensor)):
        name = module.source(read.tensor)
        is_call = takes_values(read.symbol)
        if (read.function, name) in told or (others and not is_call):
            continue
        if module.is_guarded(read.tensor):
            continue
        told.add((read.function, name))
        yield file.finding(
            f"a loss or metric uses `{name}`, a symbolic tensor of the model, which has no value "
            f"there: {REFUSED}",
            at=read.tensor,
            symbol=read.symbol,
            confidence=read.confidence,
            help="Pass it to a custom layer whose `call` computes this part of the loss and adds "
            "it with `self.add_loss(value)`.",
            fix=NoFix("you have to decide where the layer goes and what it receives"),
        )
