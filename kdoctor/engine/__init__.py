"""Scan and fix trees of files. Knows nothing of terminals."""

from __future__ import annotations

from kdoctor.engine.fixing import fix, write
from kdoctor.engine.options import Options
from kdoctor.engine.result import FixedFile, FixResult, LeftAlone, ScanResult, SkippedPart
from kdoctor.engine.scanning import scan

__all__ = [
    "FixResult",
    "FixedFile",
    "LeftAlone",
    "Options",
    "ScanResult",
    "SkippedPart",
    "fix",
    "scan",
    "write",
]
