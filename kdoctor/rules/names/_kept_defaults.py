"""The old default of a moved name, written at the calls that rest on it."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.calls import add_keyword
from kdoctor.model import Fix
from kdoctor.syntax import Module, Reference


def is_renamed_by(fix: Fix, reference: Reference, use: Reference) -> bool:
    """Say whether a use gets its new name by the fix of a reference.

    A fix without edits of its own writes the import anew, for all that read it.
    """
    if use == reference:
        return True
    return not fix.edits and bool(fix.imports) and use.binding is reference.binding


def with_old_defaults(
    module: Module, fix: Fix, calls: Iterable[tuple[cst.Call | None, tuple[str, ...]]]
) -> Fix:
    """Return a fix that also passes, at each call, the keyword arguments that stand beside it."""
    kept = [(call, keywords) for call, keywords in calls if call is not None and keywords]
    if not kept:
        return fix
    edits = [add_keyword(module, call, ", ".join(keywords)) for call, keywords in kept]
    written = dict.fromkeys(f"`{each}`" for _, keywords in kept for each in keywords)
    title = f"{fix.title}, with {' and '.join(written)}"
    return replace(fix, title=title, edits=(*fix.edits, *edits))
