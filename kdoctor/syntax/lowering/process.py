"""Which optimizations are allowed in this process."""

from __future__ import annotations

import os
from typing import Final

from kdoctor import own_process

PLAIN: Final = "KDOCTOR_PLAIN_LIBCST"  # any value: libcst as it is, and nothing of this room


def is_plain() -> bool:
    """Say whether libcst must parse everything (``KDOCTOR_PLAIN_LIBCST``)."""
    return bool(os.environ.get(PLAIN))


def may_change_libcst() -> bool:
    """Say whether libcst's classes may be patched: no other code uses them."""
    return own_process.is_claimed() and not is_plain()
