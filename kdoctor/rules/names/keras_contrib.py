"""Names of `keras_contrib`, which was abandoned before Keras 3."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import package
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.names._deduplicate import of_package
from kdoctor.rules.names._definitions.dead_packages import CONTRIB
from kdoctor.rules.names._definitions.keras_2_helpers import helper_of
from kdoctor.rules.names._definitions.package_fixes import PackageFixes
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference

# What an import of these modules raises on Keras 3.
_BROKEN = {
    "keras_contrib.applications": "No module named 'keras.utils.layer_utils'",
    "keras_contrib.utils.save_load_utils": "No module named 'keras.engine'",
}
_BY_HAND = "Copy the parts you need into the project: kdoctor fixes their code like any other."
_NO_NAME = "kdoctor has no code that does what it did"


@rule("KD106", severity=Severity.LEGACY, since="3.0", look_for=files(package(CONTRIB)))
def check(file: File) -> Iterator[Finding]:
    """Report each import from `keras_contrib` once, else each name that is read off it."""
    fixes = PackageFixes(file.module, file.facts, CONTRIB, {})
    for reference in of_package(file.module, CONTRIB):
        yield _finding(file, reference, _attempt(file.module, fixes, reference))


def _attempt(module: Module, fixes: PackageFixes, reference: Reference) -> Fix | NoFix:
    if isinstance(reference.node, cst.ImportStar):
        return NoFix("kdoctor cannot tell which names a star import was meant to bring in")
    read = [reference, *(e for e in module.references if e.binding is reference.binding)]
    if not any(helper_of(each.name) for each in read):
        return NoFix(_NO_NAME)
    return fixes.titled(reference)


def _finding(file: File, reference: Reference, attempt: Fix | NoFix) -> Finding:
    error = next(
        (text for name, text in _BROKEN.items() if f"{reference.name}.".startswith(f"{name}.")), ""
    )
    why = f"ModuleNotFoundError: {error}" if error else "most of it raises on Keras 3"
    return file.finding(
        f"`{reference.name}`: keras-contrib was abandoned in 2019: {why}",
        at=reference.node,
        symbol=reference.name,
        confidence=reference.confidence,
        severity=Severity.ERROR if error else Severity.LEGACY,
        help=f"{attempt.title}." if isinstance(attempt, Fix) else _BY_HAND,
        fix=attempt,
    )
