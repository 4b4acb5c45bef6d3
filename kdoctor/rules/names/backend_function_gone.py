"""Functions of `keras.backend` that Keras 3 removed, or that never existed."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files, references
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import ONLY_IN_DEAD_CODE, RewriteTable
from kdoctor.rules.names._backend import REWRITES as ROWS
from kdoctor.rules.names._backend.rewrite_call import (
    attempted,
    function,
    help_for,
    reason_for,
    table,
)
from kdoctor.rules.names._classes_asked_for import never_one_or
from kdoctor.rules.names._deduplicate import (
    is_read_of_guarded_import,
    is_read_of_guarded_value,
    told_once,
)
from kdoctor.rules.names._deferred_imports import deferred_import
from kdoctor.rules.names._definitions.fixes import DefinitionFixes
from kdoctor.rules.names._missing_names import (
    another_star_may_bind_it,
    error_of,
    is_closed,
    is_given,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Reference, ReferenceKind


def _is_gone(facts: TargetFacts, dotted: str) -> bool:
    return function(dotted) is not None and facts.lookup(dotted).presence is Presence.MISSING


_GONE = references(where=_is_gone)


@rule("KD101", severity=Severity.ERROR, since="3.0", look_for=files(word("backend"), _GONE))
def check(file: File) -> Iterator[Finding]:
    """Report each missing function once: where it is read, or at an import that nothing reads."""
    module = file.module
    missing = [
        each.reference
        for each in _GONE.find(module, file.facts)
        if each.reference.kind in (ReferenceKind.IMPORT, ReferenceKind.LOAD)
        and not is_read_of_guarded_import(module, each.reference)
        and not is_read_of_guarded_value(module, each.reference)
        and not is_closed(each.reference)
        and not another_star_may_bind_it(module, each.reference)
        and not is_given(module, each.reference)
    ]
    rows = table(file.facts)
    helpers = DefinitionFixes(module, file.facts, missing)
    attempts = {each: _attempt(file, each, rows, helpers) for each in told_once(missing)}
    stuck = [
        each
        for each, attempt in attempts.items()
        if isinstance(attempt, NoFix) and attempt != ONLY_IN_DEAD_CODE
    ]
    for reference, attempt in attempts.items():
        deferred = None
        if reference in stuck:
            deferred = deferred_import(module, file.facts, reference, stuck)
        yield _finding(file, reference, rows, attempt, deferred or attempt)


def _attempt(
    file: File, reference: Reference, rows: RewriteTable, helpers: DefinitionFixes
) -> Fix | NoFix:
    written = helpers.attempt(reference)
    if isinstance(written, Fix):
        return written
    name = function(reference.name)
    assert name is not None
    fix = attempted(file.module, file.facts, reference, rows, name)
    return never_one_or(file.module, file.facts, reference, fix)


def _finding(
    file: File, reference: Reference, rows: RewriteTable, attempt: Fix | NoFix, fix: Fix | NoFix
) -> Finding:
    """Tell of one function; ``attempt`` is what stands for it, if anything does."""
    name = function(reference.name)
    assert name is not None
    found = file.facts.lookup(reference.name)
    last = found.periods[-1][1] if found.periods else None
    history = f"is gone (last in {found.root} {last})" if last else "does not exist"
    return file.finding(
        f"`{found.missing_prefix}` {history}: {error_of(reference, found)}",
        at=reference.node,
        symbol=reference.name,
        confidence=reference.confidence,
        help=help_for(name, attempt, found),
        fix=fix if isinstance(fix, Fix) else reason_for(name, fix, rows, found),
    )


REWRITES = ROWS
