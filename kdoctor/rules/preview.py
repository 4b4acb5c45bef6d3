"""The rules in preview: asked with ``--preview`` or ``preview = true`` only, they may still change.

A table of its own, so that a scan which finds nothing to ask need not read what the rules are.
"""

from __future__ import annotations

PREVIEW: set[str] = set()  # codes
