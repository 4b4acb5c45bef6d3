"""Progress of a migration: what is left, what breaks first, what couples code to TensorFlow.

Built on scans; knows nothing of pages or terminals.
"""

from __future__ import annotations

from kdoctor.progress.commit_history import History, burndown, history
from kdoctor.progress.model import (
    Burndown,
    Commit,
    Counts,
    Coupling,
    CouplingKind,
    CouplingUse,
    Effort,
    FileState,
    Group,
    Overview,
    Portability,
    Sample,
    Status,
    Stop,
)
from kdoctor.progress.overview import overview

__all__ = [
    "Burndown",
    "Commit",
    "Counts",
    "Coupling",
    "CouplingKind",
    "CouplingUse",
    "Effort",
    "FileState",
    "Group",
    "History",
    "Overview",
    "Portability",
    "Sample",
    "Status",
    "Stop",
    "burndown",
    "history",
    "overview",
]
