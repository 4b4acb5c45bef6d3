"""Scan and fix trees of files. Knows nothing of terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdoctor.engine.identity.fingerprints import fingerprints  # its module has the same name
from kdoctor.lazy_exports import deferred

if TYPE_CHECKING:
    from kdoctor.engine.fixes.undo_journal import Undone, undo
    from kdoctor.engine.fixes.write import interrupted_after_writing, uncommitted_files, write
    from kdoctor.engine.fixing import fix
    from kdoctor.engine.options import Options
    from kdoctor.engine.result import (
        Anchor,
        FixedFile,
        FixResult,
        LeftAlone,
        ScanResult,
        SkippedPart,
    )
    from kdoctor.engine.scanning import scan
    from kdoctor.engine.selection.file_selection import FileSelection

# Imported when first asked for: a scan needs nothing of what writes files.
_HOMES = {
    "Anchor": "result",
    "FixResult": "result",
    "FixedFile": "result",
    "LeftAlone": "result",
    "Options": "options",
    "FileSelection": "selection.file_selection",
    "ScanResult": "result",
    "SkippedPart": "result",
    "Undone": "fixes.undo_journal",
    "uncommitted_files": "fixes.write",
    "fix": "fixing",
    "interrupted_after_writing": "fixes.write",
    "scan": "scanning",
    "undo": "fixes.undo_journal",
    "write": "fixes.write",
}

__all__ = [
    "Anchor",
    "FileSelection",
    "FixResult",
    "FixedFile",
    "LeftAlone",
    "Options",
    "ScanResult",
    "SkippedPart",
    "Undone",
    "fingerprints",
    "fix",
    "interrupted_after_writing",
    "scan",
    "uncommitted_files",
    "undo",
    "write",
]


def __getattr__(name: str) -> object:
    return deferred(__name__, _HOMES, name)
