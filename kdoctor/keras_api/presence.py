"""Presence: whether a name exists on a target: yes, no or unknown."""

from __future__ import annotations

import enum


class Presence(enum.StrEnum):
    """Whether a name exists on a target. In doubt the answer is UNKNOWN, never MISSING."""

    EXISTS = "exists"
    MISSING = "missing"
    UNKNOWN = "unknown"  # private, or the root, release or owner is not in the data
