"""`TimeDistributed(BatchNormalization())` normalizes each time step separately."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.wrappers import applications_of, wrapped_layers
from kdoctor.analysis.triggers import word
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such layer that is trained."""
    for reference, call, inner in wrapped_layers(module, facts, "TimeDistributed"):
        name = module.qualified(inner.func)
        found = module.oracle.class_type(name) if name else None
        if found is None or found.cls != "BatchNormalization" or is_hidden(inner):
            continue
        if not _is_fixed(inner, "trainable") and not _is_called_fixed(module, call):
            yield rule.finding(
                module.place(call),
                "each time step is normalized separately: Keras 2 normalized all steps together",
                symbol=reference.name,
                confidence=reference.confidence,
                help="Use `BatchNormalization` without `TimeDistributed`.",
                fix=NoFix("saved weights depend on the present layers"),
            )


def _is_fixed(call: cst.Call, keyword: str) -> bool:
    given = argument(call, keyword)
    return given is not None and literal(given.value) is not True


def _is_called_fixed(module: Module, made: cst.Call) -> bool:
    """Say whether the layer is called with ``training=``."""
    return any(_is_fixed(each, "training") for each in applications_of(module, made))


rule = Rule(
    code="KD445",
    name="time-distributed-norm",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word("TimeDistributed") & word("BatchNormalization"),
    since="3.0",
)
