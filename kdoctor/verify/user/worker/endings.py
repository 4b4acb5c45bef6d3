"""Describe how a process ended."""

from __future__ import annotations

import signal


def how_it_ended(code: int) -> str:
    """Describe an exit code; as in `subprocess`, a negative one is a signal."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal has no name
        return f"was killed by signal {-code}"
