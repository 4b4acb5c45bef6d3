"""What a definition that looks like one of the reference does otherwise than that."""

from __future__ import annotations

from typing import Any


def of(job: dict[str, Any], record: dict[str, Any], side: Any) -> list[str]:
    """Return sentences about real deviations."""
    del job, record, side
    return []
