"""Names of `keras_applications`, a package that moved into Keras."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import package
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.names._deduplicate import of_package
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, Reference

_PACKAGE = "keras_applications"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each import from `keras_applications` once, else each name that is read off it."""
    for reference in of_package(module, _PACKAGE):
        yield _finding(module, facts, reference)


def _finding(module: Module, facts: TargetFacts, reference: Reference) -> Finding:
    new = f"keras.applications{reference.name.removeprefix(_PACKAGE)}"
    is_there = facts.lookup(new).presence is Presence.EXISTS
    return rule.finding(
        module.place(reference.node),
        f"`{reference.name}`: keras-applications was abandoned in 2020, and does not support Keras "
        "3",
        symbol=reference.name,
        confidence=reference.confidence,
        help=f"Write `{new}`, without backend=, layers=, models= and utils=."
        if is_there
        else "keras.applications has the models, but not this name: copy it into your project.",
        fix=NoFix("its functions are called with arguments that those of Keras do not accept"),
    )


rule = Rule(
    code="KD107",
    name="keras-applications",
    family="names",
    severity=Severity.LEGACY,
    check=check,
    triggers=package(_PACKAGE),
    since="3.0",
)
