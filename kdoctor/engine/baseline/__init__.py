"""Baselines: accept known findings; report new and fixed ones."""

from kdoctor.engine.baseline.comparing import Comparison, compare, is_acceptable
from kdoctor.engine.baseline.entry import BaselineEntry
from kdoctor.engine.baseline.file import (
    FILE_NAME,
    Baseline,
    check_writable,
    configured_baseline,
    default_file,
)

__all__ = [
    "FILE_NAME",
    "Baseline",
    "BaselineEntry",
    "Comparison",
    "check_writable",
    "compare",
    "configured_baseline",
    "default_file",
    "is_acceptable",
]
