"""A requirement allows no Keras 3."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.model import Finding, Severity
from kdoctor.rules.environment._pins import concerns, findings_of_setup
from kdoctor.rules.rule import rule


@rule(
    "KD712",
    severity=Severity.ERROR,
    look_for=files(keyword("install_requires") | keyword("extras_require")),
    since="3.0",
)
def check(file: File) -> Iterator[Finding]:
    """Report what a call of ``setup`` requires; all other files the engine asks about."""
    if concerns(file.facts.target):
        yield from findings_of_setup(file.module.unit, file.facts.target)
