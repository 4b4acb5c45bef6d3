"""A value of an argument that the target refuses."""

from __future__ import annotations

import libcst as cst
from msgspec import Struct

from kdoctor.model import Edit, ImportNeed


class Refused(Struct, frozen=True):
    """A value that is refused: what Python says, and what to write.

    ``proofs`` are words, one of which is in each example that proves the fix.
    """

    node: cst.CSTNode
    error: str
    help: str
    edits: tuple[Edit, ...] = ()
    title: str = ""
    unsafe_because: str = ""
    no_fix_because: str = ""
    proofs: tuple[str, ...] = ()
    imports: tuple[ImportNeed, ...] = ()
