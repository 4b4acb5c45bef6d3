"""What of this room may be used in this process."""

from __future__ import annotations

import os
from typing import Final

from kdoctor import own_process

PLAIN: Final = "KDOCTOR_PLAIN_LIBCST"  # any value: libcst as it is, and nothing of this room


def is_plain() -> bool:
    """Say whether libcst is to parse by itself, whatever process this is."""
    return bool(os.environ.get(PLAIN))


def may_change_libcst() -> bool:
    """Say whether libcst's classes may be changed here: no other code sees them."""
    return own_process.is_claimed() and not is_plain()
