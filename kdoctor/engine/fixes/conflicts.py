"""Choose which fixes of a unit can be applied in one pass."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Sequence

from kdoctor.model import Edit, Finding, Fix, Hole, ImportNeed, Span

_ALWAYS_APPLIED = -1  # the owner of edits that are made whatever happens


def compatible_fixes(
    findings: Iterable[Finding], kept: Sequence[Edit], cells: Sequence[Span]
) -> list[Fix]:
    """Return the fixes that do not conflict; the first in source order wins.

    ``kept`` are edits that are made in any case (they put masked magics back). A fix waits for the
    next pass where one of its edits overlaps an edit of an earlier fix, or goes right behind what
    that takes out; and where it binds a name by import that an earlier fix binds to something else,
    or the same thing by another name: in the next pass it finds that name bound. Edits of which one
    lies inside a hole of the other go together. A fix that reaches over the end of a cell is never
    chosen.
    """
    ordered = sorted(findings, key=lambda finding: (finding.place, finding.code))
    # Two findings may be cured by one and the same fix: it is made once.
    fixes = list(dict.fromkeys(finding.fix for finding in ordered if finding.fix is not None))
    clashes = _conflicts(kept, fixes)
    chosen: dict[int, Fix] = {}
    bound: dict[str, ImportNeed] = {}
    named: dict[tuple[str, str | None], ImportNeed] = {}
    for number, fix in enumerate(fixes):
        if any(rival in chosen or rival in (_ALWAYS_APPLIED, number) for rival in clashes[number]):
            continue
        if not all(_cell_at(cells, edit.span).covers(edit.span) for edit in fix.edits):
            continue
        if any(
            bound.get(need.local, need) != need or named.get(_import_key(need), need) != need
            for need in fix.imports
        ):
            continue
        chosen[number] = fix
        bound.update((need.local, need) for need in fix.imports)
        named.update((_import_key(need), need) for need in fix.imports)
    return list(chosen.values())


def _cell_at(cells: Sequence[Span], span: Span) -> Span:
    """Return the cell in which a span starts."""
    after = bisect.bisect_right(cells, span.start, key=lambda cell: cell.start)
    return cells[max(0, after - 1)]


def _import_key(need: ImportNeed) -> tuple[str, str | None]:
    return need.module, need.name


def _conflicts(kept: Sequence[Edit], fixes: Sequence[Fix]) -> dict[int, set[int]]:
    """Map each fix to the fixes it conflicts with (itself, if it is contradictory)."""
    owned = [(edit, _ALWAYS_APPLIED) for edit in kept]
    owned += [(edit, number) for number, fix in enumerate(fixes) for edit in fix.edits]
    owned.sort(key=lambda pair: pair[0].span)
    clashes: defaultdict[int, set[int]] = defaultdict(set)
    open_edits: list[tuple[Edit, int]] = []
    for edit, owner in owned:
        open_edits = [pair for pair in open_edits if pair[0].span.end >= edit.span.start]
        for other, other_owner in open_edits:
            if _conflict(edit, other):
                clashes[owner].add(other_owner)
                clashes[other_owner].add(owner)
        open_edits.append((edit, owner))
    return clashes


def _conflict(one: Edit, other: Edit) -> bool:
    if one == other:
        return False
    a, b = one.span, other.span
    if _inserts_after_deleted(one, other) or _inserts_after_deleted(other, one):
        return True
    overlap = (a.start < b.end and b.start < a.end) or a == b
    return overlap and not (_inside_hole(one, other) or _inside_hole(other, one))


def _inserts_after_deleted(new: Edit, gone: Edit) -> bool:
    """Say whether text is inserted right after a deletion: an argument after the last.

    It begins with a comma then, and nothing may be left to stand before that.
    """
    is_gone = not any(gone.parts) and gone.span.start < gone.span.end
    return is_gone and new.span.start == new.span.end == gone.span.end


def _inside_hole(inner: Edit, outer: Edit) -> bool:
    return any(isinstance(part, Hole) and _inside(inner.span, part.span) for part in outer.parts)


def _inside(inner: Span, hole: Span) -> bool:
    """Say whether ``inner`` is part of ``hole``; an insertion at its edge is not."""
    if inner.start == inner.end:
        return hole.start < inner.start < hole.end
    return hole.covers(inner)
