"""Names that the target's Keras does not have: moved, removed, or never defined."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files, references
from kdoctor.keras_api import Lookup, split_root
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import ONLY_IN_DEAD_CODE
from kdoctor.rules.names._classes_asked_for import never_one
from kdoctor.rules.names._deferred_imports import deferred_import
from kdoctor.rules.names._definitions.fixes import DefinitionFixes
from kdoctor.rules.names._missing_names import (
    another_star_may_bind_it,
    by_star,
    error_of,
    is_given,
    look_up,
    may_be_missing,
)
from kdoctor.rules.names._move_candidates import (
    ONLY_PRIVATE,
    Moves,
    Ways,
    is_of_the_copy,
    under_keras,
)
from kdoctor.rules.names._one_device import on_one_device
from kdoctor.rules.names._removed_classes import stand_in
from kdoctor.rules.names._star_imports import star_of_package
from kdoctor.rules.names._successors import told_by_hand
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference, ReferenceKind


@rule("KD102", severity=Severity.ERROR, look_for=files(references(where=may_be_missing)))
def check(file: File) -> Iterator[Finding]:
    """Report each missing name once: at its import, else where it is read."""
    module, facts = file.module, file.facts
    missing = {
        reference: found
        for reference in module.references
        if reference.kind in (ReferenceKind.IMPORT, ReferenceKind.LOAD)
        and (found := look_up(module, reference, facts)) is not None
        and (_is_imported_here(reference) or _is_read_here(module, reference, found))
        and not _is_of_the_backend(found)
        and not module.is_guarded(reference.node)
        and not another_star_may_bind_it(module, reference)
        and not is_given(module, reference)
    }
    imports = [each for each in missing if each.kind is ReferenceKind.IMPORT]
    if not missing:
        return
    helpers = DefinitionFixes(module, facts, missing)
    moves = Moves(module, _ways(facts), missing, helpers)

    def attempt_for(reference: Reference, found: Lookup) -> Fix | NoFix:
        attempt = helpers.attempt_or(reference, moves.attempt)
        if isinstance(attempt, Fix):
            return attempt
        return (
            stand_in(module, facts, reference, found)
            or never_one(module, facts, reference, found)
            or star_of_package(module, facts, reference, found)
            or attempt
        )

    attempts = {each: attempt_for(each, missing[each]) for each in imports}
    stuck = [each for each, attempt in attempts.items() if isinstance(attempt, NoFix)]
    for reference, found in missing.items():
        is_read = reference.kind is ReferenceKind.LOAD
        imported = next((each for each in imports if is_read and _reads(reference, each)), None)
        if imported is not None and imported.name == reference.name:
            continue  # the finding at the import is about this use, too
        attempt = attempts.get(reference) or attempt_for(reference, found)
        if isinstance(attempt, NoFix) and attempt != ONLY_IN_DEAD_CODE:
            attempt = (
                deferred_import(module, facts, reference, stuck)
                or on_one_device(module, facts, reference, found)
                or attempt
            )
        if imported is not None:
            if isinstance(attempt, Fix):
                continue  # as above
        elif is_read and not by_star(reference) and _is_missing_before_the_name(reference, found):
            continue  # `L = keras.layers.core`, then `L.Dense`: reported where `L` is bound
        if isinstance(attempt, NoFix) and not helpers.refuses(reference):
            attempt = _reason(found, moves, attempt)
        yield _finding(file, reference, found, moves, attempt)


@lru_cache(maxsize=8)
def _ways(facts: TargetFacts) -> Ways:
    return Ways(facts, check.group("moved"))


def _finding(
    file: File, reference: Reference, found: Lookup, moves: Moves, attempt: Fix | NoFix
) -> Finding:
    return file.finding(
        f"`{found.qualified}` {_history(found, moves)}: {error_of(reference, found)}",
        at=_place(reference, found),
        symbol=found.qualified,
        confidence=reference.confidence,
        help=_help(found, moves, attempt),
        fix=attempt,
    )


def _history(found: Lookup, moves: Moves) -> str:
    if found.import_only or (found.kind is not None and found.missing_prefix != found.qualified):
        return "is available only after its module is imported"
    if not found.periods:
        return "does not exist"
    if moves.is_of_a_later_release(found):
        return f"does not exist yet (first in {found.root} {found.since})"
    return f"is gone (last in {found.root} {found.periods[-1][1]})"


def _help(found: Lookup, moves: Moves, attempt: Fix | NoFix) -> str:
    if found.moved_to and not is_of_the_copy(found):
        return f"It is now `{found.moved_to[0]}`."
    if isinstance(attempt, Fix):
        return f"{attempt.title}."
    if by_hand := _by_hand(found, moves):
        return f"{by_hand}."
    if found.suggestions:
        return f"Did you mean {' or '.join(f'`{each}`' for each in found.suggestions)}?"
    if found.elsewhere:
        old = " (Keras 2)" if found.elsewhere[0].startswith("tf_keras") else ""
        return f"It still exists as `{found.elsewhere[0]}`{old}."
    if isinstance(attempt, NoFix) and attempt.reason.startswith(ONLY_PRIVATE):
        return "Copy the parts that your code needs into your project."
    return ""


def _by_hand(found: Lookup, moves: Moves) -> str:
    """Return what to write by hand: of the name itself, its twins, or of what it stands under."""
    names = (found.qualified, *moves.twins(found))
    return told_by_hand([under_keras(each).removeprefix("keras.") for each in names])


def _reason(found: Lookup, moves: Moves, refused: NoFix) -> NoFix:
    if moves.is_known(found) or refused == ONLY_IN_DEAD_CODE:
        return refused
    if _by_hand(found, moves):
        return NoFix("nothing in Keras 3 replaces it one to one")
    return NoFix("no release had the same object under a name that exists on the target")


def _place(reference: Reference, found: Lookup) -> cst.CSTNode:
    """Return where the missing part stands: the import's alias, or the name up to that part."""
    node: cst.CSTNode = reference.node
    if reference.kind is ReferenceKind.LOAD and found.missing_prefix is not None:
        behind = found.qualified.count(".") - found.missing_prefix.count(".")
        for _ in range(behind):
            if isinstance(node, cst.Attribute):
                node = node.value
    return node


