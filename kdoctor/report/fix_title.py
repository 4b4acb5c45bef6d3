"""The title of a fix, as every format shows it."""

from __future__ import annotations

from kdoctor.model import Applicability, Fix


def titled(fix: Fix) -> str:
    """Return what the fix does and, if it is unsafe, what may go wrong."""
    if fix.applicability is Applicability.SAFE or not fix.unsafe_because:
        return fix.title
    return f"{fix.title}; unsafe because {fix.unsafe_because}"
