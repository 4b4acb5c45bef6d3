"""Give a path another ending, in every place of a file where it is written."""

from __future__ import annotations

from kdoctor.model import Applicability, Edit, Fix, NoFix
from kdoctor.rules.saving._path_collisions import taken
from kdoctor.rules.saving._path_endings import NOT_WRITTEN_OUT, Ending, renamed
from kdoctor.syntax import Module


def renaming_edits(module: Module, found: Ending, old: str, new: str) -> tuple[Edit, ...] | NoFix:
    """Return the edits that replace the ending ``old`` by ``new``, or why there are none."""
    edits = renamed(module, found, old, new)
    if not edits:
        return NOT_WRITTEN_OUT
    return taken(module, found, old, new) or edits


def rename_to_keras(module: Module, found: Ending, old: str, *, unsafe_because: str) -> Fix | NoFix:
    """Return the fix that lets a path end in ``.keras`` instead of ``old``, or why not."""
    edits = renaming_edits(module, found, old, ".keras")
    if isinstance(edits, NoFix):
        return edits
    return Fix(
        "Change the path's ending to `.keras` throughout this file",
        edits,
        Applicability.UNSAFE,
        unsafe_because=unsafe_because,
    )
