"""Whether this process is kdoctor's own: no other code's that imports kdoctor."""

from __future__ import annotations

_claimed: list[bool] = []


def claim() -> None:
    """Say that no code but kdoctor's runs in this process: programs call it as they start."""
    _claimed.append(True)


def is_claimed() -> bool:
    """Say whether no code but kdoctor's runs in this process."""
    return bool(_claimed)