def _is_missing_before_the_name(reference: Reference, found: Lookup) -> bool:
    """Say whether what is missing is not written here, but where the first name was bound."""
    written, node = 1, reference.node
    while isinstance(node, cst.Attribute):
        written, node = written + 1, node.value
    bound = found.qualified.count(".") + 2 - written
    return found.missing_prefix is not None and found.missing_prefix.count(".") + 1 <= bound


def _reads(use: Reference, imported: Reference) -> bool:
    same = use.name == imported.name or use.name.startswith(f"{imported.name}.")
    return same and use.binding is imported.binding


def _is_imported_here(reference: Reference) -> bool:
    """Say whether this file itself imports it: through a module of the tree it is missing there."""
    return reference.binding.imported.partition(".")[0] == reference.name.partition(".")[0]


def _is_read_here(module: Module, reference: Reference, found: Lookup) -> bool:
    """Say whether this file reads what is missing off something that a module of the tree has.

    `initializers.normal` of `from net.parts import initializers`, also as
    `parts.initializers.normal`.
    """
    node, handed_on = reference.node, reference.binding.name
    while isinstance(node, cst.Attribute):
        node = node.value
        name = module.qualified(node)
        if name is not None and reference.name.startswith(f"{name}."):
            handed_on = name
    missing = found.missing_prefix or ""
    return reference.kind is ReferenceKind.LOAD and missing.startswith(f"{handed_on}.")


def _is_of_the_backend(found: Lookup) -> bool:
    """Say whether KD101 speaks of it: of all public names right below the backend."""
    split = split_root(found.missing_prefix or "")
    owner, _, leaf = split[1].rpartition(".") if split is not None else ("", "", "")
    return owner == "backend" and not leaf.startswith("_")
