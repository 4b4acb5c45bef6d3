"""How processes ended, in words."""

from __future__ import annotations

import signal


def how_it_ended(code: int) -> str:
    """Say how a process ended: below zero is a signal, as `subprocess` has it."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal has no name
        return f"was killed by signal {-code}"
