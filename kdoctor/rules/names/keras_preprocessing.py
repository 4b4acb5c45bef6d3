"""`pad_sequences` of `keras_preprocessing`, which raises with NumPy 2: Keras has it itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import package
from kdoctor.model import Finding, Fix, Severity
from kdoctor.rewrite import Rewrite, rewrite
from kdoctor.rules.example import Example
from kdoctor.rules.names._deduplicate import of_package
from kdoctor.rules.names._definitions.package_fixes import PackageFixes
from kdoctor.rules.rule import rule

_PACKAGE = "keras_preprocessing"
_OLD = f"{_PACKAGE}.sequence.pad_sequences"
_NEW = "keras.utils.pad_sequences"


@rule("KD122", severity=Severity.LEGACY, since="3.0", look_for=files(package(_PACKAGE)))
def check(file: File) -> Iterator[Finding]:
    """Report each import of it once, else each place where it is read off the package."""
    fixes = PackageFixes(file.module, file.facts, _PACKAGE, _rows())
    for reference in of_package(file.module, _PACKAGE, _OLD):
        fix = fixes.titled(reference)
        yield file.finding(
            f"`{_OLD}` raises with NumPy 2: AttributeError: `np.unicode_` was removed in the "
            "NumPy 2.0 release",
            at=reference.node,
            symbol=_OLD,
            confidence=reference.confidence,
            help=f"{fix.title}." if isinstance(fix, Fix) else f"Write `{_NEW}`.",
            fix=fix,
        )


@cache
def _rows() -> Mapping[Rewrite, Example]:
    """Return the rewrite, with what proves it."""
    return {rewrite(_OLD, _NEW): check.invalid[0]}
