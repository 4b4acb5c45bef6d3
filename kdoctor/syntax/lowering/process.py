"""Whether this process is kdoctor's own, so that libcst's classes may be changed in it."""

from __future__ import annotations

import os
from typing import Final

PLAIN: Final = "KDOCTOR_PLAIN_LIBCST"  # any value: libcst as it is, and nothing of this room

_own: list[bool] = []


def claim() -> None:
    """Say that no code but kdoctor's runs in this process: programs call it as they start."""
    _own.append(True)


def is_plain() -> bool:
    """Say whether libcst is to parse by itself, whatever process this is."""
    return bool(os.environ.get(PLAIN))


def may_change_libcst() -> bool:
    """Say whether libcst's classes may be changed here: no other code sees them."""
    return bool(_own) and not is_plain()
