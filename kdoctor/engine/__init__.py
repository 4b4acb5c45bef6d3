"""Scan and fix trees of files. Knows nothing of terminals."""

from __future__ import annotations

from kdoctor.engine.fingerprints import fingerprints
from kdoctor.engine.fixing import fix, write
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
    "fingerprints",
    "fix",
    "scan",
    "write",
]
