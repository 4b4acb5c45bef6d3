"""Scan and fix trees of files. Knows nothing of terminals."""

from __future__ import annotations

from kdoctor.engine.applying import at_risk, write
from kdoctor.engine.fingerprints import fingerprints
from kdoctor.engine.fixing import fix
from kdoctor.engine.journal import Undone, undo
from kdoctor.engine.options import Options
from kdoctor.engine.policy import Policy
from kdoctor.engine.result import Anchor, FixedFile, FixResult, LeftAlone, ScanResult, SkippedPart
from kdoctor.engine.scanning import scan

__all__ = [
    "Anchor",
    "FixResult",
    "FixedFile",
    "LeftAlone",
    "Options",
    "Policy",
    "ScanResult",
    "SkippedPart",
    "Undone",
    "at_risk",
    "fingerprints",
    "fix",
    "scan",
    "undo",
    "write",
]
